#include "gzip.h"
#include "err.h"
#include "mem.h"
#include "str.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#define WINDOW (15 + 16) /* the largest, in the gzip format */
#define LEVEL 6

struct gzip {
	z_stream z;
	bool writes, ended;
};

struct gzip *
gzip_writer(void)
{
	struct gzip *g = mem_new(sizeof *g);

	g->writes = true;
	if (deflateInit2(&g->z, LEVEL, Z_DEFLATED, WINDOW, 8,
		Z_DEFAULT_STRATEGY) != Z_OK)
		err_die("out of memory");
	return g;
}

void
gzip_put(
    struct gzip *g, const void *p, size_t n, enum gzip_how how, struct str *out)
{
	static const int flushes[] = {Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH};
	unsigned char piece[16384];
	z_stream *z = &g->z;
	size_t part;

	z->next_in = (unsigned char *)(uintptr_t)p;
	do {
		part = n < UINT_MAX ? n : UINT_MAX;
		n -= part;
		z->avail_in = (uInt)part;
		do {
			z->next_out = piece;
			z->avail_out = sizeof piece;
			if (deflate(z, n ? Z_NO_FLUSH : flushes[how]) ==
			    Z_STREAM_ERROR)
				err_die("deflate: %s", z->msg ? z->msg : "?");
			str_addn(out, piece, sizeof piece - z->avail_out);
		} while (!z->avail_out);
	} while (n);
}

struct gzip *
gzip_reader(void)
{
	struct gzip *g = mem_new(sizeof *g);

	if (inflateInit2(&g->z, WINDOW) != Z_OK)
		err_die("out of memory");
	return g;
}

long
gzip_get(
    struct gzip *g, const char **in, size_t *n, char *to, size_t room, int *end)
{
	z_stream *z = &g->z;
	uInt given = *n < UINT_MAX ? (uInt)*n : UINT_MAX;
	uInt wanted = room < INT_MAX ? (uInt)room : INT_MAX;
	int rc = Z_STREAM_END;

	z->next_in = (unsigned char *)(uintptr_t)*in;
	z->avail_in = given;
	z->next_out = (unsigned char *)to;
	z->avail_out = wanted;
	if (!g->ended)
		rc = inflate(z, Z_NO_FLUSH);
	*in += given - z->avail_in;
	*n -= given - z->avail_in;
	g->ended = rc == Z_STREAM_END;
	*end = g->ended && z->avail_out == wanted;
	if (rc == Z_MEM_ERROR)
		err_die("out of memory");
	if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
		return -1;
	return (long)(wanted - z->avail_out);
}

void
gzip_free(struct gzip *g)
{
	if (g && g->writes)
		deflateEnd(&g->z);
	else if (g)
		inflateEnd(&g->z);
	free(g);
}
