#include "session.h"
#include "caserunner.h"
#include "clock.h"
#include "cpulist.h"
#include "deciding.h"
#include "err.h"
#include "hostlock.h"
#include "json.h"
#include "machine.h"
#include "mem.h"
#include "metric.h"
#include "num.h"
#include "opt.h"
#include "placement.h"
#include "progress.h"
#include "record.h"
#include "results.h"
#include "schedule.h"
#include "str.h"
#include "sysfile.h"
#include "judge/samplesize.h"
#include "judge/verdict.h"
#include "vkb-load/case/engines.h"
#include "vkb-load/case/extserver.h"
#include "vkb-load/case/handle.h"
#include "vkb-load/case/live.h"
#include "vkb-load/case/peers.h"
#include "vkb-load/case/profiles.h"
#include "vkb-load/case/roles.h"
#include "vkb-load/plan/builds.h"
#include "vkb-load/plan/plan.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The CPUs on which servers and client threads of a session run. */

struct pinning_how {
	bool none; /* choose no CPUs: another program may choose the same */
	bool elsewhere; /* servers are started on another machine, where
			 * vkb-serve chooses their CPUs */
	bool quiet;
	const struct extserver *external; /* that runs already, or NULL */
};

/* Reads the CPUs of this machine. 0, or -1, not reported. */
static int
read_online_cpus(cpu_set_t *set)
{
	char *line = sysfile_line("", "/sys/devices/system/cpu/online");
	const char *why;
	int rc = line ? cpulist_parse(line, set, &why) : -1;

	free(line);
	return rc;
}

static int
check_cpus(const struct bench_case *c, const char *list, const cpu_set_t *all)
{
	cpu_set_t set, both;
	const char *why;

	if (!list)
		return 0;
	if (cpulist_parse(list, &set, &why) < 0)
		return err_fail(
		    "%s: \"%s\" is not a CPU list: %s", c->id, list, why);
	CPU_AND(&both, &set, all);
	if (!CPU_EQUAL(&both, &set))
		return err_fail("%s: this machine lacks some of the CPUs "
				"\"%s\"",
		    c->id, list);
	return 0;
}

static int
check_each(
    const struct bench_case *c, const struct json *lists, const cpu_set_t *all)
{
	int rc = 0;

	for (const struct json *j = json_first(lists); j && rc == 0;
	     j = json_next(j))
		rc = check_cpus(c, json_str(j), all);
	return rc;
}

/*
 * Checks that this machine has the CPUs that cases name. Those of servers are
 * checked unless a running server is used, which may be on another machine. 0,
 * or -1, error reported.
 */
static int
check_named(const struct schedule *a, bool servers)
{
	const struct bench_case *c;
	cpu_set_t all;

	if (read_online_cpus(&all) < 0)
		return 0;
	for (size_t i = 0; i < a->ncases; i++) {
		c = &a->cases[i];
		if (check_cpus(c, c->client_cpus, &all) < 0 ||
		    check_each(c, c->client_cpus_each, &all) < 0 ||
		    (servers && check_each(c, c->server_cpus, &all) < 0))
			return -1;
	}
	return 0;
}

/* Are the servers of this session's builds more than a server program? */
static bool
have_modules(const struct builds *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (json_get(b->v[i], "module"))
			return true;
	return false;
}

static size_t
count_threads(const struct engine_work *w)
{
	return (size_t)(w->threads < w->clients ? w->threads : w->clients);
}

static size_t
count_all_threads(const struct roles *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->nworks; i++)
		n += count_threads(&r->works[i]);
	return n;
}

/* Returns a list for each stream: as many CPUs as it has threads. */
static struct json *
list_streams(const struct roles *r, const cpu_set_t *cpus)
{
	struct json *list = json_array();
	cpu_set_t own;
	int cpu = 0;
	char *text;

	for (size_t i = 0; i < r->nworks; i++) {
		CPU_ZERO(&own);
		for (size_t k = count_threads(&r->works[i]); k; cpu++)
			if (CPU_ISSET(cpu, cpus)) {
				CPU_SET(cpu, &own);
				k--;
			}
		text = cpulist_text(&own);
		json_push(list, json_string(text));
		free(text);
	}
	return list;
}

/* Gives a case, and those before it, the CPUs. */
static void
place_case(struct bench_case *c, const struct roles *r,
    const struct placement *p, size_t servers)
{
	char *text = cpulist_text(&p->clients);
	struct json *list = servers ? json_array() : NULL;

	c->placed = json_object();
	json_set_str(c->placed, "clients", text);
	free(text);
	if (r->nworks > 1 &&
	    count_all_threads(r) <= (size_t)CPU_COUNT(&p->clients))
		json_set(c->placed, "each", list_streams(r, &p->clients));
	for (size_t i = 0; i < servers; i++) {
		text = cpulist_text(&p->servers[i]);
		json_push(list, json_string(text));
		free(text);
	}
	json_set(c->placed, "servers", list);
	bench_case_place(c);
}

