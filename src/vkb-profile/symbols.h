/*
 * The functions of a program (ELF, 64 bit, of this machine's byte order) whose
 * names match a pattern, and where their code is in the file.
 */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct symbol {
	char *name;
	uint64_t offset; /* in the file */
};

struct symbols {
	struct symbol *v; /* by offset; one for each */
	size_t n, cap;
	size_t seen; /* functions that were looked at */
};

/*
 * Adds those that match one of the patterns, as of a shell; what the compiler
 * put behind a name (".part.0") is no part of it. 0, or -1: it is no such file.
 */
int symbols_match(struct symbols *, const unsigned char *elf, size_t size,
    const char *const *patterns, size_t npatterns);

/* The same of a file; -1 is said. */
int symbols_read(struct symbols *, const char *path,
    const char *const *patterns, size_t npatterns);

void symbols_free(struct symbols *);

#endif
