/*
 * Counts the instructions of a server under callgrind: one connection sends a
 * fixed series of requests, so that two fresh servers execute the same. The
 * server is one that vkb-serve started with 'count' in its spec.
 */
#ifndef COUNTING_H
#define COUNTING_H

#include <stddef.h>
#include <stdint.h>

struct bench_case;
struct engine_job;
struct engine_result;
struct engine_work;
struct json;
struct roles;

#define COUNTING_RUNS 2 /* of each case and build, at most */
#define COUNTING_SEED 1 /* of a server, if the case has no seed */

/* Returns why no server can be counted on this machine, or NULL; caller
 * frees. */
char *counting_find_obstacle(void);

/* Returns why a case cannot be counted, or NULL; caller frees. */
char *counting_refuse(const struct bench_case *);

/* Returns what one count of a case with these roles takes, about, in a unit
 * that depends on the machine, as measured with 10,000 and 1,000,000 keys. */
double counting_cost(const struct roles *);

/* Returns what writes the keys that measured requests of the case find, before
 * they are counted: its own command, where they come to most of its numbers and
 * nothing else fills the server; else NULL. */
const char *counting_find_filler(const struct bench_case *);

/*
 * Changes the work to what is counted: one connection, the requests of the case
 * but 10,000 at most, fewer of them where one costs much.
 * The requests are those of the case, drawn by the seed.
 */
void counting_adapt(struct engine_work *, uint64_t seed);

/*
 * Fills the server for all works of the job, the parts of a mixed case, and
 * then counts them one after the other, each with a warm-up of its own, with a
 * result for each; one whose requests the server refused has 'refused' set.
 * 'server' is its record. Returns 0, or -1 after reporting an error, or -1
 * silently when the job was stopped; the caller frees the results in any case.
 */
int counting_run(const struct engine_job *, const struct engine_work *,
    const struct json *server, struct engine_result *);

/*
 * Reads what was counted of a part, a number from 0, with a name: sets the
 * metrics of its run record, and adds a profile record with the functions.
 * Returns 0, or -1 after reporting an error.
 */
int counting_report(const struct engine_job *, size_t part, const char *name,
    const struct engine_result *, struct json *run, struct json *profiles);

#endif
