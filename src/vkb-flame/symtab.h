/* Symbols by address, as perf chooses among them. */
#ifndef SYMTAB_H
#define SYMTAB_H

#include <stddef.h>
#include <stdint.h>

struct symtab;

enum symtab_bind { SYMTAB_LOCAL, SYMTAB_WEAK, SYMTAB_GLOBAL };

struct symtab *symtab_new(void);
void symtab_free(struct symtab *);

/* A size of 0: up to the next one. The name is copied. */
void symtab_add(struct symtab *, uint64_t at, uint64_t size,
    enum symtab_bind bind, const char *name, size_t n);

/* No more of them after this. */
void symtab_sort(struct symtab *);

/* The name of what is at the address, borrowed; NULL: nothing is. */
const char *symtab_find(const struct symtab *, uint64_t at);

/* The address of a name; 0: there is none. */
uint64_t symtab_address(const struct symtab *, const char *name);

#endif
