#include "environment.h"
#include "err.h"
#include "json.h"
#include "jsonl.h"
#include "markup.h"
#include "mem.h"
#include "record.h"
#include "stats.h"
#include "str.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 60 /* bytes shown of a value */

/* Properties of runs, not of the machine. */
static const char run_properties[] =
    "benchmark_tool_version,benchmark_tool_sha256,client_cpus,server_cpus,"
    "remote,emulated,module_sha256";

/* Measured values, and how far apart they may be, absolute or relative. The
 * first are those of runs only: env records have counts since the boot. */
static const struct measure {
	const char *name;
	double apart, relative;
} measures[] = {{"thermal_throttles", 0, 0}, {"foreign_cpu_percent", 5, 0},
    {"cgroup_throttled_percent", 1, 0}, {"steal_percent", 1, 0},
    {"freq_mhz", 0, .02}, {"temperature_c", 15, 0}, {"busy_percent", 10, 0},
    {"swap_used_mb", 1, 0}};

#define MEASURES (sizeof measures / sizeof *measures)
#define OF_RUNS 3

struct values {
	double *v;
	size_t n, cap;
};

struct environment {
	const char *file;
	struct json *settings; /* name: array of its different values */
	struct values measured[MEASURES];
	size_t envs, runs;
};

static bool
has_value(const struct json *value, const struct json *list)
{
	for (const struct json *j = json_first(list); j; j = json_next(j))
		if (json_equal(j, value))
			return true;
	return false;
}

static void
add_value(struct environment *s, const char *name, const struct json *value)
{
	struct json *list = json_get(s->settings, name);

	if (!list) {
		json_set(s->settings, name, json_array());
		list = json_get(s->settings, name);
	}
	if (!has_value(value, list))
		json_push(list, json_dup(value));
}

static void
add_values(struct environment *s, const struct json *env)
{
	for (const struct json *j = json_first(env); j; j = json_next(j))
		add_value(s, json_key(j), j);
}

static void
add_measures(struct environment *s, const struct json *from, size_t i)
{
	struct values *m;
	const struct json *j;
	double v;

	for (; i < MEASURES; i++) {
		j = json_get(from, measures[i].name);
		v = json_num(json_get(j, "median"), json_num(j, NAN));
		if (isnan(v))
			continue;
		m = &s->measured[i];
		*MEM_ADD(m->v, m->n, m->cap) = v;
	}
}

static void
add_record(struct environment *s, const struct json *rec)
{
	const struct json *j;

	if (record_is(rec, "env")) {
		s->envs++;
		add_values(s, json_get(rec, "env"));
		add_measures(s, json_get(rec, "now"), OF_RUNS);
	} else if (record_is(rec, "run") || record_is(rec, "summary")) {
		s->runs++;
		add_values(s, json_get(rec, "env"));
		add_measures(s, json_get(rec, "metrics"), 0);
		for (j = json_first(json_get(rec, "env_varied")); j;
		     j = json_next(j)) {
			struct json *many = json_string("several values");

			if (json_str(j))
				add_value(s, json_str(j), many);
			json_free(many);
		}
	}
}

struct environment *
environment_read(const char *file)
{
	struct environment *s = mem_new(sizeof *s);
	struct jsonl *in = jsonl_open(&file, 1);
	struct json *rec;
	bool bad = false;
	int k;

	s->file = file;
	s->settings = json_object();
	while ((k = record_next(in, &rec)) != 0) {
		bad |= k < 0;
		if (k > 0)
			add_record(s, rec);
		json_free(rec);
	}
	jsonl_close(in);
	if (!bad)
		return s;
	environment_free(s);
	return NULL;
}

void
environment_free(struct environment *s)
{
	if (!s)
		return;
	json_free(s->settings);
	for (size_t i = 0; i < MEASURES; i++)
		free(s->measured[i].v);
	free(s);
}