/* Says that there are not enough CPUs for the threads of a case. */
static void
say_few(const struct bench_case *c, const struct placement_demand *d,
    size_t cpus, enum placement_result r)
{
	size_t servers = d->servers * d->threads;

	err_say("%s: %zu server thread%s and %zu client thread%s for %zu CPUs: "
		"%s",
	    c->id, servers, num_plural((double)servers), d->clients,
	    num_plural((double)d->clients), cpus,
	    r == PLACEMENT_SHARED
		? "servers and clients are on different ones, but not each "
		  "thread has its own"
		: "they are not pinned");
}

/* Returns whether the CPUs on which the running servers may run are known. */
static bool
find_busy(const struct extserver *x, cpu_set_t *busy)
{
	const struct json *n =
	    json_first(json_get(extserver_record(x), "nodes"));
	cpu_set_t one;
	int pid;

	CPU_ZERO(busy);
	for (; n; n = json_next(n)) {
		pid = (int)json_get_num(n, "pid", 0);
		if (!pid || sched_getaffinity(pid, sizeof one, &one) < 0)
			return false;
		CPU_OR(busy, busy, &one);
	}
	return extserver_local(x);
}

static size_t
count_allowed(const struct topology *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		n += t->v[i].allowed;
	return n;
}

/* Places the cases of a scene, which use one server, as the one with the most
 * client threads. Returns whether it has been reported that CPUs are few. */
static bool
place_scene(struct schedule *a, const struct pinning_how *h,
    const struct scene *scene, const struct topology *t, const cpu_set_t *busy,
    bool reported)
{
	size_t clients = 1, n;
	struct placement_demand d;
	enum placement_result r;
	struct placement p;
	struct bench_case *c;

	for (size_t i = 0; i < scene->n; i++) {
		n = count_all_threads(&a->roles[scene->v[i]]);
		clients = n > clients ? n : clients;
	}
	for (size_t i = 0; i < scene->n; i++) {
		c = &a->cases[scene->v[i]];
		if (h->none || !placement_demand(&d, c->server) ||
		    c->client_cpus || c->client_cpus_each) {
			bench_case_place(c);
			continue;
		}
		if (h->elsewhere)
			continue;
		d.clients = clients;
		d.busy = h->external ? busy : NULL;
		d.servers = h->external ? 0 : d.servers;
		if (have_modules(a->builds))
			d.threads = 0;
		r = placement_choose(&p, t, &d);
		if (r == PLACEMENT_OWN || r == PLACEMENT_SHARED) {
			place_case(c, &a->roles[scene->v[i]], &p, d.servers);
			placement_free(&p);
		} else
			bench_case_place(c);
		if (!reported && !h->quiet &&
		    (r == PLACEMENT_SHARED || r == PLACEMENT_FEW)) {
			say_few(c, &d, count_allowed(t), r);
			reported = true;
		}
	}
	return reported;
}

/*
 * Checks that this machine has the CPUs that cases name, and chooses some for
 * the cases that name none, see placement.h. Says once if threads share CPUs.
 * Returns 0, or -1, error reported.
 */
static int
choose_placement(struct schedule *a, const struct pinning_how *h)
{
	struct topology t = {0};
	cpu_set_t own, busy;
	bool reported = false, none = h->none;
	struct pinning_how how = *h;

	if (check_named(a, !h->external && !h->elsewhere) < 0)
		return -1;
	if (sched_getaffinity(0, sizeof own, &own) < 0 ||
	    (h->external && !find_busy(h->external, &busy)))
		none = true;
	how.none = none;
	if (!none)
		placement_read_cpus(&t, "", &own);
	for (size_t i = 0; i < a->scenes.n; i++)
		reported =
		    place_scene(a, &how, &a->scenes.v[i], &t, &busy, reported);
	placement_free_cpus(&t);
	return 0;
}

/*
 * Messages of a session about its runs: before it measures, what changes their
 * number can show; and warnings about runs that are too short, that read keys
 * which do not exist, or that did not reach their rate.
 */

struct advice {
	const struct schedule *schedule;
	bool quiet;
	bool *is_short; /* of each case: its runs are, and it was counted */
	bool
	    *misses; /* of each case: the warning that reads miss was printed */
	struct advice_rate **rates; /* of each case and role */
	size_t too_short; /* cases whose length was known by a run alone */
};

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

/* Returns how many runs of each case and build '--runs auto' makes. */
static size_t
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

/* The schedule has its cases, and is borrowed. quiet: no message is printed. */
static void
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

static void
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

