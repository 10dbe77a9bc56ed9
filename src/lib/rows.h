/*
 * A table of runs: one row for each, in which order it ran and one column for
 * each value it has a name for. Rows can go to a file and are read back column
 * by column, so that a million runs need not be in memory at once.
 */
#ifndef ROWS_H
#define ROWS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct scratch;

#define ROWS_UNKNOWN UINT32_MAX /* of a session, block, index or order */

struct rows_run {
	uint32_t session, block, index, order;
};

struct rows_column {
	char *name;
	size_t len;
	size_t id; /* how many were there before it */
};

struct rows_block { /* in the file: runs, then the columns by id */
	off_t at;
	size_t rows, cols;
};

struct rows {
	size_t n, away; /* all; the first of them are in the file */
	size_t cap;
	struct rows_run *runs; /* of the rows in memory */
	double
	    *v; /* of each of them 'width', by the column's id; NAN: absent */
	size_t width;
	struct rows_column *cols;
	size_t ncols;
	struct rows_block *blocks;
	size_t nblocks, blockcap;
};

void rows_free(struct rows *);

/* A row without values, and one value of the last row. *at is 0 for the first
 * value: names mostly come in the order they came in before. */
void rows_add(struct rows *, struct rows_run);
void rows_set(
    struct rows *, const char *name, size_t len, double v, size_t *at);

/* How much memory the rows take; and none after this: 0, or -1 and said. */
size_t rows_bytes(const struct rows *);
int rows_spill(struct rows *, struct scratch *);

/* All n of them; 0, or -1 and said. */
int rows_runs(const struct rows *, struct scratch *, struct rows_run *);
int rows_values(const struct rows *, struct scratch *, size_t col, double *);

/*
 * Sorts the columns by name and gives the places of the rows ordered by rank
 * of the session (unknown ones last), block, index, order, then the values of
 * the columns. Caller frees with free(); NULL, and said.
 */
uint32_t *rows_order(struct rows *, struct scratch *, const struct rows_run *,
    const uint32_t *rank);

#endif
