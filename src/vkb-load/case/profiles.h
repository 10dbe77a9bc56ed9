/*
 * Profiles servers under the load of a case with vkb-profile, in runs of their
 * own: a profiled run is not measured.
 */
#ifndef PROFILES_H
#define PROFILES_H

#include <stdbool.h>
#include <stddef.h>

struct bench_case;
struct engine_progress;
struct engine_work;
struct json;
struct profiles;

struct profiles_opts {
	const char *dir; /* output folder; NULL: no profiles */
	bool extra;      /* profile each case, after measuring */
	bool nodes;      /* all nodes of a cluster, not just the first */
	long long freq;  /* samples per second; 0: as the case says */
	double time_s;   /* seconds, and measure nothing; 0: as the case says */
};

/* Return true if the case is profiled; if it is only profiled, not measured. */
bool profiles_wanted(const struct profiles_opts *, const struct bench_case *);
bool profiles_replace_runs(
    const struct profiles_opts *, const struct bench_case *);

/* Returns true if an earlier session has profiled the case on 'nodes' nodes. */
bool profiles_exist(const struct profiles_opts *, const struct bench_case *,
    const struct json *build, size_t nodes);

/*
 * Makes the load last as long as perf needs: at least 2 s after the delay of
 * the profile, and as long as the profile if the case has a number of requests
 * or --profile-time is given. Does not change the load of a scenario that fills
 * the server for others.
 */
void profiles_stretch(const struct profiles_opts *, const struct bench_case *,
    struct engine_work *, size_t n);

/*
 * 'server' is its record. Borrows all. Returns NULL after reporting that the
 * server's process is unknown.
 */
struct profiles *profiles_new(const struct profiles_opts *,
    const struct bench_case *, const struct json *build,
    const struct json *server, const char *session);
void profiles_free(struct profiles *); /* stops them; NULL does nothing */

/* Starts them when the load has warmed up. */
void profiles_start_when_warm(
    struct profiles *, const struct engine_progress *);

/*
 * Call when the load has ended: ends the profiles, waits for them, and adds
 * their records, of that subject, to the array. Returns 0, or -1 after
 * reporting an error.
 */
int profiles_end(
    struct profiles *, const struct json *subject, struct json *recs);

#endif
