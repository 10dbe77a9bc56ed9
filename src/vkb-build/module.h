/* A module, built by a command of the user against a finished server. */
#ifndef MODULE_H
#define MODULE_H

#include "target.h"

struct json;
struct recipe;

struct module {
	struct build_target target; /* its work tree; free with target_free */
	const char *command, *file; /* file: what it makes, or NULL */
};

/* Makes a recipe for the server in the build record; free with
 * build_free_recipe. */
void module_make_recipe(struct recipe *, struct module *,
    const struct json *build, const char *server_key);

/* Adds the module to the subject of a build record. */
void module_describe(const struct module *, struct json *subject);

#endif
