/*
 * The keys that the Python tool writes into its metrics.json, in its order:
 * where a run keeps their values, and how each is written.
 */
#ifndef FLATKEYS_H
#define FLATKEYS_H

#include <stdbool.h>

struct json;
struct metric;

/* How a value of a run is written. */
enum flatkeys_form {
	FLATKEYS_PLAIN,
	FLATKEYS_SWITCH, /* true is "enabled", false is "disabled" */
	FLATKEYS_DIGITS, /* a number is a string */
};

struct flatkeys_key {
	const char *flat;
	const char *section, *key; /* NULL: made of several values */
	enum flatkeys_form form;
	const char *sql; /* type of its column, which each table has, even if no
			  * run has the key; NULL: inferred, if a run has it */
	bool module;     /* of runs of a module only */
	bool notnull;
};

/* Ends with a key whose 'flat' is NULL. */
extern const struct flatkeys_key flatkeys_table[];

/* Returns true if the table has the key of a section of a run. */
bool flatkeys_has(const char *section, const char *key);

/* Returns the metric with this name in the flat form, or NULL if unknown. */
const struct metric *flatkeys_metric(const char *flat);

/* Reads a value; 'v' is taken, the result is the caller's. */
struct json *flatkeys_read(enum flatkeys_form, struct json *v);

/* Writes a value; the result is the caller's. */
struct json *flatkeys_write(enum flatkeys_form, const struct json *v);

/*
 * Returns the name under which valkey-benchmark prints the results of a
 * command, "MSET (10 keys)" for MSET; borrowed, may be 'command'.
 */
const char *flatkeys_title(const char *command);

/* Returns "owner/name" of a GitHub repository, given by its URL or that name;
 * NULL for any other. The caller frees it. */
char *flatkeys_repository(const char *url);

#endif
