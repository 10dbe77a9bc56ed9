/* Makes the 'server' record of nodes that are ready. */
#ifndef DESCRIBE_H
#define DESCRIBE_H

#include <stddef.h>

struct json;
struct node;
struct shared;
struct spec;
struct str;

struct describe {
	struct shared *shared; /* for its cache of hashes of files */
	const struct spec *spec;
	const struct node *node; /* 'n' of them, their connections open */
	size_t n;
	const char *dir, *tlsdir;
	double ready_ms; /* from start to ready */
};

/* Returns the record (caller frees with json_free), or NULL with the reason in
 * *why. */
struct json *describe_server(const struct describe *, struct str *why);

#endif
