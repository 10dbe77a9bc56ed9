/*
 * Interned texts: each different text gets the next number, from 0.
 */
#ifndef NAMES_H
#define NAMES_H

#include <stddef.h>
#include <stdint.h>

struct names;

struct names *names_new(void);
void names_free(struct names *);

size_t names_id(struct names *, const char *text);
size_t names_idn(struct names *, const char *text, size_t n); /* has no NUL */
size_t names_count(const struct names *);
const char *names_text(const struct names *, size_t id); /* borrowed */

/* For each id, the rank of its text. Caller frees with free(). */
uint32_t *names_rank(const struct names *);

#endif
