/*
 * What keys hold where a load is verified: bytes, and where sizes differ also
 * how many, that depend only on the name. So any program that knows the
 * name and the sizes knows the value, in this run and in later ones.
 */
#ifndef CONTENTS_H
#define CONTENTS_H

#include <stddef.h>
#include <stdint.h>

struct values;

/* Returns a number for a key, or for a field of the hash at a key; the field is
 * NULL for a key. */
uint64_t contents_id(
    const char *key, size_t nkey, const char *field, size_t nfield);

/* Returns the size of the value, one of those. */
size_t contents_size(const struct values *, uint64_t id);

/* Writes the first n bytes of the value. Returns their end. */
char *contents_write(uint64_t id, char *to, size_t n);

/*
 * Compares n bytes with those of the value from offset 'at' on, whatever its
 * size is. Returns how many are equal before the first that differs.
 */
size_t contents_compare(uint64_t id, uint64_t at, const char *p, size_t n);
unsigned char contents_byte(uint64_t id, uint64_t at);

#endif
