/* The target of a load: a server record in the form of the engine. */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "vkb-load/engine/engine.h"

struct bench_load;
struct client;
struct json;

struct target {
	struct engine_target e; /* borrows from the record; its TLS is owned */
	struct engine_node *nodes;
	size_t nreplicas; /* of all nodes, the last ones */
};

/*
 * Makes a target of a server record, and of what a load says of its
 * connections, or NULL; both are borrowed. The caller sets user and password,
 * which are not in the record. Returns 0, or -1 after reporting an error.
 */
int target_make(struct target *, const struct json *server, bool unixsocket,
    const struct bench_load *);
void target_free(struct target *);

/* The load reads from the replicas. */
void target_use_replicas(struct target *);

/* Fails if a primary refuses the database. 0, or -1, error reported. */
int target_check(const struct target *);

/*
 * Connects to the i-th primary for commands outside of the load. Returns NULL
 * after reporting an error.
 */
struct client *target_client(const struct target *, size_t i);

/*
 * Calls 'fn', or NULL, with a connection to each primary until a call returns
 * -1; then, or if one cannot be reached (reported), returns -1, else 0.
 */
int target_each(const struct target *,
    int (*fn)(const struct target *, size_t i, struct client *, void *),
    void *arg);

/*
 * Returns the number of keys in an answer to INFO ("db0:keys=10,..." lines);
 * adds those of the first n databases to their numbers.
 */
double target_count_keys(const char *info, double *databases, size_t n);

/* Returns the number of keys of a server; NAN: it does not say it. */
double target_ask_keys(struct client *, int ms);

/* With fewer keys the server's fixed memory would dominate bytes_per_key. */
#define TARGET_MANY_KEYS 1000

/* Of all primaries together, in bytes, and their keys; NAN: not known. */
struct target_memory {
	double used, peak, resident, dataset, keys;
};

/* Reads it by INFO. Returns 0, or -1 after reporting that a primary did not
 * answer. */
int target_read_memory(const struct target *, struct target_memory *);

/*
 * Adds the memory of all primaries by INFO to the metrics; bytes_per_key
 * from 1,000 keys on. Returns 0, or -1 after reporting that a primary did not
 * answer; then nothing is set.
 */
int target_memory(const struct target *, struct json *metrics);

#endif
