#include "advice.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "metric.h"
#include "num.h"
#include "judge/samplesize.h"
#include "schedule.h"
#include "str.h"
#include "judge/verdict.h"
#include "vkb-load/case/profiles.h"
#include "vkb-load/case/roles.h"
#include "vkb-load/case/engines.h"
#include "vkb-load/plan/builds.h"

#include <math.h>
#include <stdlib.h>

#define SHORT_S .5      /* shorter runs are warned of */
#define DOUBLING .5     /* the change that halves, or doubles, a value */
#define MOST_RUNS 100   /* advised to show a doubling */
#define READS_LEAST 100 /* fewer reads are too few to judge */
#define POOR .5         /* share of the reads that should hit */

/* How often a role did not reach its rate, and the worst run. */
struct advice_rate {
	size_t runs, missed;
	double achieved, rps, offered;
};

#define WHY "runs are too short for precise results"

/* Writers and readers are one case each, as in a comparison. */
static void
add_case(struct samplesize *s, const struct roles *roles)
{
	for (size_t i = 0; i < roles->n; i++) {
		const char *name = metric_primary(roles->v[i].config);

		s->cases++;
		s->margin = fmax(s->margin, metric_find(name)->margin);
	}
}

/* Adds the cases of other shards: all are compared together. */
static void
add_other_shards(struct samplesize *s, const struct schedule *a)
{
	const struct json *rec = a->unmeasured ? NULL : json_first(a->others);
	struct bench_case cas;
	struct roles roles;

	for (; rec; rec = json_next(rec)) {
		bench_case_fill(&cas, rec);
		roles_make(&roles, &cas, 0, 0);
		if (!profiles_replace_runs(a->profiles, &cas))
			add_case(s, &roles);
		roles_free(&roles);
		bench_case_free(&cas);
	}
}

static struct samplesize
describe_session(const struct schedule *a)
{
	struct samplesize s = {
	    .builds = a->builds->n, .noise = SAMPLESIZE_NOISE};

	for (size_t c = 0; c < a->ncases; c++)
		if (schedule_has_build(a, c))
			add_case(&s, &a->roles[c]);
	add_other_shards(&s, a);
	return s;
}

static size_t
find_enough(const struct samplesize *s)
{
	return samplesize_find_runs(
	    s, SAMPLESIZE_CHANGE, SAMPLESIZE_LEAST, SAMPLESIZE_MOST);
}

size_t
advice_choose_runs(const struct schedule *a)
{
	struct samplesize s = describe_session(a);

	return s.cases ? find_enough(&s) : SAMPLESIZE_LEAST;
}

/* Warns if the runs can show nothing; else tells what they show if 'tell'. */
static void
tell_power(const struct schedule *a, bool tell)
{
	struct samplesize s = describe_session(a);
	size_t runs = a->runs;
	const char *each = s.builds > 1 ? " and build" : "";
	struct str one = {0};
	double change;

	if (!s.cases || (runs == 1 && s.builds == 1)) /* no comparison */
		return;
	change = samplesize_visible_change(&s, runs);
	if (s.cases > 1)
		str_printf(&one, " of one of %zu cases", s.cases);
	if (!(change <= DOUBLING))
		err_say("%zu run%s of each case%s %s too few to show %s%s: at "
			"least %zu are needed, and '--runs auto' makes %zu",
		    runs, num_plural((double)runs), each,
		    runs == 1 ? "is" : "are",
		    runs < VERDICT_RUNS ? "any change of speed"
					: "even a doubling",
		    runs < VERDICT_RUNS ? ""
			: one.len       ? one.s
					: "",
		    samplesize_find_runs(&s, DOUBLING, runs + 1, MOST_RUNS),
		    find_enough(&s));
	else if (tell)
		err_say("%zu runs of each case%s detect a change of %.2g%% "
			"(power 80%%, noise %g%%)",
		    runs, each, 100 * change, 100 * s.noise);
	str_free(&one);
}

/* The shortest duration of the roles of a case; 0: it has none. */
static double
get_duration(const struct schedule *a, size_t cas)
{
	double least = INFINITY;

	for (size_t i = 0; i < a->roles[cas].n; i++) {
		double s = a->roles[cas].v[i].load.work.duration_s;

		if (s > 0)
			least = fmin(least, s);
	}
	return isfinite(least) ? least : 0;
}

void
advice_open(struct advice *v, const struct schedule *a, bool quiet)
{
	*v = (struct advice){.schedule = a,
	    .quiet = quiet,
	    .is_short = mem_array(a->ncases + 1, sizeof *v->is_short),
	    .misses = mem_array(a->ncases + 1, sizeof *v->misses),
	    .rates = mem_array(a->ncases + 1, sizeof *v->rates)};
	for (size_t c = 0; c < a->ncases; c++)
		v->rates[c] = mem_array(a->roles[c].nown, sizeof **v->rates);
}

void
advice_close(struct advice *v)
{
	for (size_t c = 0; c < v->schedule->ncases; c++)
		free(v->rates[c]);
	free(v->rates);
	free(v->is_short);
	free(v->misses);
}

