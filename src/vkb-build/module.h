/* A module, by a command of its own, against a server that was built. */
#ifndef MODULE_H
#define MODULE_H

#include "goal.h"

struct cache;
struct json;
struct recipe;

struct module {
	struct goal goal; /* its work tree */
	const char *command, *file;
};

/*
 * 'text' is DIR, a work tree; 'file' (or NULL) is what the command makes there.
 * 0, or -1 and said; module_free in either case.
 */
int module_open(struct module *, const struct cache *, const char *text,
    const char *command, const char *file);
void module_free(struct module *);

/*
 * Makes it against the server of the build record; module_recipe_free() in the
 * end. 0, or -1 and said.
 */
int module_recipe(struct recipe *, struct module *, const struct json *build,
    const char *server_key);
void module_recipe_free(struct recipe *);

/* What the subject of such a build says of it. */
void module_subject(const struct module *, struct json *subject);

#endif
