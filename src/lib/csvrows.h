/*
 * Rows of comma-separated values (RFC 4180), line by line: a field in double
 * quotes may hold delimiters, line breaks, and quotes written twice. Blanks
 * around a field without quotes are dropped and empty lines passed over; the
 * last row needs no line break. One row is held at a time.
 */
#ifndef CSVROWS_H
#define CSVROWS_H

#include <stddef.h>

struct csvrows;

/* The next line with its break, as getline(3): 1, 0 the end, -1 and said. The
 * line is borrowed until the next call. */
typedef int csvrows_line(void *from, const char **line, size_t *n);

struct csvrows *csvrows_new(char delimiter, csvrows_line *, void *from);
void csvrows_free(struct csvrows *);
void csvrows_keep_blanks(struct csvrows *); /* they are part of the field */

/*
 * 1: a row of *n fields, strings that are borrowed until the next call. 0: the
 * end. -1: a line was bad and said so, or is badly quoted: *why, else NULL.
 * Reading may go on with what follows.
 */
int csvrows_next(
    struct csvrows *, const char *const **fields, size_t *n, const char **why);

/* Of field i of that row, which may hold NUL. */
size_t csvrows_length(const struct csvrows *, size_t i);

#endif
