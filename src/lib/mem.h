/*
 * Memory allocation that never returns NULL: out of memory is reported and ends
 * the program with 2. The caller frees every result with free().
 */
#ifndef MEM_H
#define MEM_H

#include <stddef.h>

#include "err.h"

void *mem_new(size_t size);                       /* zeroed */
void *mem_array(size_t n, size_t size);           /* zeroed; overflow dies */
void *mem_resize(void *p, size_t n, size_t size); /* not zeroed */

/*
 * Makes room for one more element: when n == *cap, doubles *cap and may move
 * the array. p = mem_grow(p, n, &cap, sizeof *p);
 */
void *mem_grow(void *p, size_t n, size_t *cap, size_t size);

/* Adds an element to the array 'v' of 'n': the pointer to it is the value. What
 * it is set to must use neither 'v' nor 'n'. *MEM_ADD(v, n, cap) = x; */
#define MEM_ADD(v, n, cap) \
	((v) = mem_grow(v, n, &(cap), sizeof *(v)), &(v)[(n)++])

/* qsort, which must not be given the NULL of an array without elements. */
void mem_sort(
    void *p, size_t n, size_t size, int (*compare)(const void *, const void *));

char *mem_str(const char *s);            /* NULL gives NULL */
char *mem_strn(const char *s, size_t n); /* n bytes as they are, then a NUL */
char *mem_printf(const char *fmt, ...) ERR_PRINTF(1, 2);

void mem_free_list(char **); /* and its texts; NULL ends it */

#endif
