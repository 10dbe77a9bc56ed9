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

/*
 * What keys hold where a load is verified: bytes, and where sizes differ also
 * how many, that depend only on the name. So any program that knows the
 * name and the sizes knows the value, in this run and in later ones.
 */

/* Returns a number for a key, or for a field of the hash at a key; the field is
 * NULL for a key. */
uint64_t values_id(
    const char *key, size_t nkey, const char *field, size_t nfield);

/* Returns the size of the value, one of those. */
size_t values_size(const struct values *, uint64_t id);

/* Writes the first n bytes of the value. Returns their end. */
char *values_fill(uint64_t id, char *to, size_t n);

/*
 * Compares n bytes with those of the value from offset 'at' on, whatever its
 * size is. Returns how many are equal before the first that differs.
 */
size_t values_compare(uint64_t id, uint64_t at, const char *p, size_t n);
unsigned char values_byte(uint64_t id, uint64_t at);

#endif
