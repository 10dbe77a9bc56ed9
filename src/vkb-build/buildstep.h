/*
 * How to build something from sources; and the step of valkey-server,
 * valkey-cli and valkey-benchmark.
 */
#ifndef BUILDSTEP_H
#define BUILDSTEP_H

#include "target.h"

#define BUILDSTEP_INCLUDE "include" /* folder of valkeymodule.h in a build */

struct buildstep {
	const struct build_target *target; /* the sources */
	char key[65];                      /* of the finished build */
	char kind[65];     /* of trees whose objects can be reused: those of
			    * the same user, too */
	bool fresh;        /* always from an empty tree */
	const char **argv; /* command, run in the tree; NULL-terminated */
	char **env;        /* more NAME=VALUE, NULL-terminated; or NULL */
	/* Copies artifacts from 'tree' to 'dir', and describes them in the
	 * note. Returns 0, or -1 after reporting the error. */
	int (*collect)(const struct buildstep *, const char *tree,
	    const char *dir, struct json *note);
	const void *arg; /* for collect */
};

/* Makes the step of the server; free with buildstep_free. */
void buildstep_make_server(
    struct buildstep *, const struct build_target *, const struct flags *);
void buildstep_free(struct buildstep *); /* what it owns */

/*
 * Notes the hash of the program and what it says of itself, which must be this
 * commit, unless that is "", and this allocator, unless that is NULL. Returns
 * 0, or -1 after reporting the error.
 */
int buildstep_describe_server(const char *server, const char *commit,
    const char *allocator, struct json *note);

struct json;

/*
 * Copies 'from' to NAME in 'dir' and lists it under 'key' (NULL: unlisted).
 * Returns 0, 1 if 'from' does not exist, or -1 after reporting an error.
 */
int buildstep_put(const char *dir, const char *name, const char *from,
    struct json *note, const char *key);

/* Writes the note, which a build must have. Returns 0; -1: error reported. */
int buildstep_write_note(const char *dir, const struct json *note);

/*
 * Copies the note in 'dir' and the paths of the files to 'rec', and marks the
 * build as used. Returns 1, or 0 if there is no note or a file has changed.
 */
int buildstep_find(const char *dir, struct json *rec);

#endif
