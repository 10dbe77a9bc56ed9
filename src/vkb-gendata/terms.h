/* Reads prefixes or suffixes of the terms in a CSV file, for queries. */
#ifndef TERMS_H
#define TERMS_H

#include <stdbool.h>
#include <stddef.h>

struct transform;

/*
 * Fills t->list with the first or, if 'last', the last three characters of the
 * first field of each row, at most 'most' of them. Skips English stop words and
 * a first row that begins with "term" or "search_term". Returns 0, or -1 (error
 * reported).
 */
int terms_read(const char *file, bool last, size_t most, struct transform *t);

#endif
