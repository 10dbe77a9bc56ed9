#include "benchcase.h"
#include "config.h"
#include "json.h"
#include "mem.h"
#include "plan.h"
#include "scene.h"
#include "str.h"
#include "vkb-load/data/recipes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One scenario, in one iteration of its group, in one of its variants. */
struct take {
	const struct json *group, *s;
	const char *name;    /* of the group */
	const char *scene;   /* name of the group's scene */
	size_t first;        /* index of the group's first case */
	const char *id;      /* with the suffix of the variant */
	const char *flag;    /* added to the command; may be "" */
	long long iteration; /* 0: the group does not have it */
	const struct json *rate;
};

/* Returns a string as it is, another value printed. Caller frees. */
static char *
format_name(const struct json *v)
{
	if (!v)
		return mem_str("unknown");
	return json_str(v) ? mem_str(json_str(v)) : json_print(v);
}

/*
 * Replaces "{iteration}" by the number, a long long, unless it is 0. Caller
 * frees.
 */
static char *
expand_iteration(const char *s, const void *number)
{
	static const char mark[] = "{iteration}";
	long long iteration = *(const long long *)number;
	struct str out = {0};
	const char *at;

	while (iteration && (at = strstr(s, mark))) {
		str_addn(&out, s, (size_t)(at - s));
		str_printf(&out, "%lld", iteration);
		s = at + sizeof mark - 1;
	}
	str_add(&out, s);
	return str_take(&out);
}

/* Copies a text or a list of texts, unless it is empty. */
static void
set_expanded(struct json *to, const char *key, const struct json *from,
    const struct take *y)
{
	const struct json *v = json_get(from, key);

	if (json_str(v) || json_len(v))
		json_set(to, key,
		    plan_change_texts(v, expand_iteration, &y->iteration));
}

static const char *
get_phase(const struct json *s)
{
	const char *type = json_get_str(s, "type");

	if (!type)
		return "test";
	if (strcmp(type, "ingestion") == 0) /* older name */
		return "write";
	return strcmp(type, "search") == 0 ? "read" : type;
}

/* A test is looked up in upper case, a command is unchanged. Caller frees. */
static char *
make_command(struct plan *p, const struct take *x, const struct json *s)
{
	const char *test = json_get_str(s, "test");
	const char *text = json_get_str(s, "command");
	char *name, *it;

	if (json_get(s, "mix"))
		return mem_str(BENCH_CASE_MIX);
	if (!test) {
		it = expand_iteration(text ? text : "mixed", &x->iteration);
		if (!*x->flag || !text)
			return it;
		name = mem_printf("%s %s", it, x->flag);
		free(it);
		return name;
	}
	name = str_upper(test);
	it = mem_printf("scenario '%s'", x->id);
	plan_check_command(p, name, it, "test", test);
	free(it);
	return name;
}

static void
set_length(const struct plan_axes *x, const struct json *s, struct json *c)
{
	const struct json *d = json_get(s, "duration");
	const struct json *n = json_get(s, "requests");

	if (!n)
		n = json_get(s, "maxdocs");
	json_del(c, "requests");
	if (d)
		json_set(c, "duration_s", json_dup(d));
	else if (n)
		json_set(c, "requests", json_dup(n));
	else
		json_set_num(
		    c, "duration_s", json_get_num(x->cfg, "duration", 60));
}

/* Returns writers or readers of a mixed scenario with inherited values. */
static struct json *
list_parts(struct plan *p, const struct take *x, const char *side)
{
	static const char *const inherited[] = {
	    "duration", "pipeline", "cluster_execution"};
	const struct json *list = json_get(x->s, side);
	bool reads = strcmp(side, "reads") == 0;
	struct take y = *x;
	struct json *out, *part;
	char *text;

	if (!list)
		return NULL;
	if (!reads)
		y.flag = "";
	out = json_array();
	for (const struct json *v = json_first(list); v; v = json_next(v)) {
		part = json_dup(v);
		json_del(part, "description");
		json_del(part, "test");
		text = make_command(p, &y, v);
		json_set_str(part, "command", text);
		free(text);
		set_expanded(part, "dataset", v, x);
		for (size_t i = 0; i < 3; i++)
			if (!json_get(v, inherited[i]))
				json_set(part, inherited[i],
				    json_dup(json_get(x->s, inherited[i])));
		if (!json_get(part, "pipeline"))
			json_set_num(part, "pipeline", 1);
		json_push(out, part);
	}
	return out;
}

