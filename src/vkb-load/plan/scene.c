#include "scene.h"
#include "json.h"
#include "mem.h"
#include "intern.h"
#include "plan.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

bool
scene_resets_server(const struct json *cas)
{
	const struct json *c = json_get(cas, "config");

	return json_get_bool(c, "flush_before", false) ||
	    json_get_bool(c, "restart_before", false);
}

bool
scene_changes_server(const struct json *cas)
{
	const struct json *c = json_get(cas, "config");
	const char *phase = json_get_str(c, "test_phase");

	return !phase || strcmp(phase, "read") != 0 ||
	    scene_resets_server(cas) || json_get(c, "setup_commands") ||
	    json_get(c, "teardown_commands") || json_get(c, "populate_with");
}

/* Groups may share a number, so the name has a hash of their configuration. */
char *
scene_name(const struct plan_axes *x, const char *group, size_t i)
{
	const struct json *parts[] = {x->cfg, x->set, x->profiling};
	const double axes[] = {x->cluster, x->tls, x->io_threads, (double)i};
	unsigned long long h = STR_HASH;
	struct str s = {0};

	for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
		jsonpublic_canonical(&s, parts[k]);
		str_addc(&s, '\n');
	}
	h = str_hash(h, s.s, s.len);
	h = str_hash(h, axes, sizeof axes);
	str_free(&s);
	return mem_printf("%s-%012llx", group, h & 0xffffffffffffULL);
}

/* Adds a case to the group that begins at 'first'; false if it has it. */
static bool
add_if_new(struct plan *p, size_t first, const struct json *config)
{
	struct str s = {0};
	size_t before;

	if (!p->placed)
		p->placed = intern_new();
	before = intern_count(p->placed);
	str_printf(&s, "%zu\n", first);
	json_canonical(&s, config);
	intern_id(p->placed, s.s);
	str_free(&s);
	return intern_count(p->placed) > before;
}

void
scene_place(struct plan *p, size_t first, const char *name)
{
	struct json *cas = p->cases[p->n - 1], *c = json_get(cas, "config");
	double n = 1;

	while (!add_if_new(p, first, c))
		json_set_num(c, "occurrence", ++n);
	json_set_str(cas, "scene", name);
	json_set_num(cas, "step", (double)(p->n - first));
}

struct placed {
	size_t scene, i;
	double step;
};

static int
compare_by_place(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->scene != y->scene)
		return x->scene < y->scene ? -1 : 1;
	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

void
scenes_make(struct scenes *s, struct json *const *cases, size_t n)
{
	struct placed *p = mem_array(n + 1, sizeof *p);
	struct intern *names = intern_new();
	const char *name;
	char *own;

	*s = (struct scenes){.v = mem_array(n + 1, sizeof *s->v),
	    .of = mem_array(n + 1, sizeof *s->of),
	    .all = mem_array(n + 1, sizeof *s->all)};
	for (size_t i = 0; i < n; i++) {
		name = json_get_str(cases[i], "scene");
		own = name ? mem_printf("=%s", name) : mem_printf("#%zu", i);
		p[i] = (struct placed){intern_id(names, own), i,
		    json_get_num(cases[i], "step", 0)};
		s->of[i] = p[i].scene;
		free(own);
	}
	qsort(p, n, sizeof *p, compare_by_place);
	for (size_t i = 0; i < n; i++) {
		s->all[i] = p[i].i;
		if (!s->v[p[i].scene].n++)
			s->v[p[i].scene].v = &s->all[i];
		s->n = p[i].scene + 1;
	}
	free(p);
	intern_free(names);
}

void
scenes_free(struct scenes *s)
{
	free(s->v);
	free(s->of);
	free(s->all);
	*s = (struct scenes){0};
}
