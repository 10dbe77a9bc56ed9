/*
 * Runs that were interleaved: of one session and one block.
 */
#ifndef ROUNDS_H
#define ROUNDS_H

#include <stdbool.h>
#include <stddef.h>

#include "sample.h"
#include "serial.h"

/*
 * Leaves the values of the same round on both sides, where there are so many
 * that their test can show something at 'level', and they are most of what
 * there is; *dropped are those left out. Otherwise the samples stay as they
 * are, and it is false.
 */
bool rounds_pair(struct sample s[2], double level, size_t *dropped);

/* Are the runs of a side like their neighbours? Only where all are known by
 * session and block: by these they are put in the order of time. */
struct serial rounds_alike(const struct sample s[2]);

#endif
