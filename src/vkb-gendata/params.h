/*
 * Reads parameters of transforms and queries by a table of their names, types,
 * bounds and defaults.
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
	/* Default of a text, or of a list by commas; NULL: required. */
	const char *text;
};

/* Rows for the members of struct transform. */
#define PARAMS_AT(field) offsetof(struct transform, field)
#define PARAMS_INT(name, field, fallback, min, max)                            \
	{                                                                      \
		name, PARAMS_WHOLE, PARAMS_AT(field), fallback, min, max, NULL \
	}
#define PARAMS_STR(name, field, text)                              \
	{                                                          \
		name, PARAMS_TEXT, PARAMS_AT(field), 0, 0, 0, text \
	}
#define PARAMS_NUM(name, field, fallback, min, max)                           \
	{                                                                     \
		name, PARAMS_REAL, PARAMS_AT(field), fallback, min, max, NULL \
	}

/*
 * Fills 't' from the object 'j'. A key that is neither in the table nor in
 * 'other' (NULL ends it) is a problem. 'w' counts the problems it reports. A
 * table and 't' of NULL check the keys only.
 */
void params_read(const struct params *, const char *const *other,
    const struct json *j, struct transform *t, struct configwalk *w);

/* A kind of transform or query, and its parameters. */
struct params_kind {
	const char *name;   /* NULL ends the table */
	struct params p[7]; /* the rest is {0} */
};

/*
 * Returns the index of the kind that "type" of 'j' names, which is 'fallback'
 * if it is missing. Returns -1, after reporting it with the nearest, if it is
 * unknown; 'what' is "transform" or "query type".
 */
int params_find_kind(const struct params_kind *, const char *what,
    const struct json *j, const char *fallback, struct configwalk *w);

/* Returns the integer at 'key', or -1 if missing or out of range (reported). */
long long params_read_whole(const struct json *j, const char *key, double min,
    double max, struct configwalk *w);

#endif
