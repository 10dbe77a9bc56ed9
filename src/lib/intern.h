/*
 * Interned texts: each different text gets the next number, from 0.
 */
#ifndef INTERN_H
#define INTERN_H

#include <stddef.h>
#include <stdint.h>

struct intern;

struct intern *intern_new(void);
void intern_free(struct intern *);

size_t intern_id(struct intern *, const char *text);
size_t intern_idn(struct intern *, const char *text, size_t n);

/* Returns the number of a text, or intern_count if it has none. */
size_t intern_find(const struct intern *, const char *text, size_t n);
size_t intern_count(const struct intern *);
const char *intern_text(const struct intern *, size_t id); /* borrowed */

/* The number of two numbers, in a table that holds such pairs only. */
size_t intern_pair(struct intern *, size_t a, size_t b);

/* For each id, the rank of its text. Caller frees with free(). */
uint32_t *intern_rank(const struct intern *);

#endif
