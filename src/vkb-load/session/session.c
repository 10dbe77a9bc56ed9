#include "session.h"
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
#include "statusline.h"
#include "str.h"
#include "sysfile.h"
#include "judge/samplesize.h"
#include "judge/verdict.h"
#include "vkb-load/case/context.h"
#include "vkb-load/case/engines.h"
#include "vkb-load/case/extserver.h"
#include "vkb-load/case/handle.h"
#include "vkb-load/case/live.h"
#include "vkb-load/case/logs.h"
#include "vkb-load/case/measure.h"
#include "vkb-load/case/peers.h"
#include "vkb-load/case/profiles.h"
#include "vkb-load/case/resultrecord.h"
#include "vkb-load/case/roles.h"
#include "vkb-load/case/room.h"
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

/* How often a role did not reach its rate, and the worst run. */
struct rate {
	size_t runs, missed;
	double achieved, rps, offered;
};

struct session {
	const struct session_opts *o;
	struct schedule a;
	struct case_context context;
	struct json *machine;   /* env record still to be written; or NULL */
	struct json *reference; /* facts of it, once it was started; or NULL */
	struct json *beside; /* ID: the records of its run on the reference, to
			      * which the next runs are related; or NULL */
	size_t at;           /* the current turn */
	size_t failed;       /* runs that failed so far */
	size_t unrelated;    /* runs without ratios: the reference failed */
	char *name;          /* of the current run */
	/* Was the server of each build, and of the reference, named? Shared
	 * with processes that were forked, as one that counts. */
	bool *named;
	size_t unprofiled;
	int lock; /* of the host; held from the first turn to the end */

	/* Advice: of each case, and of each case and role. */
	bool *is_short; /* its runs are, and it was counted */
	bool *misses;   /* the warning that reads miss was printed */
	struct rate **rates;
	size_t too_short; /* cases whose length was known by a run alone */

	/* The budget. */
	size_t cases;        /* that are measured */
	double all_s;        /* of all cases; 0: the number of runs is fixed */
	int64_t begun;       /* ns of clock_ns; 0: nothing is measured yet */
	size_t made, next;   /* repetitions that were, and will be, wanted */
	size_t look, looked; /* made at the next and at the last look */
};

static bool
is_verbose(const struct session *s)
{
	return !s->o->quiet && (s->o->verbose || isatty(STDERR_FILENO));
}

