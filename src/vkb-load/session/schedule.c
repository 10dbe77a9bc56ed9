#include "schedule.h"
#include "casename.h"
#include "deciding.h"
#include "err.h"
#include "intern.h"
#include "json.h"
#include "mem.h"
#include "record.h"
#include "results.h"
#include "rng.h"
#include "str.h"
#include "vkb-load/case/engines.h"
#include "vkb-load/case/profiles.h"
#include "vkb-load/case/resultrecord.h"
#include "vkb-load/case/roles.h"
#include "vkb-load/data/dataset.h"
#include "vkb-load/plan/benchcase.h"
#include "vkb-load/plan/builds.h"
#include "vkb-load/plan/plan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Which cases several vkb-load can make together, each its part of the load. */

static char *
explain_role(const struct role *r, unsigned parts)
{
	const struct bench_load *l = &r->load;
	const struct engine_work *w = &l->work;

	if (l->slo)
		return mem_str("each part of '--client' would search a "
			       "capacity ('slo') of its own");
	if ((unsigned)w->clients < parts)
		return mem_printf("it has %d client%s, fewer than the %u "
				  "parts of '--client'",
		    w->clients, w->clients == 1 ? "" : "s", parts);
	if (w->requests > 0 && w->requests < parts)
		return mem_printf("it has fewer requests than the %u parts of "
				  "'--client'",
		    parts);
	if (w->keys.kind == KEYSPEC_LATEST)
		return mem_str("the latest keys are known to one vkb-load "
			       "only, so '--client' cannot share it");
	if (l->cluster && engine_is_ordered(w))
		return mem_str("'--client' cannot share the keys in sequence "
			       "of a cluster");
	return NULL;
}

/* Returns why a case cannot be shared by so many parts, or NULL. Caller frees.
 */
static char *
explain_parts(const struct bench_case *c, const struct roles *r, unsigned parts)
{
	const char *engine = bench_case_engine(c->config);
	char *why = NULL;

	if (strcmp(engine, BENCH_CASE_NATIVE) != 0)
		return mem_printf(
		    "'--client' is not for the engine '%s'", engine);
	for (size_t i = 0; i < r->n && !why; i++)
		why = explain_role(&r->v[i], parts);
	return why;
}

/* Why a server on another machine is of no use; caller frees. */
static char *
explain_elsewhere(const struct json *config)
{
	if (json_get_bool(config, "unixsocket", false))
		return mem_str("a unix socket does not lead to the other "
			       "machine of '--serve'");
	if (json_get_bool(config, "tls_mode", false))
		return mem_str("with TLS its certificates would be on the "
			       "other machine of '--serve'; start the server "
			       "there, and measure it with '--host'");
	return NULL;
}

/* Why the engine, or one part of the load, cannot run a case; caller frees. */
static void
explain_load(const struct schedule *a, const struct engine *e,
    const struct json *cas, char **why)
{
	struct bench_case c;
	struct roles roles;

	bench_case_fill(&c, cas);
	roles_make(&roles, &c, 0, 0);
	*why = a->parts ? explain_parts(&c, &roles, a->parts) : NULL;
	if (!*why)
		*why = e->cannot(e->self, &c, &roles);
	roles_free(&roles);
	bench_case_free(&c);
}

/* Why a case cannot be run, or NULL; caller frees. */
static char *
find_obstacle(const struct schedule *a, const struct json *cas)
{
	const struct engine *e = engines_find(a->engines, cas);
	char *text, *its;

	if (json_path(cas, "config.profiling") && !a->profiles->dir)
		return mem_str("its config.profiling needs '--profiles DIR'");
	if (!e)
		return mem_printf("there is no engine '%s'",
		    bench_case_engine(json_get(cas, "config")));
	for (const struct json *b = json_first(json_get(cas, "before")); b;
	     b = json_next(b)) {
		its = find_obstacle(a, b);
		if (!its)
			continue;
		text = mem_printf(
		    "'%s' before it: %s", json_get_str(b, "id"), its);
		free(its);
		return text;
	}
	its = json_get_bool(json_get(cas, "config"), "no_flush", false)
	    ? plan_explain_own_keys(cas)
	    : NULL;
	if (!its && a->elsewhere)
		its = explain_elsewhere(json_get(cas, "config"));
	if (!its)
		explain_load(a, e, cas, &its);
	return its;
}

