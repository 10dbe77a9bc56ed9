/*
 * Rounds: runs of one session and one block, in which the sides are
 * interleaved.
 */
#ifndef ROUNDS_H
#define ROUNDS_H

#include <stdbool.h>
#include <stddef.h>

#include "sample.h"
#include "serial.h"

/*
 * Reduces both samples to the values of common rounds, in the same order, and
 * sets *dropped to the number of values left out. Returns false, and changes
 * nothing, if these rounds are too few for a test at 'level', or less than half
 * of the smaller sample.
 */
bool rounds_pair(struct sample s[2], double level, size_t *dropped);

/* Measures the autocorrelation of each side, with its runs sorted by session
 * and block. serial_none unless these are known of all runs. */
struct serial rounds_alike(const struct sample s[2]);

#endif
