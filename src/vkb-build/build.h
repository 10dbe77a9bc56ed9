/* One build: from a source tree to a folder of finished programs. */
#ifndef BUILD_H
#define BUILD_H

#include <stdbool.h>

struct cache;
struct buildstep;
struct json;

/* Shared by all builds of this program. */
struct build_context {
	const struct cache *cache;
	int jobs;
	int tokens[2]; /* GNU make's job server: a pipe of free jobs */
	int free_jobs; /* its end to read, non-blocking */
};

#define BUILD_JOBS_MAX 1024

/* Makes the pipe of jobs; 0: one per CPU. Returns 0, or -1 after reporting the
 * error. */
int build_open_jobs(struct build_context *, long long jobs);
/* Takes a job from the pipe, if one is free. */
bool build_take_job(struct build_context *);
/* Returns it: make holds one job without reading it. Returns 0, or -1 after
 * reporting the error. */
int build_release_job(struct build_context *);

struct build;

/* Adds a finished build (server, cli, ...) to 'rec'. Returns 0 if there is
 * none. */
int build_find(
    const struct build_context *, const struct buildstep *, struct json *rec);

/*
 * Starts a build. Returns NULL with *busy if another program builds the same;
 * NULL with *error (caller frees) after reporting a failure.
 */
struct build *build_start(
    struct build_context *, const struct buildstep *, bool *busy, char **error);
int build_fd(const struct build *); /* readable: call build_step */

/* Call when build_fd is readable. Returns 0 while the build runs, 1 when it is
 * finished, -1 after reporting a failure (see build_error). */
int build_step(struct build *);
const char *build_error(const struct build *);
const char *build_log(const struct build *); /* of a failed build */
void build_free(struct build *);             /* stops it first */

#endif
