/*
 * Random vectors of length 1. Their components are normal before they are
 * scaled, so that all directions are equally likely.
 */
#ifndef VECTORS_H
#define VECTORS_H

#include <stddef.h>
#include <stdint.h>

/* Sets to[0..dims-1] to the vector of the row (from 1), field and file salt. */
void vectors_make_row(
    uint64_t salt, uint64_t row, size_t field, size_t dims, float *to);

#endif
