#include "recipes.h"
#include "json.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const char *const kinds[] = {"dataset_generation", "query_generation"};

static size_t
stem_len(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? (size_t)(dot - name) : strlen(name);
}

/* The recipe of foo.csv makes foo.npy if the data have vectors. */
static bool
makes_file(const char *key, const char *name)
{
	return strcmp(key, name) == 0 ||
	    (strcmp(name + stem_len(name), ".npy") == 0 &&
		stem_len(key) == stem_len(name) &&
		strncmp(key, name, stem_len(name)) == 0);
}

/* Finds the recipe of a file; exact names come before related ones. */
static const struct json *
find_recipe(const struct json *recipes, const char *path, const char **place)
{
	const char *slash = strrchr(path, '/'),
		   *name = slash ? slash + 1 : path;
	const struct json *m;

	for (size_t k = 0; k < 4; k++) {
		*place = kinds[k % 2];
		m = json_first(json_get(recipes, *place));
		for (; m; m = json_next(m))
			if (k < 2 ? strcmp(json_key(m), name) == 0
				  : makes_file(json_key(m), name))
				return m;
	}
	return NULL;
}

const char *
recipes_name(const struct json *recipes, const char *path)
{
	const char *place;
	const struct json *m = find_recipe(recipes, path, &place);

	return m ? json_key(m) : NULL;
}

int
recipes_files(
    const struct json *config, int (*fn)(void *, const char *), void *arg)
{
	static const char *const sides[] = {"writes", "reads"};
	const char *path = json_get_str(config, "dataset");
	int rc = path ? fn(arg, path) : 0;

	for (size_t i = 0; i < 2; i++) {
		const struct json *p = json_first(json_get(config, sides[i]));

		for (; p && rc == 0; p = json_next(p)) {
			path = json_get_str(p, "dataset");
			rc = path ? fn(arg, path) : 0;
		}
	}
	return rc;
}

struct recipe_copy {
	const struct json *cfg;
	struct json *to;
};

/* Adds the recipe of a file and those of its sources. */
static int
add_recipe(void *arg, const char *path)
{
	struct recipe_copy *t = arg;
	const char *place, *source;
	const struct json *m = find_recipe(t->cfg, path, &place);

	if (!m)
		return 0;
	if (!t->to)
		t->to = json_object();
	if (!json_get(t->to, place))
		json_set(t->to, place, json_object());
	if (json_get(json_get(t->to, place), json_key(m)))
		return 0;
	json_set(json_get(t->to, place), json_key(m), json_dup(m));
	source = json_get_str(m, "source");
	return source ? add_recipe(t, source) : 0;
}

struct json *
recipes_collect(const struct json *cfg, const struct json *config)
{
	struct recipe_copy t = {.cfg = cfg};

	recipes_files(config, add_recipe, &t);
	return t.to;
}
