/* What an error reply says about where, or when, to send a request again. */
#ifndef HINT_H
#define HINT_H

#include <stdbool.h>

struct slotmap_node;

struct hint {
	unsigned slot;
	bool asking;
	bool later; /* to the node that said so */
	char host[128];
	int port;
	const char *unixsocket; /* NULL, or used instead */
};

/*
 * "MOVED 3999 host:port", "ASK ..."; no host means that of the sender. False:
 * the line is neither.
 */
bool hint_read_moved(struct hint *, const char *line, const char *sender);

/*
 * The server cannot answer for the moment: a slot without a node, keys on their
 * way to another node, data still to be read from disk. False: it is not that.
 */
bool hint_read_passing(
    struct hint *, const char *line, const struct slotmap_node *from);

#endif
