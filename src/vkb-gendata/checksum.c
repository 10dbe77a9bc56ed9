#include "checksum.h"
#include "err.h"
#include "mem.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define K UINT64_C(0x9e3779b97f4a7c15)
#define BUFFER (1 << 20)
#define LANES (CHECKSUM_BLOCK / 8)

void
checksum_init(struct checksum *c)
{
	*c = (struct checksum){{1, 2, 3, 4}, 0, {0}};
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

void
checksum_add(struct checksum *c, const void *data, size_t n)
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
checksum_write(
    struct checksum *c, int fd, const struct str *s, const char *name)
{
	size_t done = 0;

	while (done < s->len) {
		ssize_t k = write(fd, s->s + done, s->len - done);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return err_fail_sys("cannot write '%s'", name);
		done += (size_t)k;
	}
	checksum_add(c, s->s, s->len);
	return 0;
}

int
checksum_file(const char *path, uint64_t *sum, uint64_t *bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), why;
	struct checksum c;
	char *buf;
	ssize_t n;

	if (fd < 0)
		return -1;
	buf = mem_resize(NULL, BUFFER, 1);
	checksum_init(&c);
	while ((n = read(fd, buf, BUFFER)) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			checksum_add(&c, buf, (size_t)n);
	why = errno;
	free(buf);
	close(fd);
	errno = why;
	*bytes = c.bytes;
	*sum = checksum_end(&c);
	return n < 0 ? -1 : 0;
}
