/*
 * Notices that the bytes of a file are changed in place or cut off while
 * records are appended to it, as a program under test could do that runs as the
 * same user.
 */
#ifndef INTACT_H
#define INTACT_H

#include <stddef.h>

struct intact;

/*
 * Remembers the digests of what the file of 'fd' has. 'name' is for messages,
 * borrowed. Returns NULL if it is not a regular file, or cannot be read.
 */
struct intact *intact_open(int fd, const char *name);

/*
 * Checks the file if it has changed since the last intact_add by its time of
 * change, a clock of some milliseconds a step. Returns 0, or -1 after reporting
 * what was changed. NULL is intact.
 */
int intact_check(struct intact *);

/* Remembers n bytes that were just written to 'fd', whose offset is their end.
 */
void intact_add(struct intact *, const void *, size_t n);

/* Reads and checks the whole file. Returns as intact_check. Takes it. */
int intact_close(struct intact *);

#endif
