/* The 'server' record of nodes that are ready: what they say of themselves. */
#ifndef DESCRIBE_H
#define DESCRIBE_H

#include <stddef.h>

struct json;
struct node;
struct shared;
struct spec;
struct str;

struct describe {
	struct shared *shared; /* knows the hashes of files */
	const struct spec *spec;
	const struct node *node; /* 'n' of them, their connections open */
	size_t n;
	const char *dir, *tlsdir;
	double ready_ms;
};

/* Caller frees. NULL: the reason is in *why, nothing was said. */
struct json *describe_server(const struct describe *, struct str *why);

#endif
