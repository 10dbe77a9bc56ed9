/*
 * Parts of commands for people, by which vkb-build makes a build again.
 */
#ifndef REBUILD_H
#define REBUILD_H

#include <stdbool.h>

struct json;
struct str;

/* What the name of a commit in a command may have. */
#define REBUILD_WORD                                           \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" \
	"0123456789._/-"

enum { REBUILD_DIGITS = 12 }; /* of a commit */

/* Can the subject be built again: has it no module, or one for which
 * rebuild_add_options knows all options? */
bool rebuild_is_known(const struct json *subject);

/* Does the same command build both, apart from their commits? */
bool rebuild_is_same(const struct json *, const struct json *);

/* Adds the options of vkb-build that the subject was built with, each after a
 * blank, as in " --tls --module-build make --server 1f9c0ab21f9c". They name no
 * file of the machine, but for what rebuild_only_here says. */
void rebuild_add_options(struct str *, const struct json *subject);

/* Returns why the options are for the machine of the build alone, such as "its
 * server is a program of that machine"; or NULL. */
const char *rebuild_only_here(const struct json *subject);

#endif
