/*
 * Who makes the load of a case: one role, or in a mixed case its writers and
 * readers. Each role has an identity, and a record, of its own; the clients
 * that work in parallel for it are as many streams of the engine.
 */
#ifndef ROLES_H
#define ROLES_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#include "vkb-load/engine/engine.h"

struct json;

struct role {
	struct json *config;     /* what identifies its record */
	const struct json *seed; /* its own, of the case; or NULL */
	size_t first, n;         /* its streams */
};

struct roles {
	struct role *v;
	size_t n;
	struct engine_work *works; /* all streams; they borrow from the roles */
	size_t nworks;
	struct dataset_want *data; /* of each stream; a path, or NULL */
	cpu_set_t *cpus;           /* of each stream */
};

/*
 * Of a case that was checked. All work at the same time, so all stop after the
 * shortest of their durations: only then each meets the others as long as it
 * is measured. A rate is shared among them, as their connections are.
 * roles_free in any case.
 */
void roles_make(
    struct roles *, const struct json *cas, uint64_t seed, double timeout_s);
void roles_free(struct roles *);

/* The same roles warming up; their works to be freed with free(). */
struct engine_work *roles_warmup(const struct roles *, size_t *n);

/*
 * The streams of one role as one result, which it becomes; the histograms add
 * up exactly. 'v' are the results of its streams; the others are as before.
 */
void roles_blend(struct engine_result *v, size_t n);

#endif
