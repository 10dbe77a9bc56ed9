/* The beginnings or ends of the terms in a CSV file, for queries. */
#ifndef TERMS_H
#define TERMS_H

#include <stdbool.h>
#include <stddef.h>

struct transform;

/*
 * Fills the list of 't' with the first, or last, three characters of the first
 * field of each row, at most 'most'; stop words of English are left out, and
 * so is a first row that begins with "term" or "search_term". 0, or -1 and
 * said.
 */
int terms_read(const char *file, bool last, size_t most, struct transform *t);

#endif
