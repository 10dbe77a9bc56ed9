/*
 * Which node holds what: the servers that load is sent to, and the part of the
 * key space that lies on each. Without a cluster it is the list of the target.
 */
#ifndef SLOTMAP_H
#define SLOTMAP_H

#include "keys.h"

#include <stddef.h>
#include <stdint.h>

struct engine_target;
struct tls_context;

struct slotmap_node {
	char *host;
	int port;
	char *unixsocket; /* or NULL */
	char *name;       /* "host:port" or the socket, for messages */
	struct keys keys;
	uint16_t *slots, *residues;
	struct collection *collections;
	size_t nslots;
};

struct slotmap {
	struct slotmap_node *nodes;
	size_t n;
	struct slotmap *older; /* kept: threads may still use it */
};

/*
 * Asks the nodes of the target in order, where it is a cluster; 'tags' (of
 * keys_tags) is borrowed. NULL, and said.
 */
struct slotmap *slotmap_new(const struct engine_target *, struct tls_context *,
    uint64_t space, const char (*tags)[3]);

/*
 * What has become of 'old', whose collections stay in their slots: a map that
 * has taken 'old' along, or 'old' itself where nothing has changed or nobody
 * answers.
 */
struct slotmap *slotmap_again(struct slotmap *old, const struct engine_target *,
    struct tls_context *, uint64_t space, const char (*tags)[3]);
void slotmap_free(struct slotmap *); /* the older ones too */

#endif
