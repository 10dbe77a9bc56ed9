/* The inputs of this program, files or "-", stdin; of which some can be read
 * only once. */
#ifndef INPUTS_H
#define INPUTS_H

#include <stdio.h>

struct str;

/* Returns the name in messages: that of the file, or "stdin". */
const char *inputs_name(const char *file);

/*
 * Returns NULL after reporting that it cannot be opened, or that it was opened
 * before and cannot be read again: a pipe, a socket, or stdin.
 */
FILE *inputs_open(const char *file);
void inputs_close(FILE *); /* unless it is stdin, or NULL */

/* Appends the whole input; s->s is never NULL. Returns 0, or -1 after reporting
 * the error. */
int inputs_read(const char *file, struct str *);

#endif
