/*
 * Stores rows in a PostgreSQL table, the Python tool's with more columns, or in
 * a file of JSON lines. Changes between begin and commit are atomic; closing
 * the store before commit discards them. Functions return -1 after reporting an
 * error.
 */
#ifndef STORE_H
#define STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "rules.h"

struct footprint;
struct json;
struct pg;
struct store;

struct rowlist {
	struct row *v;
	size_t n, cap;
};
void store_rows_free(struct rowlist *);

/* Sets the keys of a 'track' record; deletes keys whose value is unknown. */
void store_fill_record(struct json *rec, const struct row *);

/* Which rows to read; NULL and RULES_NONE: any. */
struct wanted {
	const struct footprint *config;
	bool covered; /* or complete with a configuration that covers it */
	const char *architecture, *owner, *sha;
	enum rules_status status;
};

struct config {
	char *hash, *text;                  /* text is NULL if unknown */
	long long counts[RULES_FAILED + 1]; /* rows by status */
};
struct configs {
	struct config *v;
	size_t n, cap;
};
void store_configs_free(struct configs *);

struct store_ops {
	void (*close)(struct store *);

	/*
	 * Extends the table if necessary; if there is none, 'make' makes it,
	 * else that is an error. 'alone': waits for other transactions that are
	 * 'alone'. *now is the time of the store.
	 */
	int (*begin)(struct store *, bool alone, bool make, double *now);
	int (*commit)(struct store *);

	/* Appends rows, by commit time, newest first. */
	int (*read)(struct store *, const struct wanted *, struct rowlist *);

	/*
	 * Locks a row that was read, by its id, and reads it again. Returns 1,
	 * or 0 if it is gone or, unless 'wait', locked by another process.
	 */
	int (*take)(struct store *, struct row *, bool wait);

	/* For a row that was taken. */
	int (*update)(struct store *, const struct row *);
	int (*drop)(struct store *, const struct row *);

	/* Returns 1, or 0 if another process has inserted the same key. */
	int (*insert)(
	    struct store *, const struct footprint *, const struct row *);

	/* Lists the configurations, sorted by hash. */
	int (*configs)(struct store *, struct configs *);
};

struct store {
	const struct store_ops *ops;
	struct pg *pg; /* NULL: a file, or not connected */
};

/* Opens a table; 'id' is core, tag or the name of a module, 'database' as for
 * pg_open. Returns NULL after reporting an error. */
struct store *store_open_table(const char *database, const char *id);
struct store *store_open_file(const char *path);

#endif
