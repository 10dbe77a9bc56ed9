/* The nodes of one spec: started together, described by one 'server' record. */
#ifndef FLEET_H
#define FLEET_H

#include <stdbool.h>
#include <stddef.h>

struct filehash;
struct fleet;
struct halt;
struct json;
struct pollfd;
struct rundir;
struct tls_context;

/* What all fleets of this program share. */
struct shared {
	struct halt *halt;
	struct rundir *rundir;
	char *logs; /* folder for logs, or NULL: the run directory */
	bool quiet;
	int wait_ms;  /* to become ready */
	int grace_ms; /* to end */
	struct tls_context *tls;
	struct filehash *hashes; /* of programs and modules: a cache */
	size_t nhashes, hashcap;
};

/*
 * Starts the nodes of 'spec', and takes it. *record gets the 'server' record,
 * ok or failed (caller frees). Returns NULL after reporting an error.
 */
struct fleet *fleet_start(
    struct shared *, struct json *spec, struct json **record);

const char *fleet_password(const struct fleet *); /* or NULL */

size_t fleet_count_nodes(const struct fleet *);

/* Fills one entry per node; each gets readable when its node ends. */
void fleet_fill_fds(const struct fleet *, struct pollfd *);

/* Returns whether a node has ended; if so reports it and sets *record to the
 * failed record (caller frees). */
bool fleet_check_end(struct fleet *, struct json **record);

/*
 * Stops and frees the fleet; NULL is allowed. *record, unless 'record' is NULL,
 * gets a record 'stopped', or 'failed' if a node had crashed just before.
 */
void fleet_stop(struct fleet *, struct json **record);

/* Reports 'error' and returns a failed record with this id. Caller frees. */
struct json *fleet_make_failed(const char *id, const char *error);

/* Returns a record 'stopped' with this id. Caller frees. */
struct json *fleet_make_stopped(const char *id);

#endif
