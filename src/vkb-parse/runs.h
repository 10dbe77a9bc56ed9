/*
 * Writes the runs that parsers read, after adding what the command line sets
 * and numbering them.
 */
#ifndef RUNS_H
#define RUNS_H

#include <stdbool.h>
#include <stddef.h>

#include "opt.h"

struct json;
struct runs;

/* A key of a run that the command line names. */
struct runs_key {
	char *section, *key; /* metrics, rps */
	char *text;          /* of --set: its value; of --columns: a column */
	struct json *value;  /* of --set */
};

struct runs_keys {
	struct runs_key *v;
	size_t n, cap;
};

struct runs_opts {
	struct opt_list sets;    /* SECTION.KEY=VALUE */
	struct opt_list columns; /* [SECTION.]KEY=COLUMN,... */
	bool flat;               /* write the flat form */
	bool whole; /* include the whole record of each run in it */
};

/* Returns NULL if an option is invalid (error reported). */
struct runs *runs_new(const struct runs_opts *);

/* Ends the output and frees. Returns 0, or -1 (error reported). */
int runs_end(struct runs *);

/* Sets the name of the subjects that have none in the runs to come; NULL: they
 * get none. Borrowed. */
void runs_set_ref(struct runs *, const char *ref);

/* Returns the columns of --columns; borrowed. */
const struct runs_keys *runs_columns(const struct runs *);

/* Returns a run with status "ok" and empty sections, but for the command unless
 * that is NULL. Caller frees. */
struct json *runs_new_run(const char *command);

/*
 * Sets a metric of 'run', which the input calls 'name'. Returns -1 if another
 * name got the same key, whose value stays (error reported with 'where').
 */
int runs_set_metric(struct json *run, const char *key, double v,
    const char *name, const char *where);

/* The same for a value in a unit, which the key ends with (units.h). */
int runs_set_value(struct json *run, const char *key, const char *unit,
    double v, const char *name, const char *where);

/* Where an input keeps a value, and which key of a run it is. */
struct runs_value {
	const char *path, *section, *key; /* path NULL ends a list */
};

/*
 * Copies what there is of a list, but neither null nor a commit that is not one
 * ("unknown").
 */
void runs_copy(
    struct json *run, const struct json *from, const struct runs_value *);

/* Sets the start time, in s since 1970. Ignores NAN and implausible values. */
void runs_set_started(struct json *run, double since);

/* Returns a boolean, number or text ("quoted": always text). Caller frees. */
struct json *runs_parse_value(const char *text);
/* The same for a key of a run, but names and dates are always texts. */
struct json *runs_parse_typed(
    const char *section, const char *key, const char *text);

/*
 * Takes over 'run', completes and writes it. Returns 0, or -1 if it is invalid
 * or cannot be written, then runs_have_failed (error reported with 'where').
 */
int runs_add(struct runs *, struct json *run, const char *where);

/* Takes over a record of any type and writes it unchanged, unless --flat. */
int runs_write_record(struct runs *, struct json *rec);

size_t runs_count(const struct runs *);     /* runs written */
bool runs_have_failed(const struct runs *); /* writing failed */

#endif
