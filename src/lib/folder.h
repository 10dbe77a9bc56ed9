/* Folders as a whole. */
#ifndef FOLDER_H
#define FOLDER_H

#include <stddef.h>

struct str;

/* With those above it, where they are missing. 0, or -1 and said. */
int folder_make(const char *path);

/* With all that is in it; a missing one is fine. 0, or -1 with errno. */
int folder_remove(const char *path);

/*
 * Appends a name as one part of a path that is neither hidden nor "..":
 * slashes, backslashes, blanks, control characters and a leading dot become _.
 */
void folder_add_part(struct str *, const char *name);

/* The bytes its files take on the disk. */
unsigned long long folder_bytes(const char *path);

#endif