/* Copies the members of 'over' into an object, and into objects in it. */
static void
merge_object(struct json *into, const struct json *over)
{
	struct json *old;

	for (const struct json *m = json_first(over); m; m = json_next(m)) {
		old = json_get(into, json_key(m));
		if (old && json_type(old) == JSON_OBJECT &&
		    json_type(m) == JSON_OBJECT)
			merge_object(old, m);
		else
			json_set(into, json_key(m), json_dup(m));
	}
}

static void
merge_profiling(struct json *c, const struct json *over)
{
	struct json *set = json_get(c, "profiling");

	if (!set || !over)
		return;
	merge_object(set, over);
	if (!json_get_bool(set, "enabled", false))
		json_del(c, "profiling");
}

static double
get_keyspace(const struct plan_axes *x, const struct json *s)
{
	const struct json *list = json_get(x->cfg, "keyspacelen");

	if (json_get(s, "keyspacelen"))
		return json_get_num(s, "keyspacelen", 0);
	return list ? json_num(json_first(list), 1000000) : 1000000;
}

/* Sets the warm-up in seconds, on own connections or those of the run. */
static void
set_warmup(const struct take *y, struct json *c)
{
	double apart = json_get_num(y->s, "warmup", 0);

	json_set_num(c, "warmup_s",
	    apart > 0 ? apart : json_get_num(y->s, "warmup_inline", 0));
	if (apart <= 0)
		return;
	json_set_bool(c, "warmup_apart", true);
	if (json_get_bool(y->s, "warmup_writes_only", false))
		json_set_bool(c, "warmup_writes_only", true);
}

static struct json *
make_identity(struct plan *p, const struct plan_axes *x, const struct take *y)
{
	static const char *const expanded[] = {"dataset", "setup_commands",
	    "teardown_commands", "populate_with", "mix"};
	char *text = mem_printf("%s_%s", y->name, y->id);
	struct json *c = json_object();

	json_set_str(c, "test_id", text);
	free(text);
	json_set_str(c, "test_phase", get_phase(y->s));
	json_set(c, "group", json_dup(json_get(y->group, "group")));
	json_set_str(c, "scenario", y->id);
	text = make_command(p, y, y->s);
	json_set_str(c, "command", text);
	free(text);
	if (json_get_str(y->s, "mix")) {
		text = mem_printf("scenario '%s'", y->id);
		plan_check_mix(p, json_get_str(y->s, "mix"), text);
		free(text);
	}
	config_copy_identity(c, "scenario", y->s);
	json_set_num(c, "keyspacelen", get_keyspace(x, y->s));
	set_length(x, y->s, c);
	set_warmup(y, c);
	if (y->iteration)
		json_set_num(c, "iteration", (double)y->iteration);
	for (size_t i = 0; i < sizeof expanded / sizeof *expanded; i++)
		set_expanded(c, expanded[i], y->s, y);
	json_set(c, "writes", list_parts(p, y, "writes"));
	json_set(c, "reads", list_parts(p, y, "reads"));
	json_set(c, "rate", json_dup(y->rate));
	return c;
}

/* Returns what the Python tool's dashboards filter by, or NULL. */
static struct json *
make_about(const struct plan *p, const struct take *y)
{
	const char *file = strrchr(p->file, '/');
	const char *text = json_get_str(y->s, "description");
	struct json *a = json_object();
	char *both;

	if (strcmp(p->file, "stdin") != 0)
		json_set_str(a, "config_name", file ? file + 1 : p->file);
	json_set_str(
	    a, "group_description", json_get_str(y->group, "description"));
	both = text && *y->flag ? mem_printf("%s + %s", text, y->flag) : NULL;
	json_set_str(a, "scenario_description", both ? both : text);
	free(both);
	if (json_first(a))
		return a;
	json_free(a);
	return NULL;
}