static char *
make_datasets(
    const struct json *cas, struct intern *made, const volatile int *stop)
{
	const struct json *b = json_first(json_get(cas, "before"));
	char *why = NULL;

	for (; b && !why; b = json_next(b))
		why = dataset_make(b, made, stop);
	return why ? why : dataset_make(cas, made, stop);
}

/* After a case that cannot be run, a scene continues at the next reset. */
static int
check_scene(struct schedule *a, const struct plan *p, const struct scene *s,
    bool *good, struct intern *made, const volatile int *stop)
{
	const struct json *cas, *spoilt = NULL;
	char *why;
	int rc = 0;

	for (size_t i = 0; i < s->n; i++) {
		cas = p->cases[s->v[i]];
		if (scene_resets_server(cas))
			spoilt = NULL;
		why = find_obstacle(a, cas);
		if (!why && spoilt)
			why = mem_printf("'%s' before it cannot be run",
			    json_get_str(spoilt, "id"));
		if (!why)
			why = make_datasets(cas, made, stop);
		good[s->v[i]] = !why;
		if (why)
			rc = err_fail(
			    "%s: not run: %s", json_get_str(cas, "id"), why);
		if (why && !spoilt && scene_changes_server(cas))
			spoilt = cas;
		free(why);
	}
	return rc;
}

/* Returns the names of the cases for people. */
static char **
name_cases(const struct bench_case *cases, size_t n)
{
	const struct json **configs = mem_array(n + 1, sizeof *configs);
	char **v = mem_array(n + 1, sizeof *v);
	struct casename *names;

	for (size_t i = 0; i < n; i++)
		configs[i] = json_get(cases[i].record, "config");
	names = casename_new(configs, n);
	for (size_t i = 0; i < n; i++)
		v[i] = casename_of(names, configs[i]);
	casename_free(names);
	free(configs);
	return v;
}

int
schedule_init(
    struct schedule *a, const struct plan *p, const volatile int *stop)
{
	bool *good = mem_array(p->n + 1, sizeof *good);
	struct intern *made = intern_new();
	struct json **kept;
	struct scenes all;
	int rc = 0;

	scenes_make(&all, p->cases, p->n);
	for (size_t i = 0; i < all.n; i++)
		if (check_scene(a, p, &all.v[i], good, made, stop) < 0)
			rc = -1;
	intern_free(made);
	scenes_free(&all);
	a->others = p->others;
	a->cases = mem_array(p->n + 1, sizeof *a->cases);
	a->roles = mem_array(p->n + 1, sizeof *a->roles);
	kept = mem_array(p->n + 1, sizeof *kept);
	for (size_t i = 0; i < p->n; i++) {
		if (!good[i])
			continue;
		kept[a->ncases] = p->cases[i];
		bench_case_fill(&a->cases[a->ncases], p->cases[i]);
		roles_make(&a->roles[a->ncases], &a->cases[a->ncases], 0, 0);
		a->ncases++;
	}
	a->names = name_cases(a->cases, a->ncases);
	scenes_make(&a->scenes, kept, a->ncases);
	free(kept);
	free(good);
	a->ends = mem_array(a->ncases + 1, sizeof *a->ends);
	a->too_large = mem_array(a->ncases + 1, sizeof *a->too_large);
	a->dropped =
	    mem_array(a->ncases * a->builds->n + 1, sizeof *a->dropped);
	for (size_t i = 0; i < a->ncases * a->builds->n; i++)
		a->dropped[i] = a->unmeasured ||
		    profiles_replace_runs(
			a->profiles, &a->cases[i / a->builds->n]);
	a->deciding = deciding_new(a->cases, a->ncases, a->builds->n);
	return rc;
}

void
schedule_free(struct schedule *a)
{
	for (size_t i = 0; i < a->ncases; i++) {
		roles_free(&a->roles[i]);
		free(a->names[i]);
		bench_case_free(&a->cases[i]);
	}
	free(a->names);
	deciding_free(a->deciding);
	scenes_free(&a->scenes);
	free(a->roles);
	free(a->turns);
	free(a->done);
	free(a->ends);
	free(a->dropped);
	free(a->too_large);
	free(a->cases);
}

static size_t
done_index(const struct schedule *a, const struct turn *turn, size_t cas)
{
	return (cas * a->builds->n + turn->build) * a->last + turn->index - 1;
}

/*
 * Returns the finished run of the first role, and the metrics of each. NULL if
 * one of the roles, the writers and readers of a mixed case, is not finished.
 */
