#include "checksum.h"
#include "err.h"
#include "mem.h"
#include "sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define K UINT64_C(0x9e3779b97f4a7c15)
#define BUFFER (1 << 20)
#define LANES (CHECKSUM_BLOCK / 8)

void
checksum_init(struct checksum *c, int fd, const char *name)
{
	*c = (struct checksum){fd, name, {1, 2, 3, 4}, 0, {0}};
}

static uint64_t
mix_word(uint64_t lane, uint64_t x)
{
	lane = (lane ^ x) * K;
	return lane ^ lane >> 29;
}

static void
add_blocks(struct checksum *c, const unsigned char *p, size_t n)
{
	for (; n; n--, p += CHECKSUM_BLOCK) {
		uint64_t x[LANES];

		memcpy(x, p, sizeof x);
		for (int i = 0; i < LANES; i++)
			c->lane[i] = mix_word(c->lane[i], x[i]);
	}
}

static void
add_bytes(struct checksum *c, const void *data, size_t n)
{
	const unsigned char *p = data;
	size_t have = c->bytes % CHECKSUM_BLOCK, more;

	if (!n)
		return;
	c->bytes += n;
	if (have) {
		more = CHECKSUM_BLOCK - have;
		more = more < n ? more : n;
		memcpy(c->rest + have, p, more);
		p += more;
		n -= more;
		if (have + more < CHECKSUM_BLOCK)
			return;
		add_blocks(c, c->rest, 1);
	}
	add_blocks(c, p, n / CHECKSUM_BLOCK);
	p += n - n % CHECKSUM_BLOCK;
	if (n % CHECKSUM_BLOCK)
		memcpy(c->rest, p, n % CHECKSUM_BLOCK);
}

uint64_t
checksum_end(struct checksum *c)
{
	uint64_t h = c->bytes;
	size_t have = c->bytes % CHECKSUM_BLOCK;

	memset(c->rest + have, 0, CHECKSUM_BLOCK - have);
	add_blocks(c, c->rest, 1);
	for (int i = 0; i < LANES; i++)
		h = mix_word(h, c->lane[i]);
	return h;
}

int
checksum_write(struct checksum *c, const struct str *s)
{
	if (sink_write(c->fd, s->s, s->len) < 0)
		return err_fail_sys("cannot write '%s'", c->name);
	add_bytes(c, s->s, s->len);
	return 0;
}

int
checksum_file(const char *path, uint64_t most, uint64_t *sum)
{
	FILE *f = fopen(path, "re");
	struct checksum c;
	char *buf = mem_resize(NULL, BUFFER, 1);
	size_t n = 1;
	int rc = 0;

	checksum_init(&c, -1, NULL);
	while (f && n && c.bytes < most) {
		n = most - c.bytes;
		n = fread(buf, 1, n < BUFFER ? n : BUFFER, f);
		add_bytes(&c, buf, n);
	}
	if (!f || ferror(f))
		rc = err_fail_sys("cannot read '%s'", path);
	if (f)
		fclose(f);
	free(buf);
	*sum = checksum_end(&c);
	return rc;
}
