/*
 * The table of formats: their names, how to detect them and their parsers. A
 * parser passes each run to runs_add. It reports an error and continues with
 * what follows; in the end it returns 0, or -1 if there were errors.
 */
#ifndef FORMATS_H
#define FORMATS_H

#include <stdbool.h>

struct json;
struct runs;
struct source;

struct format {
	const char *name; /* NULL ends the table */
	const char *what; /* description for messages */
	bool maps;        /* --columns is allowed */
	bool lines;       /* text, of which each line may be a JSON value */

	/* Either text, detected by its first lines (with a NUL after them), */
	bool (*is_text)(const char *head);
	int (*parse_text)(struct source *, struct runs *);
	/* or one JSON value. */
	bool (*is_json)(const struct json *);
	int (*parse_json)(const struct json *, struct source *, struct runs *);
};

extern const struct format formats[];

/*
 * Sets *f to the format of that name, or to NULL for "auto" or NULL. Returns 0,
 * or -1 if it is unknown (error reported).
 */
int formats_find(const char *name, const struct format **f);

/*
 * Reads a file ("-": stdin) in that format; NULL detects it. With 'raw' it
 * first writes the input as a record. Returns 0, or -1 (errors reported).
 */
int formats_read(
    const char *file, const struct format *, bool raw, struct runs *);
/* The same for a folder of criterion, or of results (resultsdir.h). */
int formats_read_folder(
    const char *dir, const struct format *, bool raw, struct runs *);

#endif
