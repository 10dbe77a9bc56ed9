/*
 * A folder of JSON lines, a file for each commit that was measured, and one,
 * commits.jsonl, of commit records. Each file can be read alone, and any two
 * folders can be joined.
 */
#ifndef SHELF_H
#define SHELF_H

#include <stdbool.h>
#include <stddef.h>

struct json;

#define SHELF_COMMITS "commits.jsonl"

/* The file of what was measured: its commit and what tells it from the commit,
 * or else a hash. Caller frees with free(). */
char *shelf_file(const struct json *subject);

/* Nobody else changes it meanwhile; ends with the program. A descriptor, or -1
 * and said. With 'make' the folder is made where it is missing. */
int shelf_lock(const char *dir, bool make);

struct shelf_entry {
	char *key;            /* the file's name without its end */
	char *path;           /* of the file */
	struct json *subject; /* of its first run; never NULL */
	char *title;          /* of the commit; NULL: not known */
	double time;          /* of the commit, or else of the first run; NAN */
	double measured;      /* the last run; NAN */
	size_t runs, failed, cases;
	unsigned long long hash; /* of its bytes */
};

struct shelf {
	struct shelf_entry *v; /* the oldest first */
	size_t n, cap;
	struct json **configs; /* of all cases, each once */
	size_t nconfigs, ccap;
	char *commits; /* path of the commit records; NULL: there are none */
};

/*
 * What is in the folder. 0; -1, and said: what could not be read is not there.
 */
int shelf_read(struct shelf *, const char *dir);
void shelf_free(struct shelf *);

#endif
