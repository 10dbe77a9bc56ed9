/* The target of a load: a server record in the form of the engine. */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>

#include "vkb-load/engine/engine.h"

struct client;
struct json;
struct tls_context;

struct target {
	struct engine_target e; /* borrows from the record */
	struct engine_node *nodes;
	struct tls_context *tls;
};

/*
 * Makes a target of a server record, which is borrowed. The caller sets user
 * and password, which are not in the record. Returns 0, or -1 after reporting
 * an error.
 */
int target_make(struct target *, const struct json *server, bool unixsocket);
void target_free(struct target *);

/*
 * Connects to the i-th primary for commands outside of the load. Returns NULL
 * after reporting an error.
 */
struct client *target_client(const struct target *, size_t i);

/*
 * Adds the memory of all primaries by INFO to the metrics; bytes_per_key only
 * from 1,000 keys on. Returns 0, or -1 after reporting that a primary did not
 * answer; then nothing is set.
 */
int target_memory(const struct target *, struct json *metrics);

#endif
