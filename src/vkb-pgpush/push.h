/*
 * Stores all rows of a spool in the database or none, in one transaction, which
 * is tried again if the connection breaks.
 */
#ifndef PUSH_H
#define PUSH_H

#include <stdbool.h>
#include <stddef.h>

struct others;
struct schema;
struct spool;

struct push {
	const char *database;          /* conninfo, or NULL */
	size_t stored, there, refused; /* results, in rows */
	const char *rounded; /* a column that rounds times; of the spool */
	size_t cut;          /* values left out because their row is too long */
	size_t migrated;     /* rows that migrate_runs changed */
	struct others *others;
};

/* Plans, alters the tables and stores. 0, or -1: nothing stored (reported). */
int push_rows(struct push *, struct schema *, struct spool *);

/* Reports the rows that would be refused, without a database. 0, or -1. */
int push_check(struct push *, const struct schema *, struct spool *);

#endif
