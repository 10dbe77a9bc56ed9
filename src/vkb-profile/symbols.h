/* Finds the functions of a program whose names match a pattern, and their
 * offsets in the file. */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct symbol {
	char *name;
	uint64_t offset; /* in the file */
};

struct symbols {
	struct symbol *v; /* sorted by offset, without duplicates */
	size_t n, cap;
	size_t seen; /* functions in the file, matching or not */
};

/* Adds the functions of the file at 'path' that match a shell pattern; suffixes
 * of the compiler (".part.0") are ignored. Returns 0, or -1 after reporting an
 * error. */
int symbols_read(struct symbols *, const char *path,
    const char *const *patterns, size_t npatterns);

void symbols_free(struct symbols *);

#endif
