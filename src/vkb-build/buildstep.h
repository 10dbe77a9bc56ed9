/*
 * What to build: valkey-server, valkey-cli and valkey-benchmark from a tree of
 * Valkey, and a module by a command of the user against a finished server.
 */
#ifndef BUILDSTEP_H
#define BUILDSTEP_H

#include "target.h"

/* How to build something from sources. */
struct buildstep {
	const struct build_target *target; /* the sources */
	char key[65];                      /* of the finished build */
	char kind[65];     /* of trees whose objects can be reused */
	bool fresh;        /* always from an empty tree */
	const char **argv; /* command, run in the tree; NULL-terminated */
	char **env;        /* more NAME=VALUE, NULL-terminated; or NULL */
	/* Copies artifacts from 'tree' to 'dir', and describes them in the
	 * note. Returns 0, or -1 after reporting the error. */
	int (*collect)(const struct buildstep *, const char *tree,
	    const char *dir, struct json *note);
	const void *arg; /* for collect */
};

struct module {
	struct build_target target; /* its work tree; free with target_free */
	const char *command, *file; /* file: what it makes, or NULL */
};

/* Make the step of the server, and of a module for the server in the build
 * record; free with buildstep_free. */
void buildstep_make_server(
    struct buildstep *, const struct build_target *, const struct flags *);
void buildstep_make_module(struct buildstep *, struct module *,
    const struct json *build, const char *server_key);
void buildstep_free(struct buildstep *); /* what it owns */

/* Adds the module to the subject of a build record. */
void buildstep_describe_module(const struct module *, struct json *subject);

#endif
