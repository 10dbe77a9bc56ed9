/* Reads lines of any length from a file. */
#ifndef LINES_H
#define LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct lines;

/* Takes the file, which lines_close closes unless it is stdin; borrows 'name'.
 */
struct lines *lines_open(FILE *, const char *name);
void lines_close(struct lines *);

/*
 * Returns 1 with the next line, without its newline and with a NUL behind it,
 * borrowed until the next call; 0 at the end; -1 after reporting a read error.
 */
int lines_next(struct lines *, const char **line, size_t *n);
void lines_unread(struct lines *);     /* returns that line again */
bool lines_torn(const struct lines *); /* that line has no newline */

const char *lines_name(const struct lines *);
unsigned long long lines_number(const struct lines *); /* of the last line */

#endif
