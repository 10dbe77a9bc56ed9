/* A module, built by a command of the user against a finished server. */
#ifndef MODULE_H
#define MODULE_H

#include "target.h"

struct cache;
struct json;
struct recipe;

struct module {
	struct build_target target; /* its work tree */
	const char *command, *file;
};

/*
 * 'text' is DIR, a work tree; 'file' (or NULL) is what the command makes there.
 * Returns 0, or -1 after reporting the error; then, too, call target_free.
 */
int module_open(struct module *, const struct cache *, const char *text,
    const char *command, const char *file);

/* Makes a recipe for the server in the build record; free with
 * build_free_recipe. */
void module_recipe(struct recipe *, struct module *, const struct json *build,
    const char *server_key);

/* Adds the module to the subject of a build record. */
void module_subject(const struct module *, struct json *subject);

#endif
