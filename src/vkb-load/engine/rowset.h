/*
 * Rows of a dataset for requests: the fields that a template names, encoded in
 * RESP, shared by all threads.
 */
#ifndef ROWSET_H
#define ROWSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rowset;

/* Makes an empty set; 'fields' ends with NULL and is copied. */
struct rowset *rowset_new(const char *const *fields);
void rowset_free(struct rowset *);

/*
 * Adds a row, a value for each field. Returns 0, or -1 after reporting that
 * there is no room.
 */
struct rowset_value {
	const char *bytes;
	size_t n;
};
int rowset_add(struct rowset *, const struct rowset_value *values);

uint64_t rowset_count(const struct rowset *);
/* Has it these fields, in this order, and no others? */
bool rowset_is_of(const struct rowset *, const char *const *fields);
size_t rowset_mean(const struct rowset *);    /* mean bytes of a row */
size_t rowset_longest(const struct rowset *); /* bytes of the fields of a row */

/*
 * A row: the end of each field, relative to 'bytes', and the fields, each a
 * RESP bulk string. 64 bytes behind any field may be read.
 */
struct rowset_row {
	const uint32_t *ends;
	const char *bytes;
};
struct rowset_row rowset_row(const struct rowset *, uint64_t);

/* Returns the value in a bulk string of *n bytes; sets *n to its length. */
const char *rowset_value(const char *bulk, size_t *n);

#endif
