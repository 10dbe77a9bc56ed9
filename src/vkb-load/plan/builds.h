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

/*
 * Adds a build record, which it takes; one that failed is reported and counted.
 * 0, or -1, error reported: another build has the same names.
 */
int builds_add(struct builds *, struct json *rec, const char *where);

/* Has a build the names of this subject? */
bool builds_have(const struct builds *, const struct json *subject);

/* Adds one build: a binary (NULL: vkb-serve's default), a label or NULL. */
void builds_single(struct builds *, const char *path, const char *label);

/*
 * Sets the reference: a server, or a file with one build record. 0, or -1,
 * error reported.
 */
int builds_set_reference(struct builds *, const char *file);
/* Returns build i, of which number n is the reference. */
const struct json *builds_get(const struct builds *, size_t i);

/* Sets one module for all builds. 0, or -1, error reported. */
int builds_module(struct builds *, const char *file);
void builds_free(struct builds *);

/*
 * Appends what tells a subject from others: not what it learns from its server.
 */
void builds_add_key(struct str *, const struct json *subject);

#endif
