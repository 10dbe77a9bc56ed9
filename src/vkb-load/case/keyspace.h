/*
 * Counts and removes keys on servers that vkb-load did not start: all primaries
 * of a target, all databases.
 */
#ifndef KEYSPACE_H
#define KEYSPACE_H

struct target;

/*
 * Sets *text to "12 keys (10 in db0, 2 in db3) and 1 search index", or to NULL
 * if there is nothing, and *ids to the run_id of each primary, which differs
 * after a restart. The caller frees both. Returns 0, or -1 after reporting that
 * a node did not answer or is still loading its data.
 */
int keyspace_read(const struct target *, char **text, char **ids);

/*
 * Deletes all keys (FLUSHALL) and search indexes. Returns 0, or -1 after
 * reporting an error.
 */
int keyspace_empty(const struct target *);

/* Checks that keys with the prefix of the target could be removed. Returns 0,
 * or -1 after reporting that SCAN or UNLINK is not allowed. */
int keyspace_check_removal(const struct target *);

/*
 * Deletes the keys and search indexes whose names begin with the prefix of the
 * target, by SCAN and UNLINK. Returns 0, or -1 after reporting an error; then
 * some may be left.
 */
int keyspace_remove_own(const struct target *);

#endif
