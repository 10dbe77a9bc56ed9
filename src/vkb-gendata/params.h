/*
 * Parameters of transforms and queries, from a table: name, type, bounds and
 * what holds where it is not given.
 */
#ifndef PARAMS_H
#define PARAMS_H

#include <stddef.h>

struct configwalk;
struct json;
struct transform;

enum params_type {
	PARAMS_WHOLE, /* long long */
	PARAMS_REAL,  /* double */
	PARAMS_TEXT,  /* const char *, borrowed */
	PARAMS_LIST   /* transform.list, strings */
};

struct params {
	const char *name; /* NULL ends the table */
	enum params_type type;
	size_t offset; /* in struct transform */
	double fallback, min, max;
	const char
	    *text; /* of texts; of lists, by commas; NULL: must be given */
};

/*
 * Fills 't' from the object 'j'. A key that is neither in the table nor in
 * 'other' (NULL ends it) is a problem; each is said and counted in 'w'.
 */
void params_read(const struct params *, const char *const *other,
    const struct json *j, struct transform *t, struct configwalk *w);

/* The whole number at 'key', or -1: it is missing or bad, which is said. */
long long params_whole(const struct json *j, const char *key, double min,
    double max, struct configwalk *w);

#endif
