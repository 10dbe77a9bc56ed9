/*
 * The tables: those of the Python tool, with columns of ours for the key of a
 * run, and vkb_runs with the whole records. What is there is read; what is
 * missing or too narrow becomes statements.
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
	bool notnull;
};

struct schema {
	char *table; /* benchmark_metrics, ... */
	bool module; /* its scenarios have columns */
	bool exists, indexed, runs_exists;
	struct schema_column *cols; /* as they are, */
	size_t ncols, cap;          /* or will be after the plan */
	char **sql;                 /* the plan */
	size_t nsql, sqlcap;
};

/* 'id' is core, tag or a module's. NULL, and said: it is no such name. */
struct schema *schema_new(const char *id);
void schema_free(struct schema *);

/* What the database has; 0, or -1 and said. */
int schema_read(struct schema *, struct pg *);

/* What must be done before the rows of the spool fit. */
void schema_plan(struct schema *, const struct spool *);

const struct schema_column *schema_find(
    const struct schema *, const char *name);

#endif
