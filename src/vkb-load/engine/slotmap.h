/*
 * The servers of the load and the part of the key space on each; without a
 * cluster, the nodes of the target.
 */
#ifndef SLOTMAP_H
#define SLOTMAP_H

#include "keys.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct addrinfo;
struct engine_target;

struct slotmap_node {
	char *host;
	int port;
	char *unixsocket; /* or NULL */
	char *name;       /* "host:port" or the socket, for messages */
	struct addrinfo *addresses; /* of the host; NULL: see 'unresolved' */
	const char *unresolved;
	struct keys keys, refills; /* of the load; of what refills it */
	uint16_t *turns, *residues;
	struct collection *collections;
	size_t nturns;
	uint64_t nkeys;         /* of the key space; keys.count is never 0 */
	_Atomic uint64_t place; /* keys used so far, in sequential use */
};

struct slotmap {
	struct slotmap_node *nodes;
	size_t n;
	uint16_t *owners;      /* in a cluster: the node of each slot */
	bool replicas;         /* the nodes are replicas, if there are some */
	struct slotmap *older; /* kept: threads may still use it */
};

/*
 * Asks the nodes of the target in order if it is a cluster; 'tags' (of
 * keys_fill_tags) is borrowed. With 'replicas' the nodes are those instead of
 * the primaries, whose slots are shared among them; after a refresh a primary
 * that has lost its replicas is one. Returns NULL after reporting an error.
 */
struct slotmap *slotmap_new(const struct engine_target *, uint64_t space,
    const char (*tags)[3], bool replicas);

/*
 * Reads the slots again; collections stay in their slots. Returns a map that
 * owns 'old', or 'old' itself if nothing has changed or no node answers.
 */
struct slotmap *slotmap_refresh(struct slotmap *old,
    const struct engine_target *, uint64_t space, const char (*tags)[3]);
/* Returns the node of that name, or NULL. */
struct slotmap_node *slotmap_find(const struct slotmap *, const char *name);
void slotmap_free(struct slotmap *); /* frees the older ones too */

/* What an error reply says about where, or when, to send a request again. */

struct slotmap_hint {
	unsigned slot;
	bool asking;
	bool later; /* retry on the same node */
	char host[128];
	int port;
	const char *unixsocket; /* used instead, or NULL */
};

/*
 * Reads "MOVED 3999 host:port" or "ASK ..."; without a host it is that of the
 * sender. Returns false if the line is neither.
 */
bool slotmap_read_moved(
    struct slotmap_hint *, const char *line, const char *sender);

/*
 * Returns true if the server cannot answer for the moment: a slot has no node,
 * keys are migrating, or data is still loading.
 */
bool slotmap_read_passing(
    struct slotmap_hint *, const char *line, const struct slotmap_node *from);

#endif
