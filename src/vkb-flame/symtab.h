/* Symbols by address, chosen as perf does. */
#ifndef SYMTAB_H
#define SYMTAB_H

#include <stddef.h>
#include <stdint.h>

struct symtab;

struct symtab *symtab_new(void);
void symtab_free(struct symtab *);

/* A size of 0 extends to the next symbol. 'bind' is STB_LOCAL, STB_WEAK or
 * STB_GLOBAL of elf.h. Copies the name. */
void symtab_add(struct symtab *, uint64_t at, uint64_t size, unsigned bind,
    const char *name, size_t n);

/* No symbols may be added after this. */
void symtab_sort(struct symtab *);

/* Returns the name of the symbol at an address (borrowed), or NULL. */
const char *symtab_find(const struct symtab *, uint64_t at);

/* Returns the address of a name, or 0 if unknown. */
uint64_t symtab_find_address(const struct symtab *, const char *name);

#endif
