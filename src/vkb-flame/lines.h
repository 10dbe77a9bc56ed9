/* Lines of a file that may be as long as they like, read in large pieces. */
#ifndef LINES_H
#define LINES_H

#include <stdbool.h>
#include <stddef.h>

struct lines;

/* fd is taken; 'name' is borrowed. */
struct lines *lines_fd(int fd, const char *name);
void lines_close(struct lines *);

/*
 * 1: the next line, without its newline, borrowed until the next call. 0: the
 * end. -1: it cannot be read, which was said.
 */
int lines_next(struct lines *, const char **line, size_t *n);
void lines_again(struct lines *);      /* that line once more */
bool lines_torn(const struct lines *); /* that line had no newline */

/* The first bytes, before any line was read: up to n of them. -1 and said. */
long lines_peek(struct lines *, const char **s, size_t n);

const char *lines_name(const struct lines *);
unsigned long long lines_number(const struct lines *); /* of the last line */

#endif
