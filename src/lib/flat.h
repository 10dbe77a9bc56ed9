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

/* The key under which an object holds the whole record of its run. */
#define FLAT_RECORD "vkb"

/*
 * Returns a run record, which the caller frees; never NULL. 'obj' is taken. An
 * object that holds a record is that record, not yet checked. In a file of the
 * first edition of vkb the load of each CPU (cpu0_busy_percent) stands beside
 * the configuration: it becomes a metric.
 */
struct json *flat_to_run(struct json *obj);

/*
 * Returns an object with the keys, in the order, of the Python tool and no
 * others, but for those that a file had from which the run was read; with
 * 'whole', the record too, under FLAT_RECORD. "commit" of a work tree with
 * changes ends in "+dirty". The caller frees it.
 *
 * Not by default: the Python tool takes every scalar that it does not know for
 * configuration, and cannot store an object.
 */
struct json *flat_from_run(const struct json *run, bool whole);

/*
 * Returns the same with all of the environment (env_NAME), configuration and
 * metrics, and numbers as such: the columns of a table. The caller frees it.
 */
struct json *flat_columns(const struct json *run);

/*
 * Returns what tells the run from any other and is the same in every edition
 * of metrics.json and in the record itself: without the environment and, of a
 * run that has what the Python tool measures, without what vkb-load measures
 * besides. The caller frees it.
 */
struct json *flat_identity(const struct json *run);

/*
 * Moves the metrics out of the configuration that reading a metrics.json of
 * the first edition of vkb put there. Returns true if there were any.
 */
bool flat_repair(struct json *run);

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