/*
 * Before the first run: warns of a number of runs that can show nothing, else
 * tells what it can show if 'tell'; warns of durations that are too short.
 */
static void
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

/* After a run of a case, for each role: 'metrics' are those of its record. */
static void
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

/*
 * After the last run: tells how many cases had runs that were too short, and
 * for each case how often its rate was not reached.
 */
static void
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

/*
 * How many runs a session makes: a fixed number of each case and build, or with
 * a budget of time at least that number, and then more of the cases that are
 * not decided (deciding.h).
 */

struct budget {
	struct schedule *schedule;
	size_t cases;        /* that are measured */
	double all_s;        /* of all cases; 0: the number of runs is fixed */
	int64_t begun;       /* ns of clock_ns; 0: nothing is measured yet */
	size_t made, next;   /* repetitions that were, and will be, wanted */
	size_t look, looked; /* made at the next and at the last look */
	bool quiet, verbose; /* as the options */
};

#define TOLD 2       /* cases that a message names */
#define MOST_S 1e8   /* no one waits for years of runs */
#define WORTH_S 3600 /* for more, no longer budget is proposed */

/* The schedule has its cases and 'runs'. 'each_s': of each case, or 0. */
static void
budget_open(struct budget *b, struct schedule *a, double each_s)
{
	b->schedule = a;
	b->look = a->runs;
	for (size_t c = 0; c < a->ncases; c++)
		b->cases += schedule_has_build(a, c);
	b->all_s = each_s * (double)b->cases;
}

/* Before the first run: begins the time. */
static void
budget_begin(struct budget *b)
{
	b->begun = clock_ns();
}

/* Returns the seconds that are left. */
static double
budget_find_left(const struct budget *b)
{
	return b->all_s -
	    (b->begun ? (double)(clock_ns() - b->begun) / 1e9 : 0);
}

/* Adds "at least 7 runs of each of 8 cases, at most 8m00s; ...". */
static void
budget_announce(const struct budget *b, struct str *to)
{
	size_t runs = b->schedule->runs;
	bool all;
	double known = schedule_estimate(b->schedule, 0, SIZE_MAX, &all);
	char buf[NUM_BUF];

	str_printf(to,
	    "at least %zu run%s of %s%zu case%s, at most %s; a case ends when "
	    "it is decided",
	    runs, num_plural((double)runs), b->cases == 1 ? "" : "each of ",
	    b->cases, num_plural((double)b->cases),
	    num_seconds(buf, fmax(known, b->all_s)));
}

/*
 * Makes the turns of the next repetitions: of the runs that are made in any
 * case, then of those up to the next look that end within the budget, one round
 * at a time where there are rounds. Returns whether there are any.
 */
static bool
budget_make_turns(struct budget *b)
{
	struct schedule *a = b->schedule;
	size_t first = b->made + 1;
	bool all;

	if (b->made && !a->has_budget)
		return false;
	b->next = b->made && schedule_has_rounds(a) ? first : b->look;
	for (; b->next >= first; b->next--) {
		schedule_make_turns(a, first, b->next);
		/* Turns that an earlier session made take no time. */
		if (!b->made || (!a->nturns && b->next <= a->last) ||
		    (a->nturns &&
			schedule_estimate(a, 0, SIZE_MAX, &all) <=
			    budget_find_left(b)))
			return true;
	}
	return false;
}

/* Is a case to be decided? */
static bool
is_open(const struct schedule *a, size_t cas)
{
	return a->ends[cas] == SCHEDULE_OPEN && schedule_has_build(a, cas);
}

/* Returns the seconds of a run of each build, or 0: not known yet. */
static double
find_round_s(const struct schedule *a, size_t cas)
{
	double s = 0,
	       one = progress_estimate(&a->progress, cas, &a->cases[cas].load);

	for (size_t i = 0; i < a->builds->n; i++)
		s += schedule_dropped_builds(a, cas)[i] ? 0 : one;
	return fmax(0, s);
}

/* Would a case still be open by far if it had all the time that is left? */
static bool
is_hopeless(const struct budget *b, size_t cas, const struct deciding_case *v)
{
	double s = find_round_s(b->schedule, cas);
	double runs = (double)b->made + fmax(0, budget_find_left(b)) / s;

	return s > 0 && budget_find_left(b) >= s && v->least > runs;
}

static enum schedule_end
choose_end(const struct budget *b, size_t cas, const struct deciding_case *v)
{
	if (v->state != DECIDING_OPEN)
		return SCHEDULE_DECIDED;
	return is_hopeless(b, cas, v) ? SCHEDULE_GIVEN_UP : SCHEDULE_OPEN;
}

/* Ends the cases that are decided after the runs made so far, and those that
 * will not be. */
