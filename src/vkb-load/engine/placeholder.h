/* Where placeholders are in the text of a command. Private to compile.c. */
#ifndef PLACEHOLDER_H
#define PLACEHOLDER_H

#include <stddef.h>

#define PLACEHOLDER_FIELD "__field:"
#define PLACEHOLDER_INT "__int:"

/* Returns the length of "__name__" at p, or 0. */
size_t placeholder_len(const char *p, const char *end);

/*
 * Returns the length of a misspelled placeholder at p, or 0: __fild:NAME__,
 * __field:NAME, __rand_int_.
 */
size_t placeholder_misspelled_len(const char *p, const char *end);

#endif
