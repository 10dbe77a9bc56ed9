/*
 * The bytes of __data__: sizes by a distribution, and contents that are
 * constant or windows into random bytes, which all sources have in common.
 *
 * A value of random bytes is cut into pieces of at most 64 KiB, more than zlib
 * looks back, each from another place of 1 MiB. Compressible ones have pieces
 * of 4 KiB, of which the first part is random and the rest one repeated
 * character; how much is random makes up for what deflate adds.
 */
#ifndef VALUES_H
#define VALUES_H

#include "rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine_work;
struct values;

/* Uses 'values' of the work, or its 'data_size'. Free with values_free. */
struct values *values_new(const struct engine_work *);
void values_free(struct values *);

size_t values_mean(const struct values *);
size_t values_longest(const struct values *);
bool values_vary(const struct values *);     /* in size */
bool values_constant(const struct values *); /* all have the same bytes */

/* Draws the size of a value. */
size_t values_draw_size(const struct values *, struct rng *);

/*
 * Sets n sizes, in random order, spread over the distribution as evenly as n
 * sizes can be. Returns false if one of the list would be too rare for that.
 */
bool values_spread(const struct values *, struct rng *, uint32_t *to, size_t n);

/*
 * Writes a value of n bytes; what is random is drawn. Returns its end.
 */
char *values_write(const struct values *, char *to, size_t n, struct rng *);

#endif
