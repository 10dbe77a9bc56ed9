/*
 * Where the runs that were read go: completed by what the command line says,
 * numbered, written.
 */
#ifndef RUNS_H
#define RUNS_H

#include <stdbool.h>
#include <stddef.h>

struct json;
struct runs;

struct runs_column {
	char *room, *key; /* metrics, rps */
	char *name;       /* what the input calls it */
};

struct runs_opts {
	const char *const *sets; /* ROOM.KEY=VALUE */
	size_t nsets;
	const char *const *columns; /* ROOM.KEY=NAME,... */
	size_t ncolumns;
	bool flat;  /* write the flat form, */
	bool whole; /* and in it the whole record of each run */
};

/* NULL, and said: an option is wrong. */
struct runs *runs_new(const struct runs_opts *);

/* The end of the output: 0, or -1 and said. Frees. */
int runs_end(struct runs *);

/* Columns by the command line, *n of them; borrowed. */
const struct runs_column *runs_columns(const struct runs *, size_t *n);
/* The column with that name, or NULL. */
const struct runs_column *runs_column(const struct runs *, const char *name);

/* A run with all its rooms, status "ok". Caller's. */
struct json *runs_blank(void);

/*
 * A metric of 'run', which the input calls 'name'. -1, and said with 'where':
 * another name became the same 'key'; that one stays.
 */
int runs_metric(struct json *run, const char *key, double v, const char *name,
    const char *where);

/* When it began, in s since 1970; NAN, or nonsense: not said. */
void runs_started(struct json *run, double since);

/* A number, a boolean or, what is neither, a text (in quotes: always one). */
struct json *runs_value(const char *text);
/* The same for a place in a run, where names and dates are always texts. */
struct json *runs_typed(const char *room, const char *key, const char *text);

/*
 * 'run' is taken. 0; -1, and said with 'where': it is none, or was not written
 * (then runs_dead).
 */
int runs_add(struct runs *, struct json *run, const char *where);

/* The same for a record of any type, as it is. */
int runs_pass(struct runs *, struct json *rec);

size_t runs_count(const struct runs *); /* that were written */
bool runs_dead(const struct runs *);    /* the output is broken */

#endif
