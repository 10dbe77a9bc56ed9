/* The nodes of one spec: started together, described by one record. */
#ifndef FLEET_H
#define FLEET_H

#include <stdbool.h>
#include <stddef.h>

struct filehash;
struct fleet;
struct guard;
struct halt;
struct json;
struct pollfd;
struct rundir;
struct tls_context;

/* What all fleets of this program share. */
struct shared {
	struct halt *halt;
	struct guard *guard;
	struct rundir *rundir;
	const char *logs; /* folder for logs, or NULL: the run directory */
	bool quiet;
	int wait_ms;  /* to become ready */
	int grace_ms; /* to end */
	struct tls_context *tls;
	struct filehash *hashes; /* of programs and modules */
};

void shared_free(struct shared *);

/*
 * Starts what 'spec' (taken) asks for. *record is the 'server' record, ok or
 * failed (caller frees); what failed is said as well. NULL when it failed.
 */
struct fleet *fleet_start(
    struct shared *, struct json *spec, struct json **record);

const struct json *fleet_record(const struct fleet *); /* borrowed */
const char *fleet_password(const struct fleet *);      /* or NULL */

/* Descriptors that get readable when a node ends. */
size_t fleet_nodes(const struct fleet *);
void fleet_fds(const struct fleet *, struct pollfd *);

/* Has a node ended? Then *record is the failed record (and it is said). */
bool fleet_dead(struct fleet *, struct json **record);

/*
 * Stops and frees it. In *record, unless that is NULL, it is 'stopped', or
 * 'failed' where a node had crashed just before.
 */
void fleet_stop(struct fleet *, struct json **record);

/* A failed record of this id; 'error' is said as well. */
struct json *fleet_failed(const char *id, const char *error);

#endif
