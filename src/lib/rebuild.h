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
 * rebuild_add_module knows all options? */
bool rebuild_is_known(const struct json *subject);

/* Does the same command build both, apart from their commits? */
bool rebuild_is_same(const struct json *, const struct json *);

/* Adds the text 'before' and the options for the module of the subject, as in
 * " --module-build make --server 1f9c0ab21f9c"; nothing without a module. */
void rebuild_add_module(
    struct str *, const char *before, const struct json *subject);

#endif
