#include "recipes.h"
#include "json.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const char *const places[] = {"dataset_generation", "query_generation"};

static const char *
base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static size_t
stem(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? (size_t)(dot - name) : strlen(name);
}

/* foo.csv with vectors is written as foo.npy, beside it or instead. */
static bool
makes(const char *key, const char *name)
{
	return strcmp(key, name) == 0 ||
	    (strcmp(name + stem(name), ".npy") == 0 &&
		stem(key) == stem(name) && strncmp(key, name, stem(name)) == 0);
}

/* Exact names go before related ones. */
static const struct json *
find(const struct json *recipes, const char *path, const char **place)
{
	for (int exact = 1; exact >= 0; exact--)
		for (size_t i = 0; i < 2; i++) {
			const struct json *m =
			    json_first(json_get(recipes, places[i]));

			for (; m; m = json_next(m))
				if (exact ? !strcmp(json_key(m), base(path))
					  : makes(json_key(m), base(path))) {
					*place = places[i];
					return m;
				}
		}
	return NULL;
}

const char *
recipes_name(const struct json *recipes, const char *path)
{
	const char *place;
	const struct json *m = find(recipes, path, &place);

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

struct taking {
	const struct json *cfg;
	struct json *to;
};

/* With what it is made from in turn. */
static int
take(void *arg, const char *path)
{
	struct taking *t = arg;
	const char *place, *source;
	const struct json *m = find(t->cfg, path, &place);

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
	return source ? take(t, source) : 0;
}

struct json *
recipes_of(const struct json *cfg, const struct json *config)
{
	struct taking t = {.cfg = cfg};

	recipes_files(config, take, &t);
	return t.to;
}
