/*
 * All rows of a spool go into the database, or none: one transaction, tried
 * again where the connection broke.
 */
#ifndef PUSH_H
#define PUSH_H

#include <stdbool.h>
#include <stddef.h>

struct changes;
struct machines;
struct schema;
struct spool;

struct push {
	const char *database;          /* conninfo, or NULL */
	size_t stored, there, refused; /* when it is done */
	const char *rounded; /* a column of times; borrowed of the spool */
	size_t cut;          /* values that their rows had no room for */
	size_t migrated;     /* old rows that were brought up to date */
	struct machines *machines;
	const struct changes *changes;
};

/* 0, or -1 and said: nothing is stored. The schema's plan is what was done. */
int push_rows(struct push *, struct schema *, struct spool *);

/* What would be refused, said; needs no database. 0, or -1. */
int push_check(struct push *, const struct schema *, struct spool *);

#endif
