/* The servers that are measured: build records, or one binary. */
#ifndef BUILDS_H
#define BUILDS_H

#include <stdbool.h>
#include <stddef.h>

struct json;
struct str;

struct builds {
	struct json **v;
	size_t n, cap;
	struct json *reference; /* measured beside each of the others, without
				 * records of its own; or NULL */
	size_t failed;          /* builds that failed: reported and left out */
};

/* Adds build records of a file. 0, or -1, error reported; free either way. */
int builds_read(struct builds *, const char *file);

/* Adds one build: a binary (NULL: vkb-serve's default), a label or NULL. */
void builds_single(struct builds *, const char *path, const char *label);

/*
 * Sets the reference: a server, or a file with one build record. 0, or -1,
 * error reported.
 */
int builds_set_reference(struct builds *, const char *file);

/* Can this host run all servers? Returns 0, or -1 after reporting why not. */
int builds_check(const struct builds *);

/* Returns build i, of which number n is the reference. */
const struct json *builds_get(const struct builds *, size_t i);

/* Sets one module for all builds. 0, or -1, error reported. */
int builds_module(struct builds *, const char *file);
void builds_free(struct builds *);

/*
 * Appends what tells a subject from others: not what it learns from its server.
 */
void builds_add_key(struct str *, const struct json *subject);

/*
 * The servers of an earlier measurement, measured again beside new ones.
 */

/*
 * Adds the servers of the runs in 'file' to the builds, with their names; one
 * without label, ref and commit, or with those of a build, is labelled
 * "baseline", and a build without any "new". The file of a server is that of
 * its runs, or FILE.server, whichever still has their SHA-256. Says what is
 * measured again, and first if it is the same as a build, unless 'quiet'. 0, or
 * -1, error reported.
 */
int builds_read_again(struct builds *, const char *file, bool quiet);

#endif
