#include "scaling.h"
#include "casename.h"
#include "caseset.h"
#include "json.h"
#include "mem.h"
#include "model.h"
#include "intern.h"
#include "str.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the numeric keys that differ between configs; the caller frees it. */
static struct intern *
find_varying_keys(const struct model *m)
{
	struct intern *keys = intern_new(), *varies = intern_new();
	double *first = NULL;
	size_t cap = 0, n = 0;

	for (size_t i = 0; i < m->ncases; i++) {
		const struct json *j = json_first(m->cases[i]->config);

		for (; j; j = json_next(j)) {
			double v = json_num(j, NAN);
			size_t id;

			if (isnan(v))
				continue;
			id = intern_id(keys, json_key(j));
			if (id == n) {
				first = mem_grow(first, n, &cap, sizeof *first);
				first[n++] = v;
			} else if (first[id] != v)
				intern_id(varies, json_key(j));
		}
	}
	free(first);
	intern_free(keys);
	return varies;
}

static int
compare_by_x(const void *a, const void *b)
{
	const struct scaling_point *x = a, *y = b;

	return x->x < y->x ? -1 : x->x > y->x;
}

static void
free_group(struct scaling_group *g)
{
	free(g->key);
	free(g->name);
	free(g->points);
}

/* Adds all groups of two or more cases that differ in 'key' only. */
static void
add_groups(struct scaling *s, const struct model *m, const char *key)
{
	struct caseset *ids = caseset_new();
	struct json **rest = mem_array(m->ncases + 1, sizeof *rest);
	struct casename *names;
	size_t from = s->n, nrest = 0, to = from;

	for (size_t i = 0; i < m->ncases; i++) {
		const struct kase *k = m->order[i];
		double x = json_get_num(k->config, key, NAN);
		struct scaling_group *g;
		struct json *config;
		size_t id;

		if (isnan(x))
			continue;
		config = json_dup(k->config);
		json_del(config, key);
		/* A scenario of another size has another name. */
		if (strcmp(key, "data_size") == 0 &&
		    json_get(config, "command")) {
			json_del(config, "test_id");
			json_del(config, "scenario");
		}
		id = caseset_add_value(ids, config);
		if (id == nrest) {
			s->v = mem_grow(s->v, s->n, &s->cap, sizeof *s->v);
			s->v[s->n++] =
			    (struct scaling_group){.key = mem_str(key)};
			rest[nrest++] = config;
		} else
			json_free(config);
		g = &s->v[from + id];
		g->points =
		    mem_grow(g->points, g->n, &g->cap, sizeof *g->points);
		g->points[g->n++] = (struct scaling_point){x, k};
	}
	names = casename_new((const struct json *const *)rest, nrest);
	for (size_t i = 0; i < nrest; i++) {
		struct scaling_group *g = &s->v[from + i];

		if (g->n < 2)
			free_group(g);
		else {
			g->name = casename_of(names, rest[i]);
			qsort(g->points, g->n, sizeof *g->points, compare_by_x);
			s->v[to++] = *g;
		}
		json_free(rest[i]);
	}
	s->n = to;
	casename_free(names);
	caseset_free(ids);
	free(rest);
}

struct scaling *
scaling_new(const struct model *m)
{
	struct scaling *s = mem_new(sizeof *s);
	struct intern *keys = find_varying_keys(m);

	for (size_t i = 0; i < intern_count(keys); i++)
		add_groups(s, m, intern_text(keys, i));
	intern_free(keys);
	return s;
}

void
scaling_free(struct scaling *s)
{
	for (size_t i = 0; s && i < s->n; i++)
		free_group(&s->v[i]);
	if (s)
		free(s->v);
	free(s);
}

bool
scaling_is_by_rate(const struct scaling_group *g)
{
	return strcmp(g->key, "rate") == 0;
}

bool
scaling_is_by_size(const struct scaling_group *g)
{
	return strcmp(g->key, "data_size") == 0;
}
