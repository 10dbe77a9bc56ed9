/* Where the load goes: a server record made ready for the engine. */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>

#include "vkb-load/engine/engine.h"

struct client;
struct json;
struct tls_context;

struct target {
	struct engine_target e; /* what it borrows lives in the record */
	struct engine_node *nodes;
	struct tls_context *tls;
};

/*
 * From a server record (borrowed while the target lives), which never holds
 * user and password: they are the caller's to set. 0, or -1 and said.
 */
int target_make(struct target *, const struct json *server, bool unixsocket);
void target_free(struct target *);

/* A connection for control to the i-th primary; NULL, and said. */
struct client *target_client(const struct target *, size_t i);

/*
 * What all primaries say of their memory, as metrics; bytes_per_key where they
 * hold 1,000 keys or more. 0; -1, reported and
 * nothing set: one of them cannot be reached or does not answer.
 */
int target_memory(const struct target *, struct json *metrics);

#endif
