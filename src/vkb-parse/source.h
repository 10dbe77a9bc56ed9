/*
 * A file, or stdin, that is looked at before it is read: line by line or
 * whole, from its beginning. Errors name FILE:LINE.
 */
#ifndef SOURCE_H
#define SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"

struct json;
struct source;

/* "-" is stdin. NULL, and said. */
struct source *source_open(const char *file);
void source_close(struct source *);

const char *source_name(const struct source *);

/*
 * What it begins with, at least 'want' bytes where there are so many; SIZE_MAX
 * is all of it. NULL, and said: it could not be read. Borrowed until the next
 * call of any.
 */
const char *source_head(struct source *, size_t want, size_t *n);

/*
 * The next line, without its line break: 1, 0 at the end. -1, and said: it is
 * not UTF-8 or holds a NUL (the next may be good), or reading failed (then the
 * end follows). Borrowed until the next call.
 */
int source_line(struct source *, char **line);

/* The last line had no line break. */
bool source_torn(const struct source *);

/* Says so; -1. */
int source_torn_fail(const struct source *);

/* source_line with the line break, for csvrows.h; 'source' is a struct source.
 */
int source_raw_line(void *source, const char **line, size_t *n);

/*
 * All that is left as one JSON value; NULL, and said. NaN and Infinity, which
 * are not JSON but are written by some tools, are read as null.
 */
struct json *source_json(struct source *);

/* "FILE:LINE: ..."; -1. */
int source_fail(const struct source *, const char *fmt, ...) ERR_PRINTF(2, 3);

/* "FILE:LINE" of the last line; borrowed until the next call. */
const char *source_where(struct source *);

#endif
