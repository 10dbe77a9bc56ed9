/* What server is wanted: a checked 'spec' record. */
#ifndef SPEC_H
#define SPEC_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

struct json;
struct str;

struct spec {
	struct json *json;
	const char *id, *host;
	char *server; /* absolute path */
	char *config_file, *rdb;
	int port;
	int primaries, replicas;
	int io_threads; /* 0: not given */
	bool cluster, unixsocket, tls, aslr;
	size_t nodes;
	cpu_set_t *cpus; /* one per node, or NULL */
	const char *password;
};

/*
 * 'json' is taken, also on failure. 0, or -1 with the reason in *why; then the
 * spec holds nothing.
 */
int spec_read(struct spec *, struct json *json, struct str *why);
void spec_free(struct spec *);

/* Adds 'text' with the secrets of the spec as "***". */
void spec_redact(const struct spec *, struct str *, const char *text);

/*
 * The configuration file of node i. 'dir' is the node's folder, 'tlsdir' has
 * the certificates.
 */
void spec_configuration(const struct spec *, struct str *, int port,
    const char *dir, const char *tlsdir);

/* A setting's value as the server reads it; caller frees with free(). */
char *spec_value(const struct json *);

/* The address to connect to: a wildcard is loopback. */
const char *spec_reach(const struct spec *);

#endif