static void
look_at_cases(struct budget *b)
{
	static const char *const words[] = {[DECIDING_OPEN] = "open",
	    [DECIDING_SAME] = "decided, the same",
	    [DECIDING_CHANGED] = "decided, changed"};
	struct schedule *a = b->schedule;
	struct deciding_case v;

	for (size_t c = 0; c < a->ncases; c++) {
		struct str open = {0};

		if (!is_open(a, c))
			continue;
		v = deciding_look(a->deciding, c, b->made,
		    schedule_dropped_builds(a, c), &open);
		a->ends[c] = choose_end(b, c, &v);
		if (b->verbose)
			err_say("%s: %s after %zu runs%s%s", a->cases[c].id,
			    a->ends[c] == SCHEDULE_GIVEN_UP ? "given up"
							    : words[v.state],
			    b->made, open.len ? ": " : "",
			    open.len ? open.s : "");
		str_free(&open);
	}
	b->looked = b->made;
}

/* After these turns: at a look, ends the cases that are decided. */
static void
budget_end_turns(struct budget *b)
{
	double at = (double)b->schedule->runs;

	b->made = b->next;
	if (!b->schedule->has_budget || b->made < b->look)
		return;
	look_at_cases(b);
	while (round(at) <= (double)b->made)
		at *= 1.5;
	b->look = (size_t)round(at);
}

/* Adds ": given up, as about 900 more runs, 1h05m, would decide it". Returns
 * the seconds of these runs; INFINITY: no number of them does; NAN: not known.
 */
static double
add_needed(const struct budget *b, size_t cas, double needed, struct str *to)
{
	double more = ceil(needed) - (double)b->made, s;
	bool given_up = b->schedule->ends[cas] == SCHEDULE_GIVEN_UP;
	char buf[NUM_BUF];

	s = more * find_round_s(b->schedule, cas);
	if (!(more > 0))
		return NAN;
	str_add(to, given_up ? ": given up, as " : ": ");
	if (s < MOST_S && isfinite(more)) {
		str_printf(to, "about %.0f more run%s", more, num_plural(more));
		if (s > 0)
			str_printf(to, ", %s,", num_seconds(buf, s));
		str_add(to, " would decide it");
	} else
		str_add(to, "no number of runs would decide it");
	if (!(s > 0))
		return NAN;
	return s < MOST_S ? s : INFINITY;
}

/* Adds "SET (rps +-2.9 %, margin 2 %: ...)". Returns as add_needed. */
static double
add_undecided(const struct budget *b, size_t cas, struct str *to)
{
	const struct schedule *a = b->schedule;
	struct deciding_case v;
	double more;

	str_visible(to, a->names[cas]);
	str_add(to, " (");
	v = deciding_look(
	    a->deciding, cas, b->made, schedule_dropped_builds(a, cas), to);
	more = add_needed(b, cas, v.needed, to);
	str_add(to, ")");
	return more;
}

/* At the end: says which cases are undecided, and why. */
static void
budget_end(struct budget *b)
{
	const struct schedule *a = b->schedule;
	double spent = b->all_s - budget_find_left(b), more = 0;
	struct str which = {0};
	char buf[NUM_BUF];
	size_t n = 0;

	if (!a->has_budget)
		return;
	if (b->made > b->looked)
		look_at_cases(b);
	for (size_t c = 0; c < a->ncases; c++) {
		struct str one = {0};

		if (a->ends[c] == SCHEDULE_DECIDED || !schedule_has_build(a, c))
			continue;
		more += add_undecided(b, c, &one);
		if (++n <= TOLD)
			str_printf(&which, "%s%s", n > 1 ? ", " : "", one.s);
		str_free(&one);
	}
	if (isnan(more)) /* as much again */
		more = 2 * fmax(spent, b->all_s) - spent;
	if (n > TOLD)
		str_add(&which, ", ...");
	if (more < WORTH_S)
		str_printf(&which, "; '--budget %.0f' gives %s more",
		    ceil((spent + more) / (double)b->cases),
		    n == 1 ? "it" : "them");
	if (n && !b->quiet)
		err_say("%zu of %zu case%s %s undecided after %s: %s", n,
		    b->cases, num_plural((double)b->cases),
		    n == 1 ? "is" : "are", num_seconds(buf, spent), which.s);
	str_free(&which);
}

struct session {
	const struct session_opts *o;
	struct schedule a;
	struct advice advice;
	struct case_runner runner;
	size_t at;        /* the current turn */
	size_t failed;    /* runs that failed so far */
	size_t unrelated; /* runs without ratios: the reference failed */
	char *name;       /* of the current run */
	/* Was the server of each build, and of the reference, named? Shared
	 * with processes that were forked, as one that counts. */
	bool *named;
	size_t unprofiled;
	struct budget budget;
	int lock; /* of the host; held from the first turn to the end */
};

