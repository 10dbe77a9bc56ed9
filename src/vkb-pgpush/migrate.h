/*
 * Migrates vkb_runs: rows that the first version of vkb stored from a
 * metrics.json had the load of each CPU in their configuration, so that every
 * run was a case of its own, and they had other keys.
 */
#ifndef MIGRATE_H
#define MIGRATE_H

struct pg;
struct schema;

/* The comment of the table vkb_runs after the migration. */
#define MIGRATE_DONE "run records of vkb, edition 2"

/*
 * Rewrites the rows if the table is not migrated, updates the keys of their
 * rows in the metrics tables, and sets the comment. Else a run that is pushed
 * again would be stored twice. Needs a transaction that holds the lock. Returns
 * the number of rows changed, or -1 (error reported) also if there are rows to
 * rewrite and another role owns the table.
 */
long long migrate_runs(struct pg *, const struct schema *);

#endif
