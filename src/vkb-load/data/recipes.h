/* Recipes of a configuration: how vkb-gendata makes its datasets. */
#ifndef RECIPES_H
#define RECIPES_H

struct intern;
struct json;

/*
 * Returns the recipes of the files that a case names, as a configuration for
 * vkb-gendata: {"dataset_generation": ..., "query_generation": ...}; NULL if
 * there are none. Owned by the caller.
 */
struct json *recipes_collect(const struct json *cfg, const struct json *config);

/*
 * Runs vkb-gendata for each dataset of a case that is not in 'made' (empty at
 * first), and adds it there. Returns NULL if all files can be read, else why
 * not; caller frees. *stop ends it.
 */
char *recipes_make(
    const struct json *cas, struct intern *made, const volatile int *stop);

#endif
