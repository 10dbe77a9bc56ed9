/*
 * Which node holds what: the servers that load is sent to, and the part of the
 * key space that lies on each. Without a cluster it is the list of the target.
 */
#ifndef SLOTMAP_H
#define SLOTMAP_H

#include "keys.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct addrinfo;
struct engine_target;
struct tls_context;

struct slotmap_node {
	char *host;
	int port;
	char *unixsocket; /* or NULL */
	char *name;       /* "host:port" or the socket, for messages */
	struct addrinfo
	    *addresses; /* of the host; NULL: 'unresolved' says why */
	const char *unresolved;
	struct keys keys;
	uint16_t *slots, *residues;
	struct collection *collections;
	size_t nslots;
	uint64_t nkeys;         /* of the key space; keys.count is never 0 */
	_Atomic uint64_t place; /* keys used so far, in sequential use */
};

struct slotmap {
	struct slotmap_node *nodes;
	size_t n;
	uint16_t *owners;      /* in a cluster: the node of each slot */
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
