/*
 * The flat metrics.json of the Python tool: one object per result. Reading
 * turns each into a run record, writing makes such an object of any run. What
 * the file does not say stays absent; what a run has no room for is kept in
 * its "flat", so that a result that was read is written as it was.
 */
#ifndef FLAT_H
#define FLAT_H

#include <stdbool.h>

struct json;

/* An object without "type" that has the keys of such a result. */
bool flat_is(const struct json *obj);

/* 'obj' is taken; the result is a run record, the caller's. Never NULL. */
struct json *flat_to_run(struct json *obj);

/*
 * With the keys, and in the order, of the Python tool; "commit" of a work tree
 * with changes ends in "+dirty". The caller's.
 */
struct json *flat_from_run(const struct json *run);

/*
 * The same of what runs that went well have in common by subject, config, env
 * and about: it lacks the metrics, each of which is flat_metric() of its name,
 * and, where the subject has no time, "timestamp", which is run.started.
 */
struct json *flat_frame(const struct json *run);
const char *flat_metric(const char *name); /* borrowed, may be 'name' */

/*
 * "LRANGE_100 (first 100 elements)" and "MSET (10 keys)", as valkey-benchmark
 * calls its tests, are LRANGE_100 and MSET in a config. Caller frees.
 */
char *flat_command(const char *title);

#endif
