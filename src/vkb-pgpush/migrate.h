/*
 * Brings vkb_runs up to date: what the first edition of vkb stored of a
 * metrics.json had the load of each CPU as configuration, so that every run
 * was a case of its own, and another key.
 */
#ifndef MIGRATE_H
#define MIGRATE_H

#include <stdbool.h>
#include <stddef.h>

struct pg;

/* The comment of the table vkb_runs says that this was done. */
#define MIGRATE_DONE "run records of vkb, edition 2"

/* Are there rows to rewrite? True also where it cannot be told. */
bool migrate_needed(struct pg *);

/*
 * Within a transaction, alone: rewrites the rows, and the keys of their rows in
 * the tables of metrics, and leaves the comment. Returns how many rows it
 * changed; -1 where it failed, and the reason was printed.
 */
long long migrate_runs(struct pg *);

#endif