/*
 * With a budget a run that fails is repeated, and then the build left out of
 * the case. With a fixed number of runs a failed run is not repeated.
 */
#define TRIES 3

static void
drop_build(struct session *s, const struct turn *turn, size_t cas)
{
	char *who = schedule_format_build(&s->a, turn);

	schedule_dropped_builds(&s->a, cas)[turn->build] = true;
	err_say("%s%s: failed %d times in a row, and is not run again",
	    s->a.cases[cas].id, who, TRIES);
	free(who);
}

/* Makes what is wanted of a turn. Returns how many cases that are. */
static size_t
begin_turn(const struct session *s, const struct turn *turn, struct case_run *v)
{
	const struct scene *scene = &s->a.scenes.v[turn->scene];
	size_t n = 0;

	*v = (struct case_run){
	    .turn = turn, .wanted = mem_array(scene->n + 1, sizeof *v->wanted)};
	for (size_t c = 0; c < scene->n; c++)
		n += v->wanted[c] =
		    schedule_is_wanted(&s->a, turn, scene->v[c]);
	return n;
}

/* Ends a turn: what is still wanted has failed. */
static void
end_turn(struct session *s, struct case_run *v, bool drop)
{
	const struct scene *scene = &s->a.scenes.v[v->turn->scene];

	for (size_t c = 0; c < scene->n && drop; c++)
		if (v->wanted[c])
			drop_build(s, v->turn, scene->v[c]);
	free(v->wanted);
}

/* Measures one build; with a budget again if it fails. */
static int
run_alone(struct session *s, struct case_run *v)
{
	int tries = s->a.has_budget ? TRIES : 1, k = 0;
	size_t again = 0;

	for (int try = 0; try < tries && k == 0 && (!try || again); try++) {
		s->a.progress.total += again;
		v->failed = 0;
		k = case_runner_run(&s->runner, v);
		s->failed += again = v->failed;
	}
	return k;
}

/* Has a case of the scene ratios? */
static bool
has_closed_loop(const struct schedule *a, const struct scene *scene)
{
	for (size_t c = 0; c < scene->n; c++)
		if (metric_is_closed(
			json_get(a->cases[scene->v[c]].record, "config")))
			return true;
	return false;
}

/* Makes what is to be run on the reference beside n turns of a scene. Returns
 * whether that is anything: only closed loops have ratios. */
static bool
begin_reference(struct session *s, const struct case_run *v, size_t n,
    struct turn *turn, struct case_run *reference)
{
	const struct schedule *a = &s->a;
	const struct scene *scene;

	json_free(s->runner.beside);
	s->runner.beside = NULL;
	if (!n || !a->builds->reference)
		return false;
	*turn = *v->turn;
	turn->build = a->builds->n;
	scene = &a->scenes.v[turn->scene];
	if (!has_closed_loop(a, scene))
		return false;
	*reference = (struct case_run){.turn = turn,
	    .wanted = mem_array(scene->n + 1, sizeof(bool)),
	    .reference = true};
	for (size_t c = 0; c < scene->n; c++)
		for (size_t i = 0; i < n; i++)
			reference->wanted[c] |= v[i].wanted[c];
	return true;
}

/* Measures the reference, then one build beside it. */
static int
run_beside_reference(struct session *s, struct case_run *v)
{
	struct case_run reference;
	struct turn turn;
	int k = 0;

	if (begin_reference(s, v, 1, &turn, &reference)) {
		k = case_runner_run(&s->runner, &reference);
		s->unrelated += reference.failed;
		free(reference.wanted);
	}
	return k < 0 ? -1 : run_alone(s, v);
}

static size_t
count_wanted(const struct session *s, const struct case_run *v)
{
	size_t wanted = 0;

	for (size_t c = 0; c < s->a.scenes.v[v->turn->scene].n; c++)
		wanted += v->wanted[c];
	return wanted;
}

/* Runs n turns of a scene: one, or those of several builds in slices. */
static int
run_together(struct session *s, size_t first, size_t n)
{
	struct case_run *v = mem_array(n + 1, sizeof *v);
	struct turn *alone = mem_array(n + 1, sizeof *alone);
	bool reference,
	    together = case_runner_can_slice(&s->a, &s->a.turns[first]);
	size_t kept = 0, all, cas;
	int k = 1;

	s->at = first;
	for (size_t i = 0; i < n; i++)
		if (begin_turn(s, &s->a.turns[first + i], &v[kept]))
			kept++;
		else
			free(v[kept].wanted);
	reference = begin_reference(s, v, kept, &alone[n], &v[kept]);
	all = kept + reference;
	together = together && all > 1;
	if (together)
		k = case_runner_run_slices(&s->runner, v, all);
	if (reference) /* if it failed, so did the runs beside it */
		free(v[kept].wanted);
	cas = s->a.scenes.v[s->a.turns[first].scene].v[0];
	for (size_t i = 0; i < kept; i++)
		s->failed += v[i].failed;
	for (size_t i = 0; i < kept && k == 1; i++) {
		/* Without a block it is not paired with runs in slices, nor
		 * compared with the reference. */
		bool lost = together && !s->a.too_large[cas];

		alone[i] = *v[i].turn;
		if (lost)
			alone[i].block = 0;
		if (lost && reference && v[kept].failed)
			s->unrelated += count_wanted(s, &v[i]);
		v[i].turn = &alone[i];
		if ((lost ? run_alone : run_beside_reference)(s, &v[i]) < 0)
			k = -1;
	}
	for (size_t i = 0; i < kept; i++)
		end_turn(s, &v[i], s->a.has_budget && k >= 0);
	free(alone);
	free(v);
	return k < 0 ? -1 : 0;
}

