/* What an error reply says about where, or when, to send a request again. */
#ifndef HINT_H
#define HINT_H

#include <stdbool.h>

struct slotmap_node;

struct hint {
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
bool hint_read_moved(struct hint *, const char *line, const char *sender);

/*
 * Returns true if the server cannot answer for the moment: a slot has no node,
 * keys are migrating, or data is still loading.
 */
bool hint_read_passing(
    struct hint *, const char *line, const struct slotmap_node *from);

#endif
