/* Finds inlined functions by the debug information of a program. */
#ifndef INLINED_H
#define INLINED_H

#include <stdbool.h>

struct inlined;
struct text;

struct inlined *inlined_new(void);
void inlined_free(struct inlined *);

/*
 * Finds the functions at 'pc', an address in the file 'module', as
 * "outer->inner" (borrowed until the next call). false: none are known.
 */
bool inlined_find(
    struct inlined *, struct text pc, struct text module, struct text *found);

#endif
