/*
 * The server of a visit: one of our own from vkb-serve, or one that runs
 * already, which is emptied instead of started.
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
	struct json *server; /* its record; NULL: there is none */
	char id[64];
	bool used; /* since it was started or emptied */
};

/*
 * All of these: 0; -1, and why it failed is in err_last() or, where vkb-serve
 * has said it, in 'why' (caller frees with free()); else *why is NULL.
 */
int lease_start(struct lease *, const struct json *cas, char **why);

/* How it ended tells whether it lived until now. */
int lease_end(struct lease *, char **why);

/* As it was after its start, its config set included. */
int lease_reset(struct lease *, const struct json *cas, char **why);

/* Has a server ended by itself? Where there is doubt it is asked. */
bool lease_lost(const struct lease *, const struct json *cas, bool doubt);

/* A target with the login of the case; target_free in any case. */
int lease_target(const struct lease *, const struct json *cas, struct target *);

double lease_timeout(const struct lease *, const struct json *cas);

#endif
