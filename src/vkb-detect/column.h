/*
 * One column of a case, read once and divided by machine, so that the series of
 * many machines cost no more than their rows.
 */
#ifndef COLUMN_H
#define COLUMN_H

#include <stddef.h>

struct branch;
struct rows_run;
struct series;

/* The rows of one machine. */
struct column_part {
	size_t n;
	const struct rows_run *runs; /* .session: the index of the point */
	const double *values;
	const double *counts; /* of COUNTED_METRIC; NULL: not needed */
};

struct column *column_new(void);
void column_free(struct column *);

/* Reads the part of a series, which is borrowed until the next call. Returns
 * -1 on error, after reporting it. */
int column_read(
    const struct branch *, const struct series *, struct column_part *);

#endif