/* Returns true if both sides have one value, the same. */
static bool
is_same_value(const struct json *a, const struct json *b)
{
	return json_len(a) == 1 && json_len(b) == 1 &&
	    has_value(json_first(a), b);
}

static void
show_value(struct str *out, const struct json *j)
{
	struct str s = {0}, cut = {0};

	if (json_str(j))
		str_add(&s, *json_str(j) ? json_str(j) : "none");
	else
		json_append(&s, j);
	markup_cut(&cut, s.s, SHOWN);
	str_visible(out, cut.s);
	str_free(&s);
	str_free(&cut);
}

static void
show_side(struct str *out, const struct json *list)
{
	if (!list)
		str_add(out, "unknown");
	for (const struct json *j = json_first(list); j; j = json_next(j)) {
		if (j != json_first(list))
			str_add(out, " and ");
		show_value(out, j);
	}
}

static void
show_difference(struct str *out, const char *name, const struct json *a,
    const struct json *b)
{
	str_visible(out, name);
	str_add(out, ": ");
	show_side(out, a);
	str_add(out, " against ");
	show_side(out, b);
	str_addc(out, '\n');
}

/*
 * Returns true if a value on one side only is a difference: both sides have
 * records of the kind that states it.
 */
static bool
absence_differs(
    const struct environment *a, const struct environment *b, const char *name)
{
	if (str_has_part(run_properties, name, ','))
		return a->runs && b->runs;
	return (a->envs > 0) == (b->envs > 0);
}

struct result {
	size_t equal, differ;
	struct str unknown;
};

static void
compare_setting(struct str *out, struct result *r, const struct environment *a,
    const struct environment *b, const char *name)
{
	const struct json *x = json_get(a->settings, name);
	const struct json *y = json_get(b->settings, name);

	if (is_same_value(x, y))
		r->equal++;
	else if ((x && y) || absence_differs(a, b, name)) {
		r->differ++;
		show_difference(out, name, x, y);
	} else {
		str_printf(&r->unknown, "%s", r->unknown.len ? ", " : "");
		str_visible(&r->unknown, name);
	}
}

static void
compare_measure(struct str *out, struct result *r, const struct environment *a,
    const struct environment *b, size_t i)
{
	const struct measure *m = &measures[i];
	double x = stats_middle(a->measured[i].v, a->measured[i].n);
	double y = stats_middle(b->measured[i].v, b->measured[i].n);

	if (isnan(x) || isnan(y))
		return;
	if (fabs(x - y) <= fmax(m->apart, m->relative * fmax(x, y))) {
		r->equal++;
		return;
	}
	r->differ++;
	str_printf(out, "%s: %.4g against %.4g\n", m->name, x, y);
}

int
environment_compare(
    struct str *out, const struct environment *a, const struct environment *b)
{
	const struct environment *const both[] = {a, b};
	struct result r = {0};
	const struct json *j;

	for (int i = 0; i < 2; i++)
		if (!json_len(both[i]->settings))
			return err_fail("'%s' has no state of its machine; "
					"give env, run or summary records",
			    both[i]->file);
	for (j = json_first(a->settings); j; j = json_next(j))
		compare_setting(out, &r, a, b, json_key(j));
	for (j = json_first(b->settings); j; j = json_next(j))
		if (!json_get(a->settings, json_key(j)))
			compare_setting(out, &r, a, b, json_key(j));
	for (size_t i = 0; i < MEASURES; i++)
		compare_measure(out, &r, a, b, i);
	if (r.differ + r.equal == 0) {
		err_say("no value is known of both sides: %s", r.unknown.s);
		str_free(&r.unknown);
		return -1;
	}
	if (r.differ)
		str_printf(out, "not comparable: %zu of %zu values differ",
		    r.differ, r.differ + r.equal);
	else
		str_printf(out, "comparable: %zu values are equal", r.equal);
	if (r.unknown.len)
		str_printf(out, "; known of one side only: %s", r.unknown.s);
	str_addc(out, '\n');
	str_free(&r.unknown);
	return r.differ == 0;
}
