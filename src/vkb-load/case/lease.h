/*
 * The server of a case run: started by vkb-serve, or an external server, which
 * is emptied instead of started.
 */
#ifndef LEASE_H
#define LEASE_H

#include <stdbool.h>
#include <stddef.h>

struct json;
struct runner;
struct target;

struct lease {
	struct runner *r;
	const struct json *build;
	struct json *server; /* its record; NULL: not started */
	char id[64];
	bool used; /* a load ran since its start */
};

/*
 * All return 0 or -1. The error is in *why if vkb-serve has reported it (caller
 * frees with free()), else *why is NULL and the error is in err_last().
 */
int lease_start(struct lease *, const struct json *cas, char **why);

/* Stops the server. Returns -1 if it had failed before. */
int lease_end(struct lease *, char **why);

/* Brings the server back to its state after its start, with its config set. */
int lease_reset(struct lease *, const struct json *cas, char **why);

/* Returns true if the server has ended by itself. 'doubt': also sends PING. */
bool lease_lost(const struct lease *, const struct json *cas, bool doubt);

/*
 * Makes a target with the login of the case. The caller calls target_free in
 * any case.
 */
int lease_target(const struct lease *, const struct json *cas, struct target *);

double lease_timeout(const struct lease *, const struct json *cas);

#endif