static const struct finished *
find_finished(const struct schedule *a, const struct turn *turn, size_t cas,
    const struct json **metrics)
{
	const struct json *subject =
	    json_get(a->builds->v[turn->build], "subject");
	const struct finished *f = NULL;

	for (size_t i = a->roles[cas].n; i-- > 0;) {
		f = results_find(a->results, subject, a->roles[cas].v[i].config,
		    turn->index, false);
		if (!f)
			return NULL;
		metrics[i] = f->metrics;
	}
	return f;
}

static int
recall_run(const struct schedule *a, size_t cas, const struct finished *f)
{
	const struct engine *e = engines_find(a->engines, a->cases[cas].record);
	struct engine_past past = {.tool = f->tool,
	    .rps = json_get_num(f->metrics, "rps", 0),
	    .requests = json_get_num(f->metrics, "requests", 0)};

	if (!e->recall)
		return 0;
	return e->recall(e->self, a->cases[cas].record, &past);
}

void
schedule_add_metrics(struct schedule *a, const struct turn *turn, size_t cas,
    const struct json *const *metrics)
{
	struct json *all = metrics[0]
	    ? result_record_merge(metrics, a->roles[cas].nown)
	    : NULL;

	deciding_add(a->deciding, cas, turn->build, turn->index, all);
	json_free(all);
}

/* Takes a run if it is finished. 0, or -1, error reported. */
static int
take_run(struct schedule *a, const struct turn *turn, size_t cas)
{
	const struct json **v = mem_array(a->roles[cas].n + 1, sizeof *v);
	const struct finished *f = find_finished(a, turn, cas, v);
	int rc = 0;

	if (f && recall_run(a, cas, f) < 0)
		rc = -1;
	else if (f) {
		schedule_add_metrics(a, turn, cas, v);
		a->done[done_index(a, turn, cas)] = true;
		a->finished += !schedule_dropped_builds(a, cas)[turn->build];
	}
	free(v);
	return rc;
}

int
schedule_take_finished(struct schedule *a)
{
	size_t most = a->has_budget ? SCHEDULE_MOST : a->runs;
	size_t last = a->results->last;
	struct turn turn = {0};

	if (last > most)
		last = most;
	a->last = last;
	a->done =
	    mem_array(a->ncases * a->builds->n * last + 1, sizeof *a->done);
	for (size_t c = 0; c < a->ncases; c++)
		for (turn.build = 0; turn.build < a->builds->n; turn.build++)
			for (turn.index = 1; turn.index <= last; turn.index++)
				if (take_run(a, &turn, c) < 0)
					return -1;
	if (!a->finished || a->progress.quiet)
		return 0;
	if (a->has_budget)
		err_say("%zu run%s finished already", a->finished,
		    a->finished == 1 ? " is" : "s are");
	else
		err_say("%zu of %zu runs are finished already", a->finished,
		    schedule_count_runs(a));
	return 0;
}

size_t
schedule_count_runs(const struct schedule *a)
{
	size_t n = 0;

	for (size_t i = 0; i < a->ncases * a->builds->n; i++)
		n += a->dropped[i] ? 0 : a->runs;
	return n;
}

bool *
schedule_dropped_builds(const struct schedule *a, size_t cas)
{
	return &a->dropped[cas * a->builds->n];
}

bool
schedule_has_build(const struct schedule *a, size_t cas)
{
	for (size_t b = 0; b < a->builds->n; b++)
		if (!schedule_dropped_builds(a, cas)[b])
			return true;
	return false;
}

bool
schedule_is_wanted(
    const struct schedule *a, const struct turn *turn, size_t cas)
{
	return a->ends[cas] == SCHEDULE_OPEN &&
	    !schedule_dropped_builds(a, cas)[turn->build] &&
	    (turn->index > a->last || !a->done[done_index(a, turn, cas)]);
}

size_t
schedule_count_wanted(const struct schedule *a, const struct turn *turn)
{
	const struct scene *s = &a->scenes.v[turn->scene];
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += schedule_is_wanted(a, turn, s->v[i]);
	return n;
}

/* --- the order */

enum order_how
schedule_parse_order(const char *s)
{
	static const char *const names[] = {[ORDER_INTERLEAVED] = "interleaved",
	    [ORDER_SLICES] = "slices",
	    [ORDER_RANDOM] = "random"};

	for (int i = 0; s && i < ORDER_SEQUENTIAL; i++)
		if (strcmp(s, names[i]) == 0)
			return (enum order_how)i;
	return s ? ORDER_SEQUENTIAL : ORDER_SLICES;
}