/* The CPUs on which servers and client threads of a session run. */

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
place_scene(struct session *s, bool none, const struct scene *scene,
    const struct topology *t, const cpu_set_t *busy, bool reported)
{
	const struct extserver *external = s->context.external;
	struct schedule *a = &s->a;
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
		if (none || !placement_demand(&d, c->server) ||
		    c->client_cpus || c->client_cpus_each) {
			bench_case_place(c);
			continue;
		}
		if (a->elsewhere)
			continue;
		d.clients = clients;
		d.busy = external ? busy : NULL;
		d.servers = external ? 0 : d.servers;
		if (have_modules(a->builds))
			d.threads = 0;
		r = placement_choose(&p, t, &d);
		if (r == PLACEMENT_OWN || r == PLACEMENT_SHARED) {
			place_case(c, &a->roles[scene->v[i]], &p, d.servers);
			placement_free(&p);
		} else
			bench_case_place(c);
		if (!reported && !s->o->quiet &&
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
choose_placement(struct session *s)
{
	const struct extserver *external = s->context.external;
	struct schedule *a = &s->a;
	struct topology t = {0};
	cpu_set_t own, busy;
	/* Of programs that measure at the same time each would choose the
	 * same. */
	bool reported = false,
	     none = s->o->no_pin || s->o->no_lock || placement_is_off() ||
	    s->context.peers || s->o->count.only;

	if (check_named(a, !external && !a->elsewhere) < 0)
		return -1;
	if (sched_getaffinity(0, sizeof own, &own) < 0 ||
	    (external && !find_busy(external, &busy)))
		none = true;
	if (!none)
		placement_read_cpus(&t, "", &own);
	for (size_t i = 0; i < a->scenes.n; i++)
		reported =
		    place_scene(s, none, &a->scenes.v[i], &t, &busy, reported);
	placement_free_cpus(&t);
	return 0;
}

/*
 * Messages of a session about its runs: before it measures, what changes their
 * number can show; and warnings about runs that are too short, that read keys
 * which do not exist, or that did not reach their rate.
 */

#define SHORT_S .5      /* shorter runs are warned of */
#define DOUBLING .5     /* the change that halves, or doubles, a value */
#define MOST_RUNS 100   /* advised to show a doubling */
#define READS_LEAST 100 /* fewer reads are too few to judge */
#define POOR .5         /* share of the reads that should hit */

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
choose_runs(const struct schedule *a)
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

static void
check_durations(struct session *s)
{
	const struct schedule *a = &s->a;
	const char *first = NULL;
	double least = 0;
	size_t n = 0, all = 0;

	for (size_t c = 0; c < a->ncases; c++) {
		double length = get_duration(a, c);

		if (!schedule_has_build(a, c))
			continue;
		all++;
		if (!(length > 0) || length >= SHORT_S)
			continue;
		s->is_short[c] = true;
		if (!n++) {
			first = a->cases[c].id;
			least = length;
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
give_advice(struct session *s)
{
	if (s->o->quiet)
		return;
	tell_searches(&s->a);
	if (!s->a.has_budget)
		tell_power(&s->a, is_verbose(s) || !s->o->runs);
	check_durations(s);
}

/* Says once that a load reads keys that are not there, and why. */
static void
check_misses(struct session *s, size_t cas, const struct json *metrics)
{
	double hits = json_get_num(metrics, "keyspace_hits", NAN);
	double all = hits + json_get_num(metrics, "keyspace_misses", NAN);
	double evicted = json_get_num(metrics, "evicted_keys", 0);
	const char *id = s->a.cases[cas].id;

	if (s->o->quiet || s->misses[cas])
		return;
	s->misses[cas] = true;
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
		s->misses[cas] = false;
}

static void
check_rate(struct rate *r, const struct json *metrics)
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
tell_rate(const char *name, const struct rate *r)
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
check_run(
    struct session *s, size_t cas, size_t role, const struct json *metrics)
{
	double took = json_get_num(metrics, "elapsed_s", INFINITY);
	double done = json_get_num(metrics, "requests", 0);
	double enough = done / took, digit = pow(10, floor(log10(enough)));

	check_rate(&s->rates[cas][role], metrics);
	if (role > 0)
		return;
	check_misses(s, cas, metrics);
	if (s->o->quiet || took >= SHORT_S || s->is_short[cas])
		return;
	s->is_short[cas] = true;
	if (s->too_short++)
		return;
	err_say("%s: its %.0f requests took %.2g s: " WHY "; use '--duration "
		"1s' or '--requests %.0f'",
	    s->a.cases[cas].id, done, took, digit * ceil(enough / digit));
}

/*
 * After the last run: tells how many cases had runs that were too short, and
 * for each case how often its rate was not reached.
 */
static void
report_rates(const struct session *s)
{
	const struct schedule *a = &s->a;

	for (size_t c = 0; c < a->ncases; c++)
		for (size_t i = 0; i < a->roles[c].nown; i++)
			if (s->rates[c][i].missed)
				tell_rate(
				    a->roles[c].v[i].name, &s->rates[c][i]);
	if (s->too_short > 1)
		err_say("%zu of %zu cases had runs of less than %g s",
		    s->too_short, a->ncases, SHORT_S);
}

/*
 * How many runs a session makes: a fixed number of each case and build, or with
 * a budget of time at least that number, and then more of the cases that are
 * not decided (deciding.h).
 */

#define TOLD 2       /* cases that a message names */
#define MOST_S 1e8   /* no one waits for years of runs */
#define WORTH_S 3600 /* for more, no longer budget is proposed */

/* Returns the seconds that are left. */
static double
find_left_s(const struct session *s)
{
	return s->all_s -
	    (s->begun ? (double)(clock_ns() - s->begun) / 1e9 : 0);
}

/* Adds "at least 7 runs of each of 8 cases, at most 8m00s; ...". */
static void
announce_budget(const struct session *s, struct str *to)
{
	size_t runs = s->a.runs;
	bool all;
	double known = schedule_estimate(&s->a, 0, SIZE_MAX, &all);
	char buf[NUM_BUF];

	str_printf(to,
	    "at least %zu run%s of %s%zu case%s, at most %s; a case ends when "
	    "it is decided",
	    runs, num_plural((double)runs), s->cases == 1 ? "" : "each of ",
	    s->cases, num_plural((double)s->cases),
	    num_seconds(buf, fmax(known, s->all_s)));
}

/*
 * Makes the turns of the next repetitions: of the runs that are made in any
 * case, then of those up to the next look that end within the budget, one round
 * at a time where there are rounds. Returns whether there are any.
 */
static bool
make_turns(struct session *s)
{
	struct schedule *a = &s->a;
	size_t first = s->made + 1;
	bool all;

	if (s->made && !a->has_budget)
		return false;
	s->next = s->made && schedule_has_rounds(a) ? first : s->look;
	for (; s->next >= first; s->next--) {
		schedule_make_turns(a, first, s->next);
		/* Turns that an earlier session made take no time. */
		if (!s->made || (!a->nturns && s->next <= a->last) ||
		    (a->nturns &&
			schedule_estimate(a, 0, SIZE_MAX, &all) <=
			    find_left_s(s)))
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
is_hopeless(const struct session *s, size_t cas, const struct deciding_case *v)
{
	double round_s = find_round_s(&s->a, cas);
	double runs = (double)s->made + fmax(0, find_left_s(s)) / round_s;

	return round_s > 0 && find_left_s(s) >= round_s && v->least > runs;
}

static enum schedule_end
choose_end(const struct session *s, size_t cas, const struct deciding_case *v)
{
	if (v->state != DECIDING_OPEN)
		return SCHEDULE_DECIDED;
	return is_hopeless(s, cas, v) ? SCHEDULE_GIVEN_UP : SCHEDULE_OPEN;
}

/* Ends the cases that are decided after the runs made so far, and those that
 * will not be. */
static void
look_at_cases(struct session *s)
{
	static const char *const words[] = {[DECIDING_OPEN] = "open",
	    [DECIDING_SAME] = "decided, the same",
	    [DECIDING_CHANGED] = "decided, changed"};
	struct schedule *a = &s->a;
	struct deciding_case v;

	for (size_t c = 0; c < a->ncases; c++) {
		struct str open = {0};

		if (!is_open(a, c))
			continue;
		v = deciding_look(a->deciding, c, s->made,
		    schedule_dropped_builds(a, c), &open);
		a->ends[c] = choose_end(s, c, &v);
		if (is_verbose(s))
			err_say("%s: %s after %zu runs%s%s", a->cases[c].id,
			    a->ends[c] == SCHEDULE_GIVEN_UP ? "given up"
							    : words[v.state],
			    s->made, open.len ? ": " : "",
			    open.len ? open.s : "");
		str_free(&open);
	}
	s->looked = s->made;
}

/* After these turns: at a look, ends the cases that are decided. */
static void
end_turns(struct session *s)
{
	double at = (double)s->a.runs;

	s->made = s->next;
	if (!s->a.has_budget || s->made < s->look)
		return;
	look_at_cases(s);
	while (round(at) <= (double)s->made)
		at *= 1.5;
	s->look = (size_t)round(at);
}

/* Adds ": given up, as about 900 more runs, 1h05m, would decide it". Returns
 * the seconds of these runs; INFINITY: no number of them does; NAN: not known.
 */
static double
add_needed(const struct session *s, size_t cas, double needed, struct str *to)
{
	double more = ceil(needed) - (double)s->made, took;
	bool given_up = s->a.ends[cas] == SCHEDULE_GIVEN_UP;
	char buf[NUM_BUF];

	took = more * find_round_s(&s->a, cas);
	if (!(more > 0))
		return NAN;
	str_add(to, given_up ? ": given up, as " : ": ");
	if (took < MOST_S && isfinite(more)) {
		str_printf(to, "about %.0f more run%s", more, num_plural(more));
		if (took > 0)
			str_printf(to, ", %s,", num_seconds(buf, took));
		str_add(to, " would decide it");
	} else
		str_add(to, "no number of runs would decide it");
	if (!(took > 0))
		return NAN;
	return took < MOST_S ? took : INFINITY;
}

/* Adds "SET (rps +-2.9 %, margin 2 %: ...)". Returns as add_needed. */
static double
add_undecided(const struct session *s, size_t cas, struct str *to)
{
	const struct schedule *a = &s->a;
	struct deciding_case v;
	double more;

	str_visible(to, a->names[cas]);
	str_add(to, " (");
	v = deciding_look(
	    a->deciding, cas, s->made, schedule_dropped_builds(a, cas), to);
	more = add_needed(s, cas, v.needed, to);
	str_add(to, ")");
	return more;
}

/* At the end: says which cases are undecided, and why. */
static void
report_undecided(struct session *s)
{
	const struct schedule *a = &s->a;
	double spent = s->all_s - find_left_s(s), more = 0;
	struct str which = {0};
	char buf[NUM_BUF];
	size_t n = 0;

	if (!a->has_budget)
		return;
	if (s->made > s->looked)
		look_at_cases(s);
	for (size_t c = 0; c < a->ncases; c++) {
		struct str one = {0};

		if (a->ends[c] == SCHEDULE_DECIDED || !schedule_has_build(a, c))
			continue;
		more += add_undecided(s, c, &one);
		if (++n <= TOLD)
			str_printf(&which, "%s%s", n > 1 ? ", " : "", one.s);
		str_free(&one);
	}
	if (isnan(more)) /* as much again */
		more = 2 * fmax(spent, s->all_s) - spent;
	if (n > TOLD)
		str_add(&which, ", ...");
	if (more < WORTH_S)
		str_printf(&which, "; '--budget %.0f' gives %s more",
		    ceil((spent + more) / (double)s->cases),
		    n == 1 ? "it" : "them");
	if (n && !s->o->quiet)
		err_say("%zu of %zu case%s %s undecided after %s: %s", n,
		    s->cases, num_plural((double)s->cases),
		    n == 1 ? "is" : "are", num_seconds(buf, spent), which.s);
	str_free(&which);
}

/* Tells that a run that is measured begins. */
static void
begin_run(struct session *s, const struct turn *turn, size_t cas)
{
	bool known;
	double time = schedule_estimate(&s->a, s->at, cas, &known);

	free(s->name);
	if (s->a.has_budget) {
		time = fmax(time, find_left_s(s));
		known = true;
	}
	s->name = schedule_format_run(&s->a, turn, cas);
	progress_begin(&s->a.progress, s->name,
	    schedule_has_rounds(&s->a) ? turn->index : 0,
	    s->a.has_budget ? 0 : s->a.runs, known ? time : -1);
	live_begin(s->context.live, s->name, s->a.progress.total);
}

/* Case runs: run the cases of a scene on a server and write their records. */

/* What is to be measured in a turn. */
struct case_run {
	const struct turn *turn;
	bool *wanted; /* by place in the scene; cleared when a run succeeds, or
		       * its server died in slices */
	size_t failed;
	bool profile;   /* profile instead of measuring */
	bool reference; /* keep its records as 'beside', write none */
};

/* A case of a turn: measured, run without being recorded, or left out. */
struct step {
	const struct bench_case *cas;
	size_t number; /* of the case in the schedule */
	bool *wanted;  /* NULL: from a 'before' list */
	bool run;
};

/* The steps of one build in a turn, on one server, and their records. */
struct call {
	struct session *r;
	struct schedule *a;
	struct case_run *v;
	struct step *steps;
	size_t n;
	struct server_handle handle;
	char *spoilt;    /* why later cases cannot be measured; or NULL */
	size_t together; /* builds loaded at the same time */
};

/* Is a run of this step wanted? Other steps are run only for the data that they
 * write. */
static bool
call_measures(const struct step *s)
{
	return s->wanted && *s->wanted;
}

static void
append_step(struct call *x, const struct bench_case *cas, size_t number,
    bool *wanted, size_t *cap)
{
	*MEM_ADD(x->steps, x->n, *cap) =
	    (struct step){cas, number, wanted, false};
}

/* Marks the wanted cases and those that make data for them. */
static void
plan_steps(struct call *x)
{
	const struct scene *scene = &x->a->scenes.v[x->v->turn->scene];
	const struct bench_case *cas;
	bool needed = false;
	struct step *s;
	size_t cap = 0;

	for (size_t i = 0; i < scene->n; i++) {
		cas = &x->a->cases[scene->v[i]];
		for (size_t k = 0; k < cas->nbefore; k++)
			append_step(
			    x, &cas->before[k], scene->v[i], NULL, &cap);
		append_step(x, cas, scene->v[i], &x->v->wanted[i], &cap);
	}
	for (size_t i = x->n; i-- > 0;) {
		s = &x->steps[i];
		s->run = call_measures(s) ||
		    (needed && scene_changes_server(s->cas->record));
		needed = needed || s->run;
		if (s->run && scene_resets_server(s->cas->record))
			needed = false;
	}
}

static void
call_start_measure(
    struct call *x, struct measure *m, const struct bench_case *cas)
{
	const struct turn *t = x->v->turn;

	measure_init(
	    m, &x->r->context, cas, x->handle.build, t->index, t->block);
}

/* Adds a run that succeeded to what decides its case. */
static void
add_to_deciding(struct call *x, const struct measure *m, size_t cas)
{
	const struct json **v = mem_array(m->roles.n + 1, sizeof *v);

	for (size_t i = 0; i < m->roles.n; i++)
		v[i] = json_get(m->recs[i], "metrics");
	schedule_add_metrics(x->a, x->v->turn, cas, v);
	free(v);
}

/* Writes the profile records of a case. 0, or -1, error reported. */
static int
write_profiles(struct call *x, struct measure *m, const struct step *s, int rc)
{
	if (rc < 0 || m->error.len) {
		logs_report(x->handle.logs, s->cas->id,
		    mem_printf("not profiled: %s", measure_why(m)));
		x->v->failed++;
	}
	statusline_clear();
	for (struct json *j = json_first(m->profiled); j; j = json_next(j))
		if (results_write(x->a->results, j) < 0)
			return -1;
	return 0;
}

static int
write_raw(struct call *x, struct measure *m)
{
	struct json *run;

	if (!m->raw)
		return 0;
	run = json_object();
	json_set_str(run, "session", x->r->context.session);
	json_set_num(run, "order", (double)x->r->context.order);
	json_set(m->raw, "run", run);
	return results_write(x->a->results, m->raw);
}

/* Notes which server the reference is, from a measure of it. */
static void
call_note_reference(struct call *x, const struct measure *m)
{
	if (x->r->reference || !json_path(m->recs[0], "subject.binary_sha256"))
		return;
	x->r->reference = result_record_describe_reference(m->recs[0]);
}

/* Keeps the records of a run of the reference, or reports that it failed. */
static void
keep_beside(
    struct call *x, const struct measure *m, const struct step *s, int rc)
{
	const char *why = measure_why(m);
	struct json *recs = json_array();

	call_note_reference(x, m);
	for (size_t i = 0; i < m->roles.n && rc == 0; i++)
		json_push(recs, json_dup(m->recs[i]));
	if (rc < 0) {
		logs_report(x->handle.logs, s->cas->id,
		    mem_printf("run %zu of the reference failed: %.*s",
			x->v->turn->index, (int)strcspn(why, "\n"), why));
		x->v->failed++;
	} else
		*s->wanted = false;
	if (!x->r->beside)
		x->r->beside = json_object();
	json_set(x->r->beside, s->cas->id, recs);
}

/* Relates a run to that of the reference beside it, if there is one. */
static void
relate_run(const struct call *x, struct measure *m, const struct step *s)
{
	const struct json *of = json_first(json_get(x->r->beside, s->cas->id));

	for (size_t i = 0; i < m->roles.n && x->r->reference; i++) {
		result_record_set_reference(m->recs[i], x->r->reference, of);
		of = of ? json_next(of) : NULL;
	}
}

/*
 * Reports a case that cannot be run, since the server does not know a command
 * of it, and leaves it out of the turns that follow: its runs would all fail.
 * Parts of a load have to make the same runs.
 */
static void
refuse_case(struct call *x, const struct measure *m, const struct step *s)
{
	const struct turn *turn = x->v->turn;
	char *who = schedule_format_build(x->a, turn);

	err_say("%s%s: %s", s->cas->id, who, measure_why(m));
	free(who);
	if (x->r->context.peers)
		return;
	schedule_dropped_builds(x->a, s->number)[turn->build] = true;
	*s->wanted = false;
}

/* Writes the records of a step that returned rc. 0, or -1 after reporting that
 * it could not. */
static int
call_write_records(
    struct call *x, struct measure *m, const struct step *s, int rc)
{
	struct session *r = x->r;
	struct results *to = x->a->results;

	if (x->v->profile)
		return write_profiles(x, m, s, rc);
	if (x->v->reference) {
		keep_beside(x, m, s, rc);
		return 0;
	}
	relate_run(x, m, s);
	for (size_t i = 0; i < m->roles.n; i++) {
		if (rc == 0)
			json_set_str(m->recs[i], "status", "ok");
		else
			result_record_fail(m->recs[i], measure_why(m));
		if (rc < 0 && i == 0)
			err_note("%s", json_get_str(m->recs[0], "error"));
		if (m->error.len) /* the first has the end of the log */
			m->error.s[strcspn(m->error.s, "\n")] = '\0';
	}
	if (rc < 0 && m->unknown)
		refuse_case(x, m, s);
	else if (rc < 0)
		logs_report(x->handle.logs, s->cas->id,
		    mem_printf("run %zu failed", x->v->turn->index));
	statusline_clear();
	if (r->machine && results_write(to, r->machine) < 0)
		return -1;
	r->machine = NULL; /* written once */
	if (write_raw(x, m) < 0 ||
	    results_write_all(to, m->recs, m->roles.n) < 0)
		return -1;
	if (rc == 0) {
		add_to_deciding(x, m, s->number);
		*s->wanted = false;
	} else
		x->v->failed++;
	progress_end(
	    &x->a->progress, s->number, &s->cas->load, m->recs[0], x->together);
	live_end(r->context.live, rc < 0);
	for (size_t i = 0; i < m->roles.nown && rc == 0; i++)
		check_run(r, s->number, i, json_get(m->recs[i], "metrics"));
	return 0;
}

/*
 * Later cases cannot use the data of a case that failed. Keeps the first line
 * of its error: the end of a log, which follows, is in its record.
 */
static void
mark_spoilt(struct call *x, const struct step *s, const struct measure *m)
{
	if (x->spoilt)
		return;
	x->spoilt =
	    mem_printf("%s before it failed: %s", s->cas->id, measure_why(m));
	x->spoilt[strcspn(x->spoilt, "\n")] = '\0';
}

/* Gives a step its server: that of the steps before, or a fresh one. 0, or -1
 * with the error in the measure. */
static int
call_prepare_server(struct call *x, const struct step *s, struct measure *m)
{
	bool reset = scene_resets_server(s->cas->record);
	char *why = NULL;

	if (reset) {
		free(x->spoilt);
		x->spoilt = NULL;
	}
	if (x->spoilt)
		return measure_fail(m, mem_str(x->spoilt));
	if (x->handle.server && !reset)
		return 0;
	return handle_reset(&x->handle, s->cas, &why) < 0 ? measure_fail(m, why)
							  : 0;
}

/* Ends the server after the last step. -1 if it has ended before, with the
 * error in the measure. */
static int
call_check_survival(
    struct call *x, const struct step *s, struct measure *m, bool last)
{
	char *why = NULL;

	if (!last && !handle_is_lost(&x->handle, s->cas, m->error.len > 0))
		return 0;
	return handle_end(&x->handle, &why) < 0 ? measure_fail(m, why) : 0;
}

/* Begins the step in all parts of the load. */
static void
begin_parts(const struct call *x, const struct step *s)
{
	char *name = mem_printf("%s run %zu", s->cas->id, x->v->turn->index);

	peers_begin(x->r->context.peers, name);
	free(name);
}

/* Runs a step. Returns 0, or -1: stop. */
static int
call_run_step(struct call *x, const struct step *s, bool last)
{
	struct session *r = x->r;
	bool profiled = x->v->profile && call_measures(s);
	struct server_handle *handle = &x->handle;
	struct measure m;
	int rc;

	if (call_measures(s) && !profiled)
		begin_run(r, x->v->turn, s->number);
	call_start_measure(x, &m, s->cas);
	if (!call_measures(s) || profiled)
		r->context.order -= m.roles.n;
	if (profiled)
		measure_profile(&m);
	else if (call_measures(s)) {
		measure_start_at(&m);
		if (!x->v->reference)
			measure_show(&m);
	}
	begin_parts(x, s);
	rc = call_prepare_server(x, s, &m);
	measure_run(&m, &handle, 1, &rc);
	if (!*r->context.stop && x->handle.server &&
	    call_check_survival(x, s, &m, last) < 0)
		rc = -1;
	if (rc < 0 &&
	    (scene_changes_server(s->cas->record) || !x->handle.server))
		mark_spoilt(x, s, &m);
	/* a finished profile is recorded: it is not made again */
	if (*r->context.stop && !(rc == 0 && profiled))
		rc = -1;
	else
		rc = call_measures(s) ? call_write_records(x, &m, s, rc) : 0;
	measure_free(&m);
	return r->context.endangered || peers_is_broken(r->context.peers) ? -1
									  : rc;
}

/* Plans the steps of a build, one of n that are loaded at the same time. */
static void
call_begin(struct call *x, struct session *r, struct case_run *v, size_t n)
{
	*x = (struct call){.r = r,
	    .a = &r->a,
	    .v = v,
	    .together = n,
	    .handle = {.context = &r->context,
		.build = builds_get(r->a.builds, v->turn->build)}};
	if (v->profile)
		snprintf(
		    r->context.run_name, sizeof r->context.run_name, "profile");
	else
		snprintf(r->context.run_name, sizeof r->context.run_name,
		    "run-%zu", v->turn->index);
	plan_steps(x);
}

static void
call_end(struct call *x)
{
	char *why;

	if (x->handle.server && handle_end(&x->handle, &why) < 0)
		free(why);
	handle_free(&x->handle);
	free(x->spoilt);
	free(x->steps);
}

/* Tries a case on a server of its own. 1: it failed; -1: stop. */
static int
try_step(struct call *x, const struct step *s)
{
	struct server_handle l = {
	    .context = &x->r->context, .build = x->handle.build};
	struct measure m;
	char *why;
	int rc = 0, k;

	begin_run(x->r, x->v->turn, s->number);
	call_start_measure(x, &m, s->cas);
	x->r->context.order -= m.roles.n;
	k = handle_start(&l, s->cas, &why);
	if (k < 0)
		measure_fail(&m, why);
	else
		k = measure_attempt(&m, &l);
	if (handle_end(&l, &why) < 0)
		k = measure_fail(&m, why);
	handle_free(&x->handle);
	x->handle.logs = l.logs; /* for the report of a failure */
	if (*x->r->context.stop)
		rc = -1;
	else if (k < 0) {
		x->r->context.order += m.roles.n;
		rc = call_write_records(x, &m, s, -1);
	}
	measure_free(&m);
	return rc < 0 ? -1 : k < 0;
}

static int
try_steps(struct call *x)
{
	const struct engine *e;
	int rc = 0;

	for (size_t i = 0; i < x->n && rc >= 0; i++) {
		e = engines_find(
		    x->r->context.engines, x->steps[i].cas->record);
		if (!call_measures(&x->steps[i]) || !e->untried ||
		    !e->untried(e->self, x->steps[i].cas->record))
			continue;
		rc = try_step(x, &x->steps[i]);
		if (rc > 0)
			x->steps[i].run = false;
	}
	return rc < 0 ? -1 : 0;
}

/*
 * Can the roles of a case be loaded in slices? Several roles need a duration,
 * to end together. A rate that changes and storms go by the time, each search
 * chooses rates of its own, and a trace is replayed without breaks.
 */
static bool
can_slice_parts(const struct roles *r)
{
	const struct bench_load *l;

	for (size_t i = 0; i < r->nown; i++)
		if (ratespec_changes(&r->v[i].load.rate) || r->v[i].load.slo ||
		    r->v[i].load.replay || r->v[i].load.work.conns.storm_s > 0)
			return false;
	for (size_t i = 0; i < r->nown && r->nown > 1; i++) {
		l = &r->v[i].load;
		if (l->work.requests > 0 || l->work.duration_s <= 0)
			return false;
	}
	return true;
}

/*
 * Can the builds of a turn be loaded in slices: all cases of its scene? A port
 * that is given is that of one server at a time.
 */
static bool
can_slice(const struct schedule *a, const struct turn *turn)
{
	const struct scene *scene = &a->scenes.v[turn->scene];
	size_t cas;

	for (size_t i = 0; i < scene->n; i++) {
		cas = scene->v[i];
		if (!engines_find(a->engines, a->cases[cas].record)->slices ||
		    json_get(a->cases[cas].server, "port") ||
		    !can_slice_parts(&a->roles[cas]) || a->too_large[cas])
			return false;
	}
	return a->order == ORDER_SLICES;
}

/* Leaves a scene to interleaved rounds; frees 'why'. Returns 1. */
static int
refuse_slices(struct call *x, char *why)
{
	x->a->too_large[x->a->scenes.v[x->v->turn->scene].v[0]] = true;
	err_say("%s: not in slices: %s; its builds are measured one after the "
		"other in each round",
	    x->steps->cas->id, why);
	free(why);
	return 1;
}

/*
 * Writes the failed runs of those of n calls whose server 'died' in slices:
 * these are not made again, unlike those of the others. 0, or -1, error
 * reported.
 */
static int
write_deaths(
    struct call *x, struct measure *m, size_t n, size_t k, const bool *died)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		if (!died[i])
			continue;
		rc = call_write_records(&x[i], &m[i], &x[i].steps[k], -1);
		*x[i].steps[k].wanted = false;
	}
	return rc;
}

/* Returns the call of the reference among n, or NULL. */
static struct call *
find_reference(struct call *x, size_t n)
{
	return x[n - 1].v->reference ? &x[n - 1] : NULL;
}

/* The reference is lost: the runs beside it fail, each with the reason. */
static void
fail_beside(struct measure *m, size_t n, bool *died)
{
	const struct measure *of = &m[n - 1];
	char *name = record_subject_name(json_get(of->build, "subject"));
	const char *why = of->error.len ? of->error.s : err_last();

	for (size_t i = 0; i + 1 < n; i++) {
		str_clear(&m[i].error);
		measure_fail(&m[i],
		    mem_printf("the reference '%s' failed: %.*s", name,
			(int)strcspn(why, "\n"), why));
		died[i] = true;
	}
	free(name);
}

/* Runs the k-th step of n calls, each on its server, in slices. */
static int
run_sliced_step(struct call *x, size_t n, size_t k, bool last)
{
	struct session *r = x->r;
	struct measure *m = mem_array(n, sizeof *m);
	struct server_handle **handles = mem_array(n, sizeof *handles);
	bool *died = mem_array(n, sizeof *died), written = false;
	int *rcs = mem_array(n, sizeof *rcs), rc = 0;
	struct call *reference = find_reference(x, n);
	struct turn all = *x->v->turn;
	const char *why;
	size_t bad = n;

	all.build = SIZE_MAX;
	begin_run(r, &all, x->steps[k].number);
	for (size_t i = 0; i < n; i++) {
		handles[i] = &x[i].handle;
		call_start_measure(&x[i], &m[i], x[i].steps[k].cas);
		if (!x[i].v->reference)
			measure_show(&m[i]);
		rcs[i] = call_prepare_server(&x[i], &x[i].steps[k], &m[i]);
	}
	measure_run(m, handles, n, rcs);
	if (reference)
		call_note_reference(reference, &m[n - 1]);
	for (size_t i = n; i-- > 0;) {
		died[i] = x[i].handle.server ? !*r->context.stop &&
			call_check_survival(
			    &x[i], &x[i].steps[k], &m[i], last) < 0
					     : &x[i] == reference;
		written = written || died[i];
		/* The first that knows why: others only stopped with it. */
		if ((rcs[i] < 0 || died[i]) && (bad == n || m[i].error.len))
			bad = i;
	}
	if (*r->context.stop) {
		free(r->context.too_large);
		rc = -1;
	} else if (r->context.too_large) {
		rc = refuse_slices(x, r->context.too_large);
	} else if (reference && died[n - 1]) {
		rc = 1;
		fail_beside(m, n, died);
		if (write_deaths(x, m, n, k, died) < 0)
			rc = -1;
	} else if (bad < n) {
		rc = 1;
		if (reference && rcs[n - 1] < 0 && m[n - 1].error.len)
			reference->v->failed++;
		why = m[bad].error.len ? m[bad].error.s : err_last();
		err_say("%s: run %zu%s failed in slices: %.*s; %s measured "
			"alone%s",
		    x->steps[k].cas->id, x->v->turn->index,
		    &x[bad] == reference ? " of the reference" : "",
		    (int)strcspn(why, "\n"), why,
		    died[bad] ? "the other builds are" : "each build is",
		    reference ? ", without the reference" : "");
		if (write_deaths(x, m, n, k, died) < 0)
			rc = -1;
	}
	r->context.too_large = NULL;
	if (rc == 0 && reference)
		rc = call_write_records(
		    reference, &m[n - 1], &reference->steps[k], 0);
	for (size_t i = 0; i < n && rc == 0; i++)
		if (&x[i] != reference)
			rc =
			    call_write_records(&x[i], &m[i], &x[i].steps[k], 0);
	for (size_t i = 0; i < n; i++) {
		/* Those that are made again get their numbers, unless records
		 * have some of these. */
		r->context.order -= rc == 1 && !written ? m[i].roles.n : 0;
		measure_free(&m[i]);
	}
	free(rcs);
	free(died);
	free(handles);
	free(m);
	return rc;
}

/* Returns how many of n calls measure their k-th step. */
static size_t
count_measured(const struct call *x, size_t n, size_t k)
{
	size_t measured = 0;

	for (size_t i = 0; i < n; i++)
		measured += call_measures(&x[i].steps[k]);
	return measured;
}

/*
 * Runs the steps of n calls: of several what is measured in slices, what only
 * makes its data one server after the other. Returns 0; 1 if the rest has to be
 * measured alone; -1: stop.
 */
static int
run_calls(struct call *x, size_t n)
{
	size_t last = 0, measured;
	int rc = 0;

	for (size_t k = 0; k < x->n; k++) {
		measured = count_measured(x, n, k);
		if (measured && measured < n) {
			err_say("%s: run %zu is not in slices, since some "
				"builds have it already",
			    x->steps[k].cas->id, x->v->turn->index);
			return 1;
		}
		last = x->steps[k].run ? k : last;
	}
	for (size_t k = 0; k <= last && rc == 0; k++)
		if (n > 1 && count_measured(x, n, k))
			rc = run_sliced_step(x, n, k, k == last);
		else
			for (size_t i = 0; i < n && rc == 0; i++)
				rc = x[i].steps[k].run
				    ? call_run_step(&x[i], &x[i].steps[k],
					  n == 1 && k == last)
				    : 0;
	return rc;
}

/* Returns why n servers do not fit into memory together, or NULL. */
static char *
explain_memory(const struct call *x, size_t n)
{
	char *why = NULL;

	for (size_t k = 0; k < x->n && !why; k++)
		if (x->steps[k].run)
			why = room_explain_case(x->steps[k].cas, n);
	return why;
}

/*
 * Runs the cases of a turn that are wanted, and without recording it one whose
 * data a later one needs; or those of n turns of one scene on different builds,
 * whose servers are loaded in slices: can_slice must be true for them. Returns
 * 0 if all were measured, or failed, and were written; -1 if not all could be
 * written, or *stop is set (the current run is not written). If a case fails in
 * slices on one server, which may be the fault of another, nothing of it is
 * written but the failed runs of servers that died, and 1 returned: what is
 * still wanted has to be run alone. If one of the servers is the reference, it
 * is the last; if it died, all runs have failed.
 */
static int
run_cases(struct session *r, struct case_run *v, size_t n)
{
	struct call *x = mem_array(n, sizeof *x);
	char *why;
	int rc;

	for (size_t i = 0; i < n; i++)
		call_begin(&x[i], r, &v[i], n > 1 ? n - v[n - 1].reference : 1);
	why = n > 1 ? explain_memory(x, n) : NULL;
	if (why)
		rc = refuse_slices(x, why);
	else if (n > 1 || (rc = try_steps(x)) == 0)
		rc = run_calls(x, n);
	for (size_t i = 0; i < n; i++)
		call_end(&x[i]);
	free(x);
	return *r->context.stop ? -1 : rc;
}

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
		k = run_cases(s, v, 1);
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

	json_free(s->beside);
	s->beside = NULL;
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
		k = run_cases(s, &reference, 1);
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
	bool reference, together = can_slice(&s->a, &s->a.turns[first]);
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
		k = run_cases(s, v, all);
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

	if (can_slice(&s->a, v))
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
		if (*s->context.stop || run_together(s, i, n) < 0)
			return -1;
	}
	return 0;
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
		announce_budget(s, &line);
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

/* Takes the lock before the first turn. 0, or -1, error reported. */
static int
take_lock(struct session *s)
{
	if (s->lock == -1)
		s->lock =
		    s->o->no_lock || !peers_is_first_here(s->context.peers)
		    ? HOSTLOCK_NONE
		    : hostlock_take(s->context.stop);
	return s->lock == -1 ? -1 : 0;
}

static int
begin_session(struct session *s)
{
	announce_session(s);
	give_advice(s);
	if (take_lock(s) < 0)
		return -1;
	s->begun = clock_ns();
	if (s->context.external)
		return 0;
	s->context.coproc = handle_start_serve(serve_words(s->context.serve));
	return s->context.coproc ? 0 : -1;
}

/* Makes all turns. Returns 0, or -1 if the session cannot go on. */
static int
run_turns(struct session *s)
{
	struct schedule *a = &s->a;

	while (make_turns(s)) {
		a->progress.total = a->progress.done;
		for (size_t i = 0; i < a->nturns; i++)
			a->progress.total +=
			    schedule_count_wanted(a, &a->turns[i]);
		if ((a->nturns && !s->begun && begin_session(s) < 0) ||
		    run_each_turn(s) < 0)
			return -1;
		end_turns(s);
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
	report_rates(s);
	if (rc < 0)
		return -1;
	report_undecided(s);
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
	long long each = s->context.external ? 1 : 1 + l->replicas;

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
		if (!profiles_wanted(s->context.profiles, cas))
			continue;
		v.wanted[c] = !profiles_exist(
		    s->context.profiles, cas, build, count_nodes(s, cas));
		n += v.wanted[c];
		if (v.wanted[c] ? !is_verbose(s) : s->o->quiet)
			continue;
		who = schedule_format_build(&s->a, turn);
		err_say("%s%s: %s", cas->id, who,
		    v.wanted[c] ? "is being profiled" : "is profiled already");
		free(who);
	}
	if (n)
		rc = take_lock(s) < 0 ? -1 : run_cases(s, &v, 1);
	s->unprofiled += v.failed;
	free(v.wanted);
	return rc;
}

/* Profiles run after all measurements. Returns as run_schedule. */
static int
profile_scenes(struct session *s)
{
	struct turn turn = {.index = 1};

	if (!s->context.profiles->dir)
		return 0;
	progress_begin(&s->a.progress, "profile", 0, 0, -1);
	for (; turn.scene < s->a.scenes.n; turn.scene++)
		for (turn.build = 0; turn.build < s->a.builds->n; turn.build++)
			if (*s->context.stop || profile_scene(s, &turn) < 0)
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
	    counts_run(&s->context, &s->a, &s->machine, is_verbose(s),
		s->o->quiet, &failed) < 0)
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

	for (size_t i = 0;
	     i < sizeof parts / sizeof *parts && k >= 0 && !*s->context.stop;
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
    const struct builds *builds, struct results *results)
{
	struct session s = {.o = o,
	    .context = o->context,
	    .lock = -1,
	    .a = {.runs = o->runs,
		.has_budget = o->budget_s > 0,
		.order = schedule_parse_order(o->order),
		.seed = o->context.seed,
		.builds = builds,
		.engines = o->context.engines,
		.results = results,
		.parts = peers_count(o->context.peers),
		.elsewhere = o->context.serve != NULL,
		.unmeasured = o->count.only,
		.profiles = o->context.profiles}};
	struct case_context *x = &s.context;
	struct schedule *a = &s.a;
	struct json *machine, *brief;
	char tool[32];
	int rc, k = -1;

	if (x->peers)
		snprintf(x->session, sizeof x->session, "%s",
		    peers_session(x->peers));
	else if (record_name_session(x->session) < 0)
		return -1;
	s.named = mmap(NULL, (builds->n + 1) * sizeof *s.named,
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s.named == MAP_FAILED)
		return err_fail_sys("cannot share memory");
	rc = schedule_init(a, plan, x->stop);
	if (!a->runs)
		a->runs = choose_runs(a);
	s.look = a->runs;
	s.is_short = mem_array(a->ncases + 1, sizeof *s.is_short);
	s.misses = mem_array(a->ncases + 1, sizeof *s.misses);
	s.rates = mem_array(a->ncases + 1, sizeof *s.rates);
	for (size_t c = 0; c < a->ncases; c++) {
		s.cases += schedule_has_build(a, c);
		s.rates[c] = mem_array(a->roles[c].nown, sizeof **s.rates);
	}
	s.all_s = o->budget_s * (double)s.cases;
	machine = machine_record("", x->session);
	brief = machine_brief(json_get(machine, "env"));
	snprintf(tool, sizeof tool, "vkb-load %s", opt_version());
	json_set_str(brief, "benchmark_tool_version", tool);

	progress_open(&a->progress, o->quiet, o->verbose, a->ncases);
	if (builds->reference)
		a->progress.reference = 1 / (double)builds->n;
	if (choose_placement(&s) < 0 ||
	    counts_choose(&o->count, a, x->external != NULL) < 0 ||
	    schedule_take_finished(a) < 0 ||
	    (x->external &&
		extserver_admit(x->external, a->cases, a->ncases) < 0))
		goto out;
	if (!o->quiet)
		counts_announce(a, x->serve);
	x->env = brief;
	x->show = progress_draw;
	x->progress = &a->progress;
	s.machine = o->no_env ? NULL : machine;
	if (is_verbose(&s)) {
		x->started = name_server;
		x->started_arg = &s;
	}
	k = run_parts(&s);
	if (*x->stop && !o->quiet)
		report_stop(&s);
	json_free(s.reference);
	json_free(s.beside);
	handle_close_serve(x->coproc);
	hostlock_release(s.lock);
out:
	progress_close(&a->progress);
	for (size_t c = 0; c < a->ncases; c++)
		free(s.rates[c]);
	free(s.rates);
	free(s.is_short);
	free(s.misses);
	schedule_free(a);
	json_free(machine);
	json_free(brief);
	munmap(s.named, (builds->n + 1) * sizeof *s.named);
	free(s.name);
	return k || *x->stop ? -1 : rc;
}
