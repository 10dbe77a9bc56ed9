/*
 * The roles of a case: one, or in a mixed case its writers and readers. Each
 * role has a config and a run record of its own. Each client that runs in
 * parallel for it is a stream of the engine. A role with a mix of commands is
 * followed by one for each command, without streams of its own, unless its
 * capacity is searched.
 */
#ifndef ROLES_H
#define ROLES_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#include "mixspec.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/plan/benchcase.h"

struct json;

struct role {
	struct json *config;    /* of its record */
	char *name;             /* of the case, with that of the role */
	struct bench_load load; /* the same; borrows from it */
	long long seed;         /* from the case, or -1 */
	size_t first, n;        /* its streams */
	size_t part; /* the number, from 1, of the command in the mix or trace
		      * that the streams from 'first' on send; 0: the role has
		      * streams of its own
		      */
};

struct roles {
	struct role *v;
	size_t n;
	size_t nown; /* those that have streams; the parts of a mix follow */
	struct engine_work *works; /* all streams; they borrow from the roles */
	size_t nworks;
	struct dataset_want *data; /* of each stream; a path, or NULL */
	cpu_set_t *cpus;           /* of each stream */
	struct mixspec mix;        /* of the case, or empty */
};

/*
 * Makes the roles of a case that was checked. All run at the same time and stop
 * after the shortest of their durations, so that all loads overlap for their
 * whole time. A rate is shared in proportion to the connections. The caller
 * calls roles_free in any case.
 */
void roles_make(
    struct roles *, const struct bench_case *, uint64_t seed, double timeout_s);
void roles_free(struct roles *);

/* Adds a role for each command of the trace that the first role replayed. */
void roles_add_replayed(struct roles *, const struct engine_result *);

/* Drops all streams of each role but its first, and the parts of a mix. */
void roles_keep_one_stream(struct roles *);

/*
 * Returns the result of a role, given those of all streams, of which those of
 * one role are merged.
 */
struct engine_result *roles_find_result(
    const struct role *, struct engine_result *v);

/* Returns the *n streams of the warm-up; the caller frees them with free(). */
struct engine_work *roles_warmup(const struct roles *, size_t *n);

/*
 * Merges the results v[1..n-1] of a role's streams into v[0] and clears them.
 * Histograms are added up exactly.
 */
void roles_merge(struct engine_result *v, size_t n);

#endif
