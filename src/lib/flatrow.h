/*
 * Rows of the tables of the Python tool, benchmark_metrics and its like, whose
 * columns are the keys of its metrics.json (flat.h).
 */
#ifndef FLATROW_H
#define FLATROW_H

#include <stdbool.h>

struct json;

/* Returns a run, which the caller frees, of a row as an object; it is taken.
 * NULLs and the columns of the row itself, such as its id, are left out. */
struct json *flatrow_to_run(struct json *row);

/* Returns the value of a column from its text in PostgreSQL's CSV; caller
 * frees. NULL: there is none. */
struct json *flatrow_parse(const char *column, const char *text);

#endif
