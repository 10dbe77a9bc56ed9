/*
 * A file without a name for what does not fit into memory: it grows at its end
 * and is gone with the program. It is made when the first bytes come.
 */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <stddef.h>
#include <sys/types.h>

struct scratch;

struct scratch *scratch_new(const char *dir); /* borrowed */
void scratch_free(struct scratch *);

/* Where the bytes begin, or -1 and said. */
off_t scratch_add(struct scratch *, const void *, size_t n);

/* 0, or -1 and said. */
int scratch_read(struct scratch *, off_t at, void *, size_t n);

#endif
