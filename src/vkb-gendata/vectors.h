/*
 * Random directions: vectors of length 1 whose components are normal before
 * they are scaled, so that every direction is as likely as any other.
 */
#ifndef VECTORS_H
#define VECTORS_H

#include <stddef.h>
#include <stdint.h>

struct vectors; /* tables; read only, so that threads share them */

struct vectors *vectors_new(void);
void vectors_free(struct vectors *);

/* The vector of that row (from 1) and field in the file of that salt. */
void vectors_row(const struct vectors *, uint64_t salt, uint64_t row,
    size_t field, size_t dims, float *to);

#endif
