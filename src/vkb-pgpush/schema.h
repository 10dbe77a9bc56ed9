/*
 * The tables: those of the Python tool, with columns of ours for the key of a
 * run, and vkb_runs with the whole records: as the database has them, and as a
 * plan would have them.
 */
#ifndef SCHEMA_H
#define SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "coltype.h"

struct pg;

struct schema_column {
	char *name;
	struct coltype type;
	bool notnull, filled; /* without a value: by a default */
};

/* What a table can have: columns, dropped ones counted, and bytes in a row. */
#define SCHEMA_COLUMNS 1600
#define SCHEMA_ROW 8160

/* Of a text that is too long for an index. */
#define SCHEMA_INDEX_CHARS "100"

/* An index that holds but short texts, with one of its columns. */
struct schema_index {
	char *name, *column;
	char *shorter; /* its columns, the texts cut */
};

struct schema {
	char *table; /* benchmark_metrics, ... */
	bool module; /* its scenarios have columns */
	bool exists, indexed, runs_exists;
	char kind, runs_kind; /* of relation, as pg_class.relkind */
	bool runs_current;    /* vkb_runs is of this edition, see migrate.h */
	bool runs_owned;      /* the role may alter vkb_runs */
	bool named;           /* names of indexes are taken */
	struct schema_index *indexes;
	size_t nindexes, indexcap;
	struct schema_column *cols; /* as they are, */
	size_t ncols, cap;          /* or will be after the plan */
	size_t dropped;             /* columns that were there once */
	size_t left;                /* keys that get no column, and */
	const char *left_first;     /* one of them; borrowed of the spool */
	char **sql;                 /* the plan */
	size_t nsql, sqlcap;
};

/* 'id' is core, tag or a module's. NULL, and said: it is no such name. */
struct schema *schema_new(const char *id);
void schema_free(struct schema *);

/* What the database has; 0, or -1 and said. */
int schema_read(struct schema *, struct pg *);

/* Are they tables, or nothing yet? 0, or -1 and said. */
int schema_check(const struct schema *);

/* A column that is to be; borrowed until the next. */
struct schema_column *schema_add(
    struct schema *, const char *name, struct coltype, bool notnull);
const struct schema_column *schema_find(
    const struct schema *, const char *name);

#endif