/* Returns how many turns from the i-th on are run at the same time. */
static size_t
count_together(const struct session *s, size_t i)
{
	const struct turn *v = &s->a.turns[i];
	size_t n = 1;

	if (case_runner_can_slice(&s->a, v))
		while (i + n < s->a.nturns && v[n].scene == v->scene &&
		    v[n].index == v->index)
			n++;
	return n;
}

/*
 * Makes all turns of the schedule that are wanted. Returns 0, or -1 if records
 * could not be written or the session is to stop.
 */
static int
run_each_turn(struct session *s)
{
	size_t n;

	for (size_t i = 0; i < s->a.nturns; i += n) {
		n = count_together(s, i);
		if (*s->runner.context.stop || run_together(s, i, n) < 0)
			return -1;
	}
	return 0;
}

static bool
is_verbose(const struct session *s)
{
	return !s->o->quiet && (s->o->verbose || isatty(STDERR_FILENO));
}

static void
announce_session(const struct session *s)
{
	const struct schedule *a = &s->a;
	bool all;
	double known = schedule_estimate(a, 0, SIZE_MAX, &all);
	size_t n = a->progress.total;
	struct str line = {0};
	char buf[NUM_BUF];

	if (a->has_budget ? s->o->quiet : !is_verbose(s))
		return;
	if (a->has_budget)
		budget_announce(&s->budget, &line);
	else
		str_printf(&line, "%zu run%s of %zu case%s", n,
		    num_plural((double)n), a->ncases,
		    num_plural((double)a->ncases));
	if (known > 0 && !a->has_budget)
		str_printf(&line, ", %s %s", all ? "about" : "more than",
		    num_seconds(buf, known));
	err_say("%s", line.s);
	str_free(&line);
}

static void
begin_run(void *arg, const struct turn *turn, size_t cas)
{
	struct session *s = arg;
	bool known;
	double time = schedule_estimate(&s->a, s->at, cas, &known);

	free(s->name);
	if (s->a.has_budget) {
		time = fmax(time, budget_find_left(&s->budget));
		known = true;
	}
	s->name = schedule_format_run(&s->a, turn, cas);
	progress_begin(&s->a.progress, s->name,
	    schedule_has_rounds(&s->a) ? turn->index : 0,
	    s->a.has_budget ? 0 : s->a.runs, known ? time : -1);
	live_begin(s->o->live, s->name, s->a.progress.total);
}

static void
end_run(void *arg, size_t cas, size_t role, const struct json *metrics)
{
	struct session *s = arg;

	advice_check_run(&s->advice, cas, role, metrics);
}

/* Takes the lock before the first turn. 0, or -1, error reported. */
static int
take_lock(struct session *s)
{
	if (s->lock == -1)
		s->lock = s->o->no_lock || !peers_is_first_here(s->o->peers)
		    ? HOSTLOCK_NONE
		    : hostlock_take(s->runner.context.stop);
	return s->lock == -1 ? -1 : 0;
}

static int
begin_session(struct session *s)
{
	announce_session(s);
	advice_begin(
	    &s->advice, is_verbose(s) || (!s->o->runs && !s->o->quiet));
	if (take_lock(s) < 0)
		return -1;
	budget_begin(&s->budget);
	if (s->runner.context.external)
		return 0;
	s->runner.context.coproc = handle_start_serve(serve_words(s->o->serve));
	return s->runner.context.coproc ? 0 : -1;
}

/* Makes all turns. Returns 0, or -1 if the session cannot go on. */
static int
run_turns(struct session *s)
{
	struct schedule *a = &s->a;

	while (budget_make_turns(&s->budget)) {
		a->progress.total = a->progress.done;
		for (size_t i = 0; i < a->nturns; i++)
			a->progress.total +=
			    schedule_count_wanted(a, &a->turns[i]);
		if ((a->nturns && !s->budget.begun && begin_session(s) < 0) ||
		    run_each_turn(s) < 0)
			return -1;
		budget_end_turns(&s->budget);
	}
	return 0;
}

