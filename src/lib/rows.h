/* A table of runs: each row holds the position of one run and a column for each
 * named value. */
#ifndef ROWS_H
#define ROWS_H

#include <stddef.h>
#include <stdint.h>

struct intern;

#define ROWS_UNKNOWN UINT32_MAX /* of a session, block, index or order */

struct rows_run {
	uint32_t session, block, index, order;
};

struct rows_column {
	const char *name; /* borrowed from the names */
	size_t len;
	size_t id; /* the number of columns added before it */
};

struct rows { /* zeroed at first */
	size_t n, cap;
	struct rows_run *runs;
	double *v; /* 'width' values per row, by column id; NAN: absent */
	size_t width;
	struct rows_column *cols;
	size_t ncols;
};

void rows_free(struct rows *);

/* Adds a row without values. */
void rows_add(struct rows *, struct rows_run);
/* Sets a value of the last row. A new name is added to 'names', which must live
 * as long as the rows. *at is 0 for the first value; it speeds up the look-up
 * if the names come in the order of earlier rows. */
void rows_set(struct rows *, struct intern *names, const char *name, size_t len,
    double v, size_t *at);

/* Returns the column of this name, or ncols. */
size_t rows_find(const struct rows *, const char *name);

/* Reads the values of a column of all n rows. */
void rows_values(const struct rows *, size_t col, double *);

/* Returns where the value of a row is; NAN: it has none. */
double *rows_value(const struct rows *, size_t row, size_t col);

/* Removes the columns without a value. No column may be added after that. */
void rows_drop_empty(struct rows *);

/*
 * Sorts the columns by name. Returns the indexes of the rows ordered by rank of
 * the session (unknown sessions last), block, index, order, then the values of
 * the columns. Caller frees with free().
 */
uint32_t *rows_order(struct rows *, const uint32_t *rank);

#endif
