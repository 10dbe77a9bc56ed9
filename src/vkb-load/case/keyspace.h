/*
 * Counts and removes keys on servers that vkb-load did not start: all primaries
 * of a target, all databases.
 */
#ifndef KEYSPACE_H
#define KEYSPACE_H

#include "vkb-load/engine/engine.h"

struct json;
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

/*
 * What the keys of a server take: the memory of all of them, their payload,
 * which is their names and values, and the encodings of a sample.
 */

enum sizes_which {
	SIZES_DIFFER,   /* the size of each key is read */
	SIZES_ALIKE,    /* all keys have the size of those in the sample */
	SIZES_OF_OTHERS /* others have keys there, so none is read */
};

struct sizes_how {
	enum sizes_which which;
	const volatile int *stop; /* polled; the payload is then left out */
	engine_progress_fn *progress;
	void *arg;
};

/*
 * Adds stored_bytes_per_key to the metrics of a run with bytes_per_key and, if
 * all keys are small and of known types, payload_bytes_per_key and
 * memory_overhead_ratio. Returns the encodings, as ENCODING: keys of the
 * sample (caller frees), or NULL if nothing was sampled. Failures add nothing.
 */
struct json *keyspace_measure_sizes(
    const struct target *, const struct sizes_how *, struct json *metrics);

#endif
