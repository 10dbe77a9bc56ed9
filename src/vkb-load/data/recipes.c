#include "recipes.h"
#include "err.h"
#include "intern.h"
#include "json.h"
#include "mem.h"
#include "proc.h"
#include "sink.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Calls 'fn' for each file of a case until it returns non-zero. Returns that.
 */
static int
each_file(const struct json *config, int (*fn)(void *, const char *), void *arg)
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

	each_file(config, add_recipe, &t);
	return t.to;
}

/* --- making the datasets */

#define LOOK_MS 100
#define GRACE_MS 5000

struct making {
	const struct json *recipes;
	struct intern *made; /* path and recipes of each */
	const volatile int *stop;
	char *why;
};

/* Returns the wait status, or -1 if it was not started or *stop ended it. */
static int
run_gendata(struct making *m, const char *dir, const char *name, int fd)
{
	char *program = proc_beside("vkb-gendata");
	const char *const argv[] = {
	    program, "-o", dir, "--files", name, "-", NULL};
	struct proc_spec spec = {
	    .argv = argv, .in = fd, .group = true, .death_signal = 15};
	struct proc *p = proc_start(&spec);
	int status = -1;

	free(program);
	if (!p)
		return -1;
	while (!*m->stop && !proc_wait(p, LOOK_MS, &status))
		;
	if (*m->stop) {
		proc_stop(p, GRACE_MS);
		status = -1;
	}
	proc_free(p);
	return status;
}

static int
make_dataset(
    struct making *m, const char *path, const char *name, const char *recipes)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	char *dir = slash ? mem_strn(path, len ? len : 1) : mem_str(".");
	char how[80];
	int fd = sink_memory(recipes, strlen(recipes)), status = -1;

	if (fd >= 0) {
		status = run_gendata(m, dir, name, fd);
		close(fd);
	}
	if (status)
		m->why = mem_printf("its dataset '%s': vkb-gendata %s", path,
		    status < 0 ? "could not be run"
			       : proc_ended(status, how, sizeof how));
	free(dir);
	return status ? -1 : 0;
}

static int
make_once(struct making *m, const char *path, const char *name)
{
	char *recipes = json_print(m->recipes);
	char *key = mem_printf("%s\n%s", path, recipes);
	int rc = 0;

	if (intern_find(m->made, key, strlen(key)) == intern_count(m->made)) {
		rc = make_dataset(m, path, name, recipes);
		if (rc == 0)
			intern_id(m->made, key);
	}
	free(key);
	free(recipes);
	return rc;
}

static int
check_dataset(void *arg, const char *path)
{
	struct making *m = arg;
	const char *place;
	const struct json *recipe = find_recipe(m->recipes, path, &place);
	const char *name = recipe ? json_key(recipe) : NULL;

	if (name && make_once(m, path, name) < 0)
		return -1;
	if (access(path, R_OK) == 0)
		return 0;
	m->why = name
	    ? mem_printf(
		  "its dataset '%s' was not written by vkb-gendata", path)
	    : mem_printf("its dataset '%s' cannot be read (%s), and no recipe "
			 "makes it",
		  path, strerror(errno));
	return -1;
}

char *
recipes_make(
    const struct json *cas, struct intern *made, const volatile int *stop)
{
	struct making m = {
	    .recipes = json_get(cas, "data"), .made = made, .stop = stop};

	each_file(json_get(cas, "config"), check_dataset, &m);
	return m.why;
}
