/*
 * Runs that were interleaved: of one session and one block.
 */
#ifndef ROUNDS_H
#define ROUNDS_H

#include <stdbool.h>
#include <stddef.h>

#include "sample.h"

/*
 * Leaves the values of the same round on both sides, where there are enough
 * and they are most of what there is; *dropped are those left out. Otherwise
 * the samples stay as they are, and it is false.
 */
bool rounds_pair(struct sample s[2], size_t *dropped);

#endif
