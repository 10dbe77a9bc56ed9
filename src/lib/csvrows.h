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

/* Reads the next line with its line break, borrowed until the next call.
 * Returns 1, 0 at the end, or -1 and an error is reported. */
typedef int csvrows_line(void *from, const char **line, size_t *n);

struct csvrows *csvrows_new(char delimiter, csvrows_line *, void *from);
void csvrows_free(struct csvrows *);
void csvrows_keep_blanks(struct csvrows *); /* they become part of the field */

/*
 * Returns 1 with a row of *n fields (strings, borrowed until the next call), 0
 * at the end, or -1: *why says what is wrong with the row, or is NULL if
 * csvrows_line reported an error. The caller may go on reading after -1.
 */
int csvrows_next(
    struct csvrows *, const char *const **fields, size_t *n, const char **why);

/* Returns the bytes of field i of that row, which may hold NUL. */
size_t csvrows_length(const struct csvrows *, size_t i);

#endif