/* Returns 0; 1 if runs failed; -1 if the session cannot go on. */
static int
run_schedule(struct session *s)
{
	struct schedule *a = &s->a;
	char *how;
	int rc;

	a->progress.most = a->has_budget;
	rc = run_turns(s);
	advice_end(&s->advice);
	if (rc < 0)
		return -1;
	budget_end(&s->budget);
	if (s->failed) {
		how = progress_format_resume("make what is missing",
		    s->o->command, a->results->path, s->o->has_stdin);
		err_say("%zu of %zu run%s failed%s", s->failed,
		    a->progress.done, num_plural(a->progress.done),
		    how ? how : "");
		free(how);
	}
	if (s->unrelated)
		err_say("the reference failed beside %zu run%s, which have no "
			"ratios",
		    s->unrelated, num_plural((double)s->unrelated));
	return s->failed || s->unrelated;
}

/* Returns the number of servers of a case; of others the primaries are known.
 */
static size_t
count_nodes(const struct session *s, const struct bench_case *cas)
{
	const struct bench_load *l = &cas->load;
	long long each = s->runner.context.external ? 1 : 1 + l->replicas;

	return l->cluster ? (size_t)(l->nodes * each) : 1;
}

/* Makes a case run of a scene on a build if one of its profiles is missing. */
static int
profile_scene(struct session *s, const struct turn *turn)
{
	const struct scene *scene = &s->a.scenes.v[turn->scene];
	const struct json *build = s->a.builds->v[turn->build];
	const struct bench_case *cas;
	struct case_run v = {.turn = turn,
	    .wanted = mem_array(scene->n + 1, sizeof *v.wanted),
	    .profile = true};
	size_t n = 0;
	int rc = 0;
	char *who;

	for (size_t c = 0; c < scene->n; c++) {
		cas = &s->a.cases[scene->v[c]];
		if (!profiles_wanted(s->o->profiles, cas))
			continue;
		v.wanted[c] = !profiles_exist(
		    s->o->profiles, cas, build, count_nodes(s, cas));
		n += v.wanted[c];
		if (v.wanted[c] ? !is_verbose(s) : s->o->quiet)
			continue;
		who = schedule_format_build(&s->a, turn);
		err_say("%s%s: %s", cas->id, who,
		    v.wanted[c] ? "is being profiled" : "is profiled already");
		free(who);
	}
	if (n)
		rc = take_lock(s) < 0 ? -1 : case_runner_run(&s->runner, &v);
	s->unprofiled += v.failed;
	free(v.wanted);
	return rc;
}

/* Profiles run after all measurements. Returns as run_schedule. */
static int
profile_scenes(struct session *s)
{
	struct turn turn = {.index = 1};

	if (!s->o->profiles->dir)
		return 0;
	progress_begin(&s->a.progress, "profile", 0, 0, -1);
	for (; turn.scene < s->a.scenes.n; turn.scene++)
		for (turn.build = 0; turn.build < s->a.builds->n; turn.build++)
			if (*s->runner.context.stop ||
			    profile_scene(s, &turn) < 0)
				return -1;
	return s->unprofiled > 0;
}

/* Counts run first: they are quick, and exact. Returns as run_schedule. */
static int
count_cases(struct session *s)
{
	size_t failed = 0;

	if (!counts_any(&s->a))
		return 0;
	if (take_lock(s) < 0 ||
	    counts_run(&s->runner, is_verbose(s), s->o->quiet, &failed) < 0)
		return -1;
	return failed > 0;
}

/* Counts, measures and profiles, even if runs have failed; stops if the session
 * has to end. Returns as run_schedule. */
static int
run_parts(struct session *s)
{
	int (*const parts[])(struct session *) = {
	    count_cases, run_schedule, profile_scenes};
	int k = 0, rc = 0;

	for (size_t i = 0; i < sizeof parts / sizeof *parts && k >= 0 &&
	     !*s->runner.context.stop;
	     i++) {
		k = parts[i](s);
		rc = k ? k : rc;
	}
	return rc;
}

/* Says what an interrupted session has kept, and how it is continued. */
static void
report_stop(const struct session *s)
{
	const struct schedule *a = &s->a;
	size_t kept = a->progress.done + a->finished,
	       all = schedule_count_runs(a);
	char *how = progress_format_resume(
	    "continue", s->o->command, a->results->path, s->o->has_stdin);
	char of[32] = "";

	if (!a->has_budget)
		snprintf(of, sizeof of, " of %zu", all);
	if (all)
		err_say("%zu%s run%s kept%s", kept, of,
		    num_plural((double)(a->has_budget ? kept : all)),
		    how ? how
			: ": the records are on stdout; with '--output FILE' "
			  "a session can be continued");
	else if (how)
		err_say("what is finished is kept%s", how);
	free(how);
}