static void
check_durations(struct advice *v)
{
	const struct schedule *a = v->schedule;
	const char *first = NULL;
	double least = 0;
	size_t n = 0, all = 0;

	for (size_t c = 0; c < a->ncases; c++) {
		double s = get_duration(a, c);

		if (!schedule_has_build(a, c))
			continue;
		all++;
		if (!(s > 0) || s >= SHORT_S)
			continue;
		v->is_short[c] = true;
		if (!n++) {
			first = a->cases[c].id;
			least = s;
		}
	}
	if (n)
		err_say("%zu of %zu case%s run%s for less than %g s, %s for "
			"%g s: " WHY "; use '--duration 1s'",
		    n, all, num_plural((double)all), n == 1 ? "s" : "", SHORT_S,
		    first, least);
}

/* Says how long the searches of capacities take at most. */
static void
tell_searches(const struct schedule *a)
{
	const struct bench_load *l, *first = NULL;
	size_t n = 0;
	double s = 0;
	char buf[NUM_BUF];

	for (size_t c = 0; c < a->ncases; c++) {
		l = &a->cases[c].load;
		if (!l->slo || !schedule_has_build(a, c))
			continue;
		first = first ? first : l;
		s += ENGINES_TRIALS * (l->work.duration_s + l->work.warmup_s);
		n++;
	}
	if (n)
		err_say("%zu case%s search%s a capacity: at most %d trials, "
			"of %g s for %s, and %s in each run%s",
		    n, num_plural((double)n), n == 1 ? "es" : "",
		    ENGINES_TRIALS,
		    first->work.duration_s + first->work.warmup_s, first->slo,
		    num_seconds(buf, s), n == 1 ? "" : " of all");
}

void
advice_begin(struct advice *v, bool tell)
{
	if (v->quiet)
		return;
	tell_searches(v->schedule);
	if (!v->schedule->has_budget)
		tell_power(v->schedule, tell);
	check_durations(v);
}

/* Says once that a load reads keys that are not there, and why. */
static void
check_misses(struct advice *v, size_t cas, const struct json *metrics)
{
	double hits = json_get_num(metrics, "keyspace_hits", NAN);
	double all = hits + json_get_num(metrics, "keyspace_misses", NAN);
	double evicted = json_get_num(metrics, "evicted_keys", 0);
	const char *id = v->schedule->cases[cas].id;

	if (v->quiet || v->misses[cas])
		return;
	v->misses[cas] = true;
	if (evicted > 0)
		err_say("%s: the server evicted %.0f keys, because its memory "
			"was full (maxmemory): it did more than the commands "
			"of the load, and reads of these keys found nothing; "
			"use a smaller \"keyspacelen\" if that is not wanted",
		    id, evicted);
	else if (all >= READS_LEAST && hits < POOR * all)
		err_say("%s: %.3g %% of the reads found their key: most of "
			"what was measured is how fast the server says that "
			"there is none; fill it first, as with "
			"\"populate_with\", if that is not wanted",
		    id, 100 * hits / all);
	else
		v->misses[cas] = false;
}

static void
check_rate(struct advice_rate *r, const struct json *metrics)
{
	double achieved = json_get_num(metrics, "achieved_percent", NAN);

	r->runs++;
	if (!(achieved < METRIC_REACHED_PERCENT))
		return;
	if (!r->missed++ || achieved < r->achieved) {
		r->achieved = achieved;
		r->rps = json_get_num(metrics, "rps", NAN);
		r->offered = json_get_num(metrics, "offered_rps", NAN);
	}
}

static void
tell_rate(const char *name, const struct advice_rate *r)
{
	char rps[NUM_BUF], offered[NUM_BUF];

	err_say("%s: the rate was not reached in %zu of %zu run%s: %s%s of %s "
		"requests/s were answered (%.3g %%), so latencies include the "
		"time in a queue that grew and are not judged",
	    name, r->missed, r->runs, num_plural((double)r->runs),
	    r->missed > 1 ? "at worst " : "", num_human(rps, r->rps),
	    num_human(offered, r->offered), r->achieved);
}

void
advice_check_run(
    struct advice *v, size_t cas, size_t role, const struct json *metrics)
{
	double s = json_get_num(metrics, "elapsed_s", INFINITY);
	double done = json_get_num(metrics, "requests", 0);
	double enough = done / s, digit = pow(10, floor(log10(enough)));

	check_rate(&v->rates[cas][role], metrics);
	if (role > 0)
		return;
	check_misses(v, cas, metrics);
	if (v->quiet || s >= SHORT_S || v->is_short[cas])
		return;
	v->is_short[cas] = true;
	if (v->too_short++)
		return;
	err_say("%s: its %.0f requests took %.2g s: " WHY "; use '--duration "
		"1s' or '--requests %.0f'",
	    v->schedule->cases[cas].id, done, s, digit * ceil(enough / digit));
}

void
advice_end(const struct advice *v)
{
	const struct schedule *a = v->schedule;

	for (size_t c = 0; c < a->ncases; c++)
		for (size_t i = 0; i < a->roles[c].nown; i++)
			if (v->rates[c][i].missed)
				tell_rate(
				    a->roles[c].v[i].name, &v->rates[c][i]);
	if (v->too_short > 1)
		err_say("%zu of %zu cases had runs of less than %g s",
		    v->too_short, a->ncases, SHORT_S);
}
