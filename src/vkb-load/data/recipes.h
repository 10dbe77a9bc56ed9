/* Recipes of a configuration: how vkb-gendata makes its datasets. */
#ifndef RECIPES_H
#define RECIPES_H

struct json;

/*
 * Returns the recipes of the files that a case names, as a configuration for
 * vkb-gendata: {"dataset_generation": ..., "query_generation": ...}; NULL if
 * there are none. Owned by the caller.
 */
struct json *recipes_collect(const struct json *cfg, const struct json *config);

/* Returns the name of the recipe that makes a file, or NULL. Borrowed. */
const char *recipes_name(const struct json *recipes, const char *path);

/*
 * Calls 'fn' for each file of a case until it returns non-zero. Returns that.
 */
int recipes_files(const struct json *config,
    int (*fn)(void *arg, const char *path), void *arg);

#endif