/* Prints once for each build which server of it was started. */
static void
name_server(void *arg, const struct json *build, const struct json *server)
{
	const struct session *s = arg;
	const struct builds *b = s->a.builds;
	const char *path = json_get_str(json_get(server, "binary"), "path");
	const char *version = json_get_str(server, "version");
	char *name = record_subject_name(json_get(build, "subject"));
	size_t i = 0;

	while (i < b->n && b->v[i] != build)
		i++;
	if (!__atomic_exchange_n(&s->named[i], true, __ATOMIC_RELAXED))
		err_say("measures %s%s%s, version %s, started for this",
		    i == b->n      ? "the reference"
			: b->n > 1 ? name
				   : "",
		    i == b->n || b->n > 1 ? ": " : "", path ? path : "a server",
		    version ? version : "unknown");
	free(name);
}

int
session_run(const struct session_opts *o, const struct plan *plan,
    const struct builds *builds, const struct engine *engines,
    struct results *results, struct extserver *external,
    const volatile int *stop)
{
	struct session s = {.o = o,
	    .lock = -1,
	    .a = {.runs = o->runs,
		.has_budget = o->budget_s > 0,
		.order = schedule_parse_order(o->order),
		.seed = o->seed,
		.builds = builds,
		.engines = engines,
		.results = results,
		.parts = peers_count(o->peers),
		.elsewhere = o->serve != NULL,
		.unmeasured = o->count.only,
		.profiles = o->profiles}};
	struct schedule *a = &s.a;
	struct json *machine, *brief;
	char tool[32];
	char name[16];
	int rc, k = -1;

	if (o->peers)
		snprintf(name, sizeof name, "%s", peers_session(o->peers));
	else if (record_name_session(name) < 0)
		return -1;
	s.named = mmap(NULL, (builds->n + 1) * sizeof *s.named,
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s.named == MAP_FAILED)
		return err_fail_sys("cannot share memory");
	rc = schedule_init(a, plan, stop);
	if (!a->runs)
		a->runs = advice_choose_runs(a);
	s.budget =
	    (struct budget){.quiet = o->quiet, .verbose = is_verbose(&s)};
	budget_open(&s.budget, a, o->budget_s);
	advice_open(&s.advice, a, o->quiet);
	machine = machine_record("", name);
	brief = machine_brief(json_get(machine, "env"));
	snprintf(tool, sizeof tool, "vkb-load %s", opt_version());
	json_set_str(brief, "benchmark_tool_version", tool);

	progress_open(&a->progress, o->quiet, o->verbose, a->ncases);
	if (builds->reference)
		a->progress.reference = 1 / (double)builds->n;
	if (choose_placement(a,
		&(struct pinning_how){.none = o->no_pin || o->no_lock ||
			placement_is_off() || o->peers || o->count.only,
		    .elsewhere = o->serve,
		    .quiet = o->quiet,
		    .external = external}) < 0 ||
	    counts_choose(&o->count, a, external != NULL) < 0 ||
	    schedule_take_finished(a) < 0 ||
	    (external && extserver_admit(external, a->cases, a->ncases) < 0))
		goto out;
	if (!o->quiet)
		counts_announce(a, o->serve);
	s.runner = (struct case_runner){.context = {.engines = engines,
					    .profiles = o->profiles,
					    .logs = o->logs,
					    .hdr = o->hdr,
					    .live = o->live,
					    .external = external,
					    .env = brief,
					    .show = progress_draw,
					    .progress = &a->progress,
					    .seed = o->seed,
					    .peers = o->peers,
					    .serve = o->serve,
					    .start_at_s = o->start_at_s,
					    .count_caches = o->count.caches,
					    .timeout_s = o->timeout_s,
					    .stop = stop},
	    .schedule = a,
	    .machine = o->no_env ? NULL : machine,
	    .announce = begin_run,
	    .measured = end_run,
	    .arg = &s};
	memcpy(s.runner.context.session, name, sizeof name);
	if (is_verbose(&s)) {
		s.runner.context.started = name_server;
		s.runner.context.started_arg = &s;
	}
	k = run_parts(&s);
	if (*stop && !o->quiet)
		report_stop(&s);
	json_free(s.runner.reference);
	json_free(s.runner.beside);
	handle_close_serve(s.runner.context.coproc);
	hostlock_release(s.lock);
out:
	progress_close(&a->progress);
	advice_close(&s.advice);
	schedule_free(a);
	json_free(machine);
	json_free(brief);
	munmap(s.named, (builds->n + 1) * sizeof *s.named);
	free(s.name);
	return k || *stop ? -1 : rc;
}