/* At random places the runs of one index are pairs like any others. */
static void
make_sequential(
    struct turn *s, const struct schedule *a, size_t first, size_t last)
{
	bool pairs = a->order == ORDER_RANDOM && a->builds->n > 1;

	for (size_t b = 0; b < a->builds->n; b++)
		for (size_t c = 0; c < a->scenes.n; c++)
			for (size_t i = first; i <= last; i++)
				*s++ = (struct turn){.scene = c,
				    .build = b,
				    .index = i,
				    .block = pairs ? i : 0};
}

/*
 * Each round has all scenes, so that a session that is killed has measured each
 * of them, and a slow drift of the machine affects all equally. It is a block
 * with one build, too: what all cases of a round share was the machine.
 */
static void
make_interleaved(
    struct turn *s, const struct schedule *a, size_t first, size_t last)
{
	size_t n = a->builds->n;
	size_t *build = mem_array(n + 1, sizeof *build);

	for (size_t i = first; i <= last; i++)
		for (size_t c = 0; c < a->scenes.n; c++, s += n) {
			rng_order(build, n, a->seed,
			    (i - 1) / n * a->scenes.n + c, i - 1);
			for (size_t b = 0; b < n; b++)
				s[b] = (struct turn){.scene = c,
				    .build = build[b],
				    .index = i,
				    .block = i};
		}
	free(build);
}

bool
schedule_has_rounds(const struct schedule *a)
{
	return a->order == ORDER_INTERLEAVED || a->order == ORDER_SLICES;
}

struct turn *
schedule_make_order(
    const struct schedule *a, size_t first, size_t last, size_t *n)
{
	struct turn *s;
	struct rng r;

	*n = a->scenes.n * a->builds->n * (last - first + 1);
	s = mem_array(*n + 1, sizeof *s);
	if (schedule_has_rounds(a))
		make_interleaved(s, a, first, last);
	else
		make_sequential(s, a, first, last);
	if (a->order == ORDER_RANDOM) {
		rng_seed(&r, a->seed, first - 1);
		rng_shuffle(&r, s, *n, sizeof *s);
	}
	return s;
}

void
schedule_make_turns(struct schedule *a, size_t first, size_t last)
{
	size_t n, kept = 0;

	free(a->turns);
	a->turns = schedule_make_order(a, first, last, &n);
	for (size_t i = 0; i < n; i++)
		if (schedule_count_wanted(a, &a->turns[i]))
			a->turns[kept++] = a->turns[i];
	a->nturns = kept;
}

double
schedule_estimate(const struct schedule *a, size_t first, size_t cas, bool *all)
{
	const struct scene *s;
	bool ahead = false;
	double sum = 0, g;

	*all = true;
	for (size_t i = first; i < a->nturns; i++) {
		s = &a->scenes.v[a->turns[i].scene];
		for (size_t k = 0; k < s->n; k++) {
			ahead = ahead || i > first || s->v[k] == cas ||
			    cas == SIZE_MAX;
			if (!ahead ||
			    !schedule_is_wanted(a, &a->turns[i], s->v[k]))
				continue;
			g = progress_estimate(
			    &a->progress, s->v[k], &a->cases[s->v[k]].load);
			*all = *all && g >= 0;
			sum += g > 0 ? g : 0;
		}
	}
	return sum;
}

char *
schedule_format_build(const struct schedule *a, const struct turn *turn)
{
	char *name, *text;

	if (turn->build == a->builds->n)
		return mem_str(" reference");
	if (a->builds->n < 2)
		return mem_str("");
	if (turn->build == SIZE_MAX)
		return mem_str(" in slices");
	name =
	    record_subject_name(json_get(a->builds->v[turn->build], "subject"));
	text = mem_printf(" %s", name);
	free(name);
	return text;
}

char *
schedule_format_run(
    const struct schedule *a, const struct turn *turn, size_t cas)
{
	char *who = schedule_format_build(a, turn);
	struct str name = {0};

	str_visible(&name, a->names[cas]);
	str_printf(&name, "%s run %zu", who, turn->index);
	if (!a->has_budget)
		str_printf(&name, "/%zu", a->runs);
	free(who);
	return str_take(&name);
}
