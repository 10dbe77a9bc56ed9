/*
 * Takes the rows of a dataset from the readers of the formats. Private to
 * dataset.c and dataset_*.c.
 */
#ifndef INTAKE_H
#define INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "dataset.h"
#include "str.h"

struct rowset_value;

struct intake_value {
	size_t at, n; /* in the text of the row */
	bool given;
};

struct intake {
	const struct dataset_want *want;
	FILE *f;
	unsigned long long line_number; /* of the last from intake_read_line */

	/* Only for dataset.c. */
	dataset_stop_fn *stop;
	void *arg;
	struct rowset *d;
	size_t nfields;
	struct rowset_value *row;
	struct str text; /* of the current row */
	struct intake_value *values;
	char **names; /* of the file's other fields; NULL-terminated */
	bool *seen;   /* which wanted fields the file has */
	size_t nnames;
	char *line;
	size_t cap;
};

/*
 * Reads a line with its line break, borrowed until the next call. 1; 0 at the
 * end; -1, error reported. 'intake' is a struct intake, as for csvrows_new.
 */
int intake_read_line(void *intake, const char **line, size_t *n);

/*
 * Returns the index of a field of the file among the wanted ones, or -1. Its
 * name has n bytes and is kept for the message about an unknown field.
 */
int intake_find_field(struct intake *, const char *name, size_t n);

/* After the last name: 0, or -1, error reported, if a wanted one is missing. */
int intake_check_fields(struct intake *);

/* Sets a field of the current row; the first value stays. */
void intake_set_field(struct intake *, int field, const void *value, size_t n);

/* Ends a row. 0; 1: it was the last wanted; -1: error reported, or stopped. */
int intake_end_row(struct intake *);

/* The readers of the formats. 0, or -1, error reported. */
int dataset_csv(struct intake *, char delimiter);
int dataset_xml(struct intake *);
int dataset_npy(struct intake *);
int dataset_json(struct intake *);

#endif
