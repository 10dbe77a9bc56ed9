/* One case on a server that is there: its load, and the records of its run. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#include "roles.h"
#include "str.h"

struct engine;
struct json;
struct lease;
struct profiles;
struct runner;
struct slot;

struct measure {
	struct runner *r;
	const struct json *cas, *build;
	const struct engine *engine;
	struct roles roles;
	struct json **recs;    /* a run for each role */
	struct json *raw;      /* what the engine printed; NULL: nothing */
	struct json *profiled; /* profile records; NULL: it is measured */
	struct profiles *profiles;
	struct str error; /* why it failed */
};

void measure_init(struct measure *, struct runner *, const struct json *cas,
    const struct slot *);
/* It shall be profiled instead. */
void measure_profile(struct measure *);
void measure_free(struct measure *);

/* Why it fails: 'why', which is freed, or else what was said last. -1. */
int measure_failed(struct measure *, char *why);

/*
 * Prepares the server, makes the load, cleans up; the figures are in the
 * records. 0, or -1: it failed, and what was measured is kept.
 */
int measure_run(struct measure *, struct lease *);

/* What an engine tries before the first run of a case. 0 or -1. */
int measure_attempt(struct measure *, struct lease *);

#endif
