/* A checked 'spec' record: the servers to start. */
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
	bool count;      /* under callgrind, with 'still' preloaded */
	bool caches;     /* simulated, too */
	long long seed;  /* of its random numbers */
	char *still;     /* path of the library */
	size_t nodes;    /* primaries * (1 + replicas) */
	cpu_set_t *cpus; /* one per node, or NULL */
	const char *password;
};

/*
 * Checks and reads 'json', and takes it, also on failure. Returns 0, or -1 with
 * the reason in *why; then the spec needs no spec_free.
 */
int spec_read(struct spec *, struct json *json, struct str *why);
void spec_free(struct spec *);

/* Appends 'text' with the secrets of the spec replaced by "***". */
void spec_redact(const struct spec *, struct str *, const char *text);

/*
 * Appends the configuration file of a node. 'dir' is the node's folder,
 * 'tlsdir' the folder of the certificates, or NULL without TLS.
 */
void spec_print_configuration(const struct spec *, struct str *, int port,
    const char *dir, const char *tlsdir);

/* Returns a setting's value as text, or NULL if it is not a scalar; caller
 * frees with free(). */
char *spec_print_value(const struct json *);

/* Returns the address to connect to: loopback for a wildcard; borrowed. */
const char *spec_connect_host(const struct spec *);

#endif
