/*
 * Writes the runs that parsers read, after adding what the command line sets
 * and numbering them.
 */
#ifndef RUNS_H
#define RUNS_H

#include <stdbool.h>
#include <stddef.h>

struct json;
struct runs;

struct runs_column {
	char *section, *key; /* section and key of the run: metrics, rps */
	char *name;          /* name in the input */
};

struct runs_opts {
	const char *const *sets; /* SECTION.KEY=VALUE */
	size_t nsets;
	const char *const *columns; /* [SECTION.]KEY=NAME,... */
	size_t ncolumns;
	bool flat;  /* write the flat form */
	bool whole; /* include the whole record of each run in it */
};

/* Returns NULL if an option is invalid (error reported). */
struct runs *runs_new(const struct runs_opts *);

/* Ends the output and frees. Returns 0, or -1 (error reported). */
int runs_end(struct runs *);

/* Returns the *n columns of --columns; borrowed. */
const struct runs_column *runs_columns(const struct runs *, size_t *n);
/* Returns the column with that name, or NULL. */
const struct runs_column *runs_find_column(
    const struct runs *, const char *name);

/* Returns a run with empty sections and status "ok". Caller frees. */
struct json *runs_new_run(void);

/*
 * Sets a metric of 'run', which the input calls 'name'. Returns -1 if another
 * name got the same key, whose value stays (error reported with 'where').
 */
int runs_set_metric(struct json *run, const char *key, double v,
    const char *name, const char *where);

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
