/*
 * The row of a case in the brief text (brief.h).
 */
#ifndef BRIEFROW_H
#define BRIEFROW_H

#include <stdbool.h>
#include <stddef.h>

#include "brief.h"

struct table;

/* The columns that a narrow terminal moves below the row, in this order. */
enum narrow { ALL, NO_FUNCTIONS, NO_WORDS, NO_P50, NO_P99, NO_NAMES };

/* A column that not all reports have. */
enum column { VALUES, CHANGE, P50, P99, WORK, OPTIONAL };

struct layout {
	enum narrow narrow;
	size_t name; /* bytes that a name may have */
	bool has[OPTIONAL];
	const char *title; /* of the values; NULL: they have units */
	size_t width;
	bool legend; /* a mark that needs an explanation was written */
	bool marks;  /* for Markdown: the answer is first, with a mark */
	bool rest;   /* the rest has a column */
};

/* Returns the row that a column shows; NULL: none. */
const struct row *brief_choose_row(const struct brief_case *, enum column);

/* Returns the title of the values, NULL if the cases have several metrics. */
const char *brief_choose_title(const struct brief *);

/* Makes a table of the first n cases, whose texts are in the layout. */
struct table *brief_make_table(const struct brief *, struct layout *, size_t n);

/* Writes "8.0% slower", "p99 12% higher", "3.3% more instructions" for a row.
 */
void brief_write_change(struct str *, const struct row *);

/* Adds the cells of a case: its sign and name, those of the columns, the
 * answer; with marks the answer and the name, and at the end the rest. */
void brief_add_row(struct table *, struct layout *, const struct brief_case *);

/* Adds the changes of the case that no column shows, and what its row has no
 * room for. */
void brief_add_rest(
    struct str *, const struct layout *, const struct brief_case *);

#endif
