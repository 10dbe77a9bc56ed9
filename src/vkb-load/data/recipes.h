/* How the datasets of a case are made, where its configuration says so. */
#ifndef RECIPES_H
#define RECIPES_H

struct json;

/*
 * What vkb-gendata needs to make the files that a case names, as a
 * configuration of its own: {"dataset_generation": ..., "query_generation":
 * ...}. The caller's; NULL: nothing is said of them.
 */
struct json *recipes_of(const struct json *cfg, const struct json *config);

/* The name in a recipe of the file at a path; NULL: none makes it. Borrowed. */
const char *recipes_name(const struct json *recipes, const char *path);

/* Calls 'fn' for each file that a case names; 0, or what was not 0. */
int recipes_files(const struct json *config,
    int (*fn)(void *arg, const char *path), void *arg);

#endif
