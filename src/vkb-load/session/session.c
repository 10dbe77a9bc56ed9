#include "session.h"
#include "advice.h"
#include "budget.h"
#include "caserunner.h"
#include "cpulist.h"
#include "err.h"
#include "hostlock.h"
#include "json.h"
#include "machine.h"
#include "mem.h"
#include "metric.h"
#include "num.h"
#include "opt.h"
#include "placement.h"
#include "record.h"
#include "results.h"
#include "schedule.h"
#include "str.h"
#include "sysfile.h"
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
#include <stddef.h>
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
