/*
 * The formats: one table of names, what tells them, and who reads them. A
 * parser gives each run to runs_add, says what was wrong, goes on with what
 * follows, and returns -1 in the end where something was.
 */
#ifndef FORMATS_H
#define FORMATS_H

#include <stdbool.h>
#include <stddef.h>

struct json;
struct runs;
struct source;

struct format {
	const char *name; /* NULL ends the table */
	const char *what; /* for people */
	bool maps;        /* --columns says where names go */

	/* One of two: text, by its first lines (with a NUL after them) */
	bool (*text_is)(const char *head);
	int (*text)(struct source *, struct runs *);
	/* or one JSON value */
	bool (*json_is)(const struct json *);
	int (*json)(const struct json *, const char *file, struct runs *);
};

extern const struct format formats[];

const struct format *formats_find(const char *name); /* NULL: none */

/*
 * Reads all of 'source' as that format, or where it is NULL as what it looks
 * like; 'raw' keeps it in a record of its own as well. 0, or -1 and said.
 */
int formats_read(
    struct source *, const struct format *, bool raw, struct runs *);

/* "flat, records, ...": caller frees. */
char *formats_names(void);

#endif
