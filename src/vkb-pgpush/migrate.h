/*
 * Migrates vkb_runs: rows that the first edition of vkb stored from a
 * metrics.json had the load of each CPU in their configuration, so that every
 * run was a case of its own, and they had other keys.
 */
#ifndef MIGRATE_H
#define MIGRATE_H

#include <stdbool.h>
#include <stddef.h>

struct pg;

/* The comment of the table vkb_runs after the migration. */
#define MIGRATE_DONE "run records of vkb, edition 2"

/* Tells whether there are rows to rewrite; true also if the query fails. */
bool migrate_needed(struct pg *);

/*
 * Rewrites the rows, updates the keys of their rows in the metrics tables, and
 * sets the comment. Needs a transaction that holds the lock. Returns the number
 * of rows changed, or -1 (error reported).
 */
long long migrate_runs(struct pg *);

#endif
