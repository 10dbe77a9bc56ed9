/*
 * Rows of foreign data for requests: the fields that a template names, kept
 * ready to be sent, shared by all threads.
 */
#ifndef ROWSET_H
#define ROWSET_H

#include <stddef.h>
#include <stdint.h>

struct rowset;

/* Without rows; 'fields' ends with NULL and is copied. */
struct rowset *rowset_new(const char *const *fields);
void rowset_free(struct rowset *);

/* Adds a row, a value for each field. 0, or -1 and said: there is no room. */
struct rowset_value {
	const char *bytes;
	size_t n;
};
int rowset_add(struct rowset *, const struct rowset_value *values);

uint64_t rowset_count(const struct rowset *);
int rowset_field(const struct rowset *, const char *name); /* -1: none */
size_t rowset_mean(const struct rowset *);                 /* bytes of a row */
size_t rowset_longest(const struct rowset *); /* of all fields of a row */

/*
 * A row: where each field ends, counted from the end of that list, then the
 * fields, each a RESP bulk string. 64 bytes behind any may be read as well.
 */
struct rowset_row {
	const uint32_t *ends;
	const char *bytes;
};
struct rowset_row rowset_row(const struct rowset *, uint64_t);

/* The value in a bulk string of n bytes; *n becomes its length. */
const char *rowset_value(const char *bulk, size_t *n);

#endif
