/*
 * Replaces keys and values by others of the same length: equal ones by equal
 * ones, different ones by different ones. It is keyed by random bytes that are
 * never stored, so nothing can be computed back from a trace.
 *
 * Numbers become numbers with the same sign, number of digits and decimal
 * point, so that INCR and the like still work. The hash tag of a key is
 * replaced on its own, so that keys of one tag keep one tag. Texts of printable
 * ASCII stay such texts.
 *
 * Short texts, and all numbers, are permuted: no two texts of a length become
 * the same one. Texts of 12 characters or more are hashed (SHA-256).
 */
#ifndef PRIVACY_H
#define PRIVACY_H

#include <stddef.h>

struct privacy;
struct str;

/* 'salt' is 32 bytes, or NULL for random ones. */
struct privacy *privacy_new(const unsigned char *salt);
void privacy_free(struct privacy *);

/* Appends what replaces the n bytes of a key, or of a value. */
void privacy_add_key(struct privacy *, const char *, size_t n, struct str *);
void privacy_add_value(struct privacy *, const char *, size_t n, struct str *);

#endif
