/*
 * The state of the tables in the database, and after the plan: a metrics table
 * of the Python tool with our columns for the key of a run, and vkb_runs with
 * the whole records.
 */
#ifndef SCHEMA_H
#define SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "coltype.h"

struct pg;
struct spool;

struct schema_column {
	char *name;
	struct coltype type;
	bool notnull, has_default;
};

/* Limits of a table: columns, including dropped ones, and bytes in a row. */
#define SCHEMA_COLUMNS 1600
#define SCHEMA_ROW 8160

/* Characters that an index has of a text that is too long for it. */
#define SCHEMA_INDEX_CHARS "100"

/* An index, with one of its text columns. */
struct schema_index {
	char *name, *column;
	char *shorter; /* its columns as SQL, with texts cut */
};

struct schema {
	char *table; /* benchmark_metrics, ... */
	bool module; /* table of a module: has columns for scenarios */
	bool indexed;
	char kind, runs_kind; /* as pg_class.relkind; 0: it does not exist */
	bool names_taken;     /* the names for our indexes are taken */
	struct schema_index *indexes;
	size_t nindexes, indexcap;
	struct schema_column *cols; /* the columns, after the plan if any */
	size_t ncols, cap;
	size_t dropped; /* number of dropped columns */
	size_t omitted; /* number of keys that get no column */
	const char
	    *first_omitted; /* the first of them; borrowed of the spool */
	char **sql;         /* the plan, as statements */
	size_t nsql, sqlcap;
};

/* 'id' is core, tag or a module's name. NULL if invalid (error reported). */
struct schema *schema_new(const char *id);
void schema_free(struct schema *);

/* Reads the state from the database. Returns 0, or -1 (error reported). */
int schema_read(struct schema *, struct pg *);

/* Returns 0 if both are tables or missing, or -1 (error reported). */
int schema_check(const struct schema *);

/*
 * Plans the changes that the tables need before the rows of a spool fit: SQL
 * statements for what is missing or too narrow. Also counts the keys that get
 * no column because the table is full. Returns 0, or -1 if the key's columns do
 * not fit (error reported).
 */
int schema_plan(struct schema *, const struct spool *);

const struct schema_column *schema_find_column(
    const struct schema *, const char *name);

#endif
