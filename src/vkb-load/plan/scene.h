/*
 * A scene is the scenarios of a test group, which run in order on one server. A
 * case has the name of its scene ('scene') and its position in it ('step'); a
 * case without these is a scene of its own.
 */
#ifndef SCENE_H
#define SCENE_H

#include <stdbool.h>
#include <stddef.h>

struct json;
struct plan;
struct plan_axes;

struct scene {
	size_t *v; /* indexes of its cases, by step */
	size_t n;
};

struct scenes {
	struct scene *v; /* in the order of their first cases */
	size_t n;
	size_t *of; /* the scene of each case */
	size_t *all;
};

/* Groups n cases into scenes; release with scenes_free. */
void scenes_make(struct scenes *, struct json *const *cases, size_t n);
void scenes_free(struct scenes *);

/* Does a case change the data or the state of the server? */
bool scene_changes_server(const struct json *cas);

/* Does a case flush or restart the server before it runs? */
bool scene_resets_server(const struct json *cas);

/*
 * Returns a name for the i-th group of a configuration, whose own name is
 * 'group'; caller frees.
 */
char *scene_name(const struct plan_axes *, const char *group, size_t i);

/*
 * Sets 'scene' and 'step' of the last case of the plan; its group begins at the
 * case 'first'. A repeated case gets an 'occurrence' number.
 */
void scene_place(struct plan *, size_t first, const char *name);

#endif
