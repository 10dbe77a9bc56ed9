/* Reads lines of any length from a file. */
#ifndef LINES_H
#define LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct lines {
	FILE *f;
	const char *name;
	char *line; /* the last one, of n bytes */
	size_t n, cap;
	unsigned long long number;
	bool torn;  /* it has no newline */
	bool again; /* lines_next is to return it once more */
};

/* Takes the file, which lines_close closes unless it is stdin; borrows 'name'.
 */
struct lines *lines_open(FILE *, const char *name);
void lines_close(struct lines *);

/*
 * Returns 1 with the next line, without its newline and with a NUL behind it,
 * borrowed until the next call; 0 at the end; -1 after reporting a read error.
 */
int lines_next(struct lines *, const char **line, size_t *n);

#endif
