#include "sha1.h"
#include "err.h"
#include "mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER (1 << 20)

void
sha1_init(struct sha1 *s)
{
	*s = (struct sha1){
	    {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}, 0,
	    {0}};
}

static uint32_t
rol(uint32_t x, int n)
{
	return x << n | x >> (32 - n);
}

static void
block(struct sha1 *s, const unsigned char *p)
{
	uint32_t w[80], a = s->h[0], b = s->h[1], c = s->h[2], d = s->h[3];
	uint32_t e = s->h[4];

	for (int i = 0; i < 16; i++, p += 4)
		w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
		    (uint32_t)p[2] << 8 | p[3];
	for (int i = 16; i < 80; i++)
		w[i] = rol(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	for (int i = 0; i < 80; i++) {
		uint32_t f = i < 20 ? (b & c) | (~b & d)
		    : i < 40        ? b ^ c ^ d
		    : i < 60        ? (b & c) | (b & d) | (c & d)
				    : b ^ c ^ d;
		uint32_t k = i < 20 ? 0x5a827999
		    : i < 40        ? 0x6ed9eba1
		    : i < 60        ? 0x8f1bbcdc
				    : 0xca62c1d6;
		uint32_t t = rol(a, 5) + f + e + k + w[i];

		e = d;
		d = c;
		c = rol(b, 30);
		b = a;
		a = t;
	}
	s->h[0] += a;
	s->h[1] += b;
	s->h[2] += c;
	s->h[3] += d;
	s->h[4] += e;
}

void
sha1_add(struct sha1 *s, const void *data, size_t n)
{
	const unsigned char *p = data;
	size_t have = s->bytes % sizeof s->block, k;

	s->bytes += n;
	while (n) {
		if (!have && n >= sizeof s->block) {
			block(s, p);
			k = sizeof s->block;
		} else {
			k = sizeof s->block - have;
			k = k < n ? k : n;
			memcpy(s->block + have, p, k);
			have = (have + k) % sizeof s->block;
			if (!have)
				block(s, s->block);
		}
		p += k;
		n -= k;
	}
}

void
sha1_end(struct sha1 *s, char hex[SHA1_HEX])
{
	uint64_t bits = s->bytes * 8;
	unsigned char end[8];

	sha1_add(s, "\x80", 1);
	while (s->bytes % sizeof s->block != 56)
		sha1_add(s, "", 1);
	for (int i = 0; i < 8; i++)
		end[i] = (unsigned char)(bits >> (56 - 8 * i));
	sha1_add(s, end, sizeof end);
	for (int i = 0; i < 5; i++)
		snprintf(hex + 8 * i, 9, "%08x", (unsigned)s->h[i]);
}

int
sha1_file(const char *path, char hex[SHA1_HEX])
{
	FILE *f = fopen(path, "re");
	struct sha1 s;
	char *buf;
	size_t n;
	int rc = 0;

	if (!f)
		return err_fail_sys("cannot read '%s'", path);
	buf = mem_resize(NULL, BUFFER, 1);
	sha1_init(&s);
	while ((n = fread(buf, 1, BUFFER, f)) > 0)
		sha1_add(&s, buf, n);
	if (ferror(f))
		rc = err_fail_sys("cannot read '%s'", path);
	sha1_end(&s, hex);
	free(buf);
	fclose(f);
	return rc;
}
