/*
 * The flat metrics.json of the Python tool: one object per result. Reading
 * turns each into a run record, writing makes such an object of any run. Keys
 * that the file lacks stay absent; values that a run has no key for are kept
 * in its "flat", so that a result is written as it was read.
 */
#ifndef FLAT_H
#define FLAT_H

#include <stdbool.h>

struct json;

/* Returns true for an object without "type" that has the keys of a result. */
bool flat_is(const struct json *obj);

/* The key under which an object holds the whole record of its run. */
#define FLAT_RECORD "vkb"

/*
 * Returns a run record, which the caller frees; never NULL. 'obj' is taken. If
 * the object holds a record, that is returned, not yet checked.
 */
struct json *flat_to_run(struct json *obj);

/*
 * Returns an object with the keys of the Python tool, in its order, and with
 * the other keys of the file from which the run was read. 'whole' adds the
 * record under FLAT_RECORD. "commit" of a work tree with changes ends in
 * "+dirty". The caller frees it.
 *
 * 'whole' is not the default: the Python tool takes unknown scalars for
 * configuration, and cannot store an object.
 */
struct json *flat_from_run(const struct json *run, bool whole);

/*
 * Returns the same with all of the environment (env_NAME), configuration and
 * metrics, and numbers as numbers: the columns of a table. The caller frees it.
 */
struct json *flat_columns(const struct json *run);

/* Returns the key that a metric has there; borrowed, may be 'name'. */
const char *flat_metric(const char *name);

/*
 * Returns an object that differs between runs and is the same for every
 * metrics.json and the record of a run. It lacks the environment and, if the
 * run has the metrics of the Python tool, the other metrics of vkb-load. The
 * caller frees it.
 */
struct json *flat_identity(const struct json *run);

/* Returns the command of a test as valkey-benchmark calls it: LRANGE_100 of
 * "LRANGE_100 (first 100 elements)", MSET of "MSET (10 keys)". Caller frees. */
char *flat_command(const char *title);

/*
 * Returns a run, which the caller frees, of a row, as an object, of the Python
 * tool's tables, benchmark_metrics and its like, whose columns are these keys;
 * the row is taken. NULLs and the columns of the row itself, such as its id,
 * are left out.
 */
struct json *flat_row_to_run(struct json *row);

/* Returns the value of a column from its text in PostgreSQL's CSV; caller
 * frees. NULL: there is none. */
struct json *flat_parse_column(const char *column, const char *text);

/* How a value of a run is written. */
enum flat_form {
	FLAT_PLAIN,
	FLAT_SWITCH, /* true is "enabled", false is "disabled" */
	FLAT_DIGITS, /* a number is a string */
};

struct flat_key {
	const char *flat;
	const char *section, *key; /* NULL: made of several values */
	enum flat_form form;
	const char *sql; /* type of its column, which each table has, even if no
			  * run has the key; NULL: inferred, if a run has it */
	bool module;     /* of runs of a module only */
	bool notnull;
};

/* Ends with a key whose 'flat' is NULL. */
extern const struct flat_key flat_table[];

#endif
