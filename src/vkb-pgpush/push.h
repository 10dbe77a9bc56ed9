/*
 * Stores all rows of a spool in the database or none, in one transaction, which
 * is tried again if the connection breaks.
 */
#ifndef PUSH_H
#define PUSH_H

#include <stdbool.h>
#include <stddef.h>

#include "feed.h"

struct others;
struct schema;
struct spool;

struct push {
	const char *database; /* conninfo, or NULL */
	struct others *others;
	/* Results: */
	size_t stored, there; /* rows */
	size_t migrated;      /* rows that migrate_runs changed */
	struct feed feed;     /* of the last try; free with feed_free */
};

/* Plans, alters the tables and stores. 0, or -1: nothing stored (reported). */
int push_rows(struct push *, struct schema *, struct spool *);

/* Reports the rows that would be refused, without a database. 0, or -1. */
int push_check(struct push *, const struct schema *, struct spool *);

#endif
