/*
 * Scenes: the scenarios of a test group, which follow each other on one server.
 * A case says which scene it is of ('scene'), and where in it ('step'); a case
 * without is a scene of its own.
 */
#ifndef SCENE_H
#define SCENE_H

#include <stdbool.h>
#include <stddef.h>

struct json;
struct plan;
struct plan_axes;

struct scene {
	size_t *v; /* its cases, by step; their indexes */
	size_t n;
};

struct scenes {
	struct scene *v; /* in the order of their first cases */
	size_t n;
	size_t *of; /* each case: its scene */
	size_t *all;
};

/* Of n cases; scenes_free in any case. */
void scenes_make(struct scenes *, struct json *const *cases, size_t n);
void scenes_free(struct scenes *);

/* Does a case leave the server other than it was? */
bool scene_changes(const struct json *cas);

/* Does it begin with a server as it is after its start? */
bool scene_resets(const struct json *cas);

/* A name for the i-th group of a configuration; caller frees with free(). */
char *scene_name(const struct plan_axes *, const struct json *group, size_t i);

/*
 * Gives the last case of the plan its place behind those from 'first' on. One
 * that is the same as an earlier one is another occurrence of it.
 */
void scene_place(struct plan *, size_t first, const char *name);

#endif
