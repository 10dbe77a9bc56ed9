/*
 * An unnamed temporary file for data that does not fit into memory. Data is
 * appended; the file vanishes when the program ends. It is created by the first
 * scratch_add.
 */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <stddef.h>
#include <sys/types.h>

struct scratch;

struct scratch *scratch_new(const char *dir); /* borrowed */
void scratch_free(struct scratch *);

/* Appends n bytes. Returns their offset, or -1 after reporting the error. */
off_t scratch_add(struct scratch *, const void *, size_t n);

/* Reads n bytes that one call of scratch_add added. Returns 0, or -1 after
 * reporting the error. */
int scratch_read(struct scratch *, off_t at, void *, size_t n);

#endif
