/*
 * Runs one case on a server that is already started: its load, and the records
 * of its run.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#include "roles.h"
#include "slospec.h"
#include "peers.h"
#include "str.h"

struct engine;
struct json;
struct server_handle;
struct profiles;
struct room;
struct case_context;

struct measure {
	struct case_context *context;
	const struct bench_case *cas;
	const struct json *build;
	const struct engine *engine;
	struct roles roles;
	struct json **recs;    /* a run record for each role */
	struct json *raw;      /* verbatim output, or NULL */
	struct json *profiled; /* profile records; NULL: not profiled */
	struct slospec slo;    /* metric NULL: no capacity is searched */
	bool counted;          /* the only profile is that of the counts */
	bool shown;            /* its intervals are */
	bool unknown;          /* failed: the server does not know a command */
	struct profiles *profiles;
	struct idle *idle; /* connections beside the load, or NULL */
	struct starting starting;
	struct room *room; /* memory of a server with data of others, or NULL */
	struct verify_written
	    *known;       /* values that filled the server; or NULL */
	struct str error; /* why it failed */
};

/* 'block' is 0 if the runs of several builds are not interleaved. */
void measure_init(struct measure *, struct case_context *,
    const struct bench_case *, const struct json *build, size_t index,
    size_t block);
/* The case is profiled instead of measured. */
void measure_profile(struct measure *);
/* Its instructions are counted instead; the case must be one to count. */
void measure_count(struct measure *);
/* Its load begins when vkb-load was asked to begin. */
void measure_start_at(struct measure *);
/* It is measured and recorded: its intervals are logged and shown. */
void measure_show(struct measure *);
void measure_free(struct measure *);

/*
 * Notes why the run fails: 'why', which is freed, or if NULL the last message.
 * Returns -1.
 */
int measure_fail(struct measure *, char *why);
/* Returns that, or that it was interrupted; borrowed. */
const char *measure_why(const struct measure *);

/*
 * Prepares n servers, runs the load, on several interleaved for short slices,
 * cleans up, and writes the results into the records. Sets rcs[i] to 0, or to
 * -1 if m[i] failed; partial results are kept. Those whose rcs[i] is -1 before,
 * and those whose server cannot be prepared, are left out.
 */
void measure_run(
    struct measure *m, struct server_handle *const *, size_t n, int *rcs);

/*
 * Runs the trial of an engine before the first run of a case. Returns 0 or -1.
 */
int measure_attempt(struct measure *, struct server_handle *);

#endif
