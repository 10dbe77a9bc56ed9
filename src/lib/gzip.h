/* Gzip streams, written and read piece by piece (zlib). */
#ifndef GZIP_H
#define GZIP_H

#include <stddef.h>

struct gzip;
struct str;

/* Compresses. gzip_put appends what is ready to 'out'. */
struct gzip *gzip_writer(void);
enum gzip_how { GZIP_MORE, GZIP_FLUSH, GZIP_END };
void gzip_put(
    struct gzip *, const void *, size_t n, enum gzip_how, struct str *out);

/*
 * Decompresses from *in, *n bytes, which are advanced by what was used, to
 * 'to'. Returns the bytes written, at most 'room'; 0 with *end set at the end
 * of the stream, 0 without it if more input is needed; -1 if it is not a gzip
 * stream.
 */
struct gzip *gzip_reader(void);
long gzip_get(
    struct gzip *, const char **in, size_t *n, char *to, size_t room, int *end);

void gzip_free(struct gzip *); /* NULL does nothing */

#endif
