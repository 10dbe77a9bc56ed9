/*
 * Where the rows are: a table of PostgreSQL, as the Python tool has it with
 * more columns, or a file of JSON lines. What is done between begin and commit
 * is done as a whole or not at all; a store that is closed before has done
 * nothing. -1 is said.
 */
#ifndef STORE_H
#define STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "rules.h"

struct footprint;
struct json;
struct store;

struct rowlist {
	struct row *v;
	size_t n, cap;
};
struct row *rowlist_add(struct rowlist *); /* an empty one at the end */
void rowlist_free(struct rowlist *);
/* Sets the keys of a 'track' record, and deletes those that are not known. */
void row_record(struct json *rec, const struct row *);

/* NULL, RULES_NONE: any. */
struct wanted {
	const struct footprint *config; /* of this one */
	bool covered; /* or complete under one that covers it */
	const char *architecture, *owner, *sha;
	enum rules_status status;
};

/* The configurations, each once. */
struct config {
	char *hash, *text; /* the text may be NULL: not known */
	long long counts[RULES_FAILED + 1];
};
struct configs {
	struct config *v;
	size_t n, cap;
};
struct config *configs_add(struct configs *);
void configs_free(struct configs *);

struct store_ops {
	void (*close)(struct store *);

	/* After a failure: with a store opened anew it may go well. */
	bool (*transient)(const struct store *);

	/*
	 * Makes or extends the table where it must be. 'alone': until the end
	 * no other is at work that wants to be alone. *now: by the store.
	 */
	int (*begin)(struct store *, bool alone, double *now);
	int (*commit)(struct store *);

	/* Ordered by the time of the commit, newest first. */
	int (*read)(struct store *, const struct wanted *, struct rowlist *);

	/*
	 * Reads again a row that was read, by its id; until the end nobody else
	 * changes it. 1; 0: it is gone, or, unless 'wait', somebody else is at
	 * it.
	 */
	int (*take)(struct store *, struct row *, bool wait);

	/* Of a row that was taken. */
	int (*update)(struct store *, const struct row *);
	int (*drop)(struct store *, const struct row *);

	/* A new one. 1; 0: there is one now, of somebody else. */
	int (*insert)(
	    struct store *, const struct footprint *, const struct row *);

	int (*configs)(struct store *, struct configs *);
};

struct store {
	const struct store_ops *ops;
};

/* 'id' is core, tag or the name of a module; 'database' as for pg_open. */
struct store *store_table(const char *database, const char *id);
struct store *store_file(const char *path);

#endif