static void
add_case(struct plan *p, const struct plan_axes *x, const struct take *y)
{
	bool listed = plan_is_listed(p->want->scenarios, y->id);
	const struct json *seed = json_get(y->s, "seed");
	struct json *cas = plan_add(p, x, make_identity(p, x, y));

	if (!cas)
		return;
	merge_profiling(json_get(cas, "config"), json_get(y->s, "profiling"));
	json_set(cas, "about", make_about(p, y));
	if (seed && json_type(seed) == JSON_NUMBER)
		json_set(json_get(cas, "client"), "seed", json_dup(seed));
	json_set(cas, "data", recipes_collect(x->cfg, json_get(cas, "config")));
	scene_place(p, y->first, y->scene);
	if (!listed)
		json_set_bool(cas, "unlisted", true);
}

static void
expand_rates(struct plan *p, const struct plan_axes *x, struct take *y)
{
	const struct json *rate = json_get(y->s, "rate");

	if (!rate)
		rate = json_get(x->cfg, "rate");
	y->rate = rate;
	if (!rate || json_type(rate) != JSON_ARRAY) {
		add_case(p, x, y);
		return;
	}
	for (y->rate = json_first(rate); y->rate && !p->full;
	     y->rate = json_next(y->rate))
		add_case(p, x, y);
}

/* Has the scenario, or a reader, a command to which options can be added? */
static bool
accepts_options(const struct json *s)
{
	const struct json *j = json_first(json_get(s, "reads"));

	for (; j; j = json_next(j))
		if (json_get(j, "command"))
			return true;
	return json_get(s, "command") != NULL;
}

static void
expand_options(struct plan *p, const struct plan_axes *x, struct take *y)
{
	const struct json *m = json_first(json_get(y->s, "options"));
	char *base = format_name(json_get(y->s, "id")), *id;

	y->flag = "";
	y->id = base;
	if (!m)
		expand_rates(p, x, y);
	else if (!accepts_options(y->s))
		plan_report_problem(p,
		    "scenario '%s': 'options' need a 'command', but there is "
		    "only a 'test'; replace it with a 'command' as in "
		    "'GET key:__rand_int__'",
		    base);
	for (; m && !p->full; m = json_next(m)) {
		id = mem_printf("%s%s", base, json_str(m));
		y->id = id;
		y->flag = json_key(m);
		expand_rates(p, x, y);
		free(id);
	}
	free(base);
}

static bool
runs_in_iteration(const struct json *s, long long iteration)
{
	const struct json *on = json_get(s, "on_iterations");

	for (const struct json *m = json_first(on); m; m = json_next(m))
		if (json_num(m, 0) == (double)iteration)
			return true;
	return !on;
}

static void
expand_group(struct plan *p, const struct plan_axes *x, const struct json *g,
    const char *name, size_t at)
{
	long long n = (long long)json_get_num(g, "iterations", 0);
	char *scene = scene_name(x, name, at);
	struct take y = {
	    .group = g, .name = name, .scene = scene, .first = p->n};

	for (long long i = n ? 1 : 0; i <= n && !p->full; i++)
		for (y.s = json_first(json_get(g, "scenarios"));
		     y.s && !p->full; y.s = json_next(y.s)) {
			y.iteration = i;
			if (runs_in_iteration(y.s, i ? i : 1))
				expand_options(p, x, &y);
		}
	free(scene);
}

void
plan_expand_scenarios(struct plan *p, const struct plan_axes *x)
{
	const struct json *g = json_first(json_get(x->cfg, "test_groups"));
	char *name;

	for (size_t i = 0; g && !p->full; g = json_next(g), i++) {
		name = format_name(json_get(g, "group"));
		if (plan_is_listed(p->want->groups, name))
			expand_group(p, x, g, name, i);
		free(name);
	}
}
