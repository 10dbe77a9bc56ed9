/* A command line in words, as a POSIX shell has them, nothing expanded. */
#ifndef WORDS_H
#define WORDS_H

#include <stddef.h>

/*
 * Words apart by blanks; quotes '...' and "..." and backslashes as in the
 * shell. NULL, and *why (static): a quote is open or a backslash is last. Else
 * words_free; the list ends with NULL.
 */
char **words_split(const char *text, size_t *n, const char **why);
void words_free(char **);

#endif
