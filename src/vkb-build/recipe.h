/*
 * Recipes: valkey-server, valkey-cli and valkey-benchmark from a tree of
 * Valkey, and a module by a command of the user against a finished server.
 */
#ifndef RECIPE_H
#define RECIPE_H

#include "target.h"

/* How to build something from sources. */
struct recipe {
	const struct build_target *target; /* the sources */
	char key[65];                      /* of the finished build */
	char kind[65];     /* of trees whose objects can be reused */
	bool fresh;        /* always from an empty tree */
	const char **argv; /* command, run in the tree; NULL-terminated */
	char **env;        /* more NAME=VALUE, NULL-terminated; or NULL */
	/* Copies artifacts from 'tree' to 'dir', and describes them in the
	 * note. Returns 0, or -1 after reporting the error. */
	int (*collect)(const struct recipe *, const char *tree, const char *dir,
	    struct json *note);
	const void *arg; /* for collect */
};

struct module {
	struct build_target target; /* its work tree; free with target_free */
	const char *command, *file; /* file: what it makes, or NULL */
};

/* Make the recipe of the server, and of a module for the server in the build
 * record; free with recipe_free. */
void recipe_make_server(
    struct recipe *, const struct build_target *, const struct flags *);
void recipe_make_module(struct recipe *, struct module *,
    const struct json *build, const char *server_key);
void recipe_free(struct recipe *); /* what it owns */

/* Adds the module to the subject of a build record. */
void recipe_describe_module(const struct module *, struct json *subject);

#endif
