#include "vbench.h"
#include "child.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "metric.h"
#include "proc.h"
#include "record.h"
#include "str.h"
#include "vbtool.h"
#include "vkb-load/case/servercounts.h"
#include "vkb-load/case/target.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/meter/watch.h"
#include "vkb-load/plan/benchcase.h"
#include "vkb-load/plan/builds.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define TRIAL_LEAST_S .2
#define TRIAL_MOST_S 5
#define TRIALS 12
#define SEEN .9     /* least served part of the requests of a run by duration */
#define NEARLY 1.25 /* tolerated factor of an emulated duration */

/* The rate of a case in its trial, or in an earlier session. */
struct rate {
	const struct json *cas;
	double rps;
	long long requests; /* for its duration */
	bool reported;      /* a different duration was reported */
};

struct vbench {
	struct vbtool tool;
	bool login;
	struct rate *rates;
	size_t n, cap;
};

/* How a case is run with this program. */
struct how {
	double duration_s, warmup_s; /* asked for */
	bool pops;
	bool by_duration;    /* by an option */
	bool inline_warmup;  /* by an option */
	bool timed_warmup;   /* in a process of its own, by duration */
	bool counted_warmup; /* in a process of its own, by requests */
};

static double
get_duration(const struct json *cas)
{
	return json_get_num(json_get(cas, "config"), "duration_s", 0);
}

static bool
can_last(
    const struct vbench *v, const struct how *h, const char *option, double s)
{
	return !h->pops && s >= 1 && s == floor(s) &&
	    vbtool_has(&v->tool, option);
}

static void
set_duration(const struct vbench *v, struct how *h, double s)
{
	h->duration_s = s;
	h->by_duration = can_last(v, h, "--duration", s);
}

static struct how
plan_case(const struct vbench *v, const struct json *cas)
{
	const struct json *c = json_get(cas, "config");
	const char *command = json_get_str(c, "command");
	struct how h = {.warmup_s = json_get_num(c, "warmup_s", 0)};

	/* The number of pops must be known in advance, to seed the elements. */
	h.pops = command_needs(command) == NEEDS_POPS;
	set_duration(v, &h, get_duration(cas));
	if (h.warmup_s > 0) {
		h.inline_warmup = can_last(v, &h, "--warmup", h.warmup_s);
		h.timed_warmup = !h.inline_warmup &&
		    can_last(v, &h, "--duration", h.warmup_s);
		h.counted_warmup = !h.inline_warmup && !h.timed_warmup;
	}
	return h;
}

static char *
explain_case(
    const void *self, const struct bench_case *c, const struct roles *roles)
{
	const struct vbench *v = self;

	(void)roles;
	return vbtool_refuse(&v->tool, c->record, v->login);
}

static struct rate *
find_rate(const struct vbench *v, const struct json *cas)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->rates[i].cas == cas)
			return &v->rates[i];
	return NULL;
}

/* Must the rate be known, as the number of requests for some seconds? */
static bool
needs_rate(const struct how *h)
{
	return (h->duration_s > 0 && !h->by_duration) || h->counted_warmup;
}

static bool
needs_trial(const void *self, const struct json *cas)
{
	struct how h = plan_case(self, cas);

	return needs_rate(&h) && !find_rate(self, cas);
}

static long long
count_requests(double rps, double s)
{
	return (long long)fmin(fmax(1, ceil(rps * s)), 1e18);
}

static void
keep_rate(
    struct vbench *v, const struct json *cas, double rps, long long requests)
{
	v->rates = mem_grow(v->rates, v->n, &v->cap, sizeof *v->rates);
	v->rates[v->n++] = (struct rate){cas, rps, requests, false};
}

/* All runs of a case make the same number of requests, in all sessions. */
static int
recall_run(void *self, const struct json *cas, const struct engine_past *past)
{
	struct vbench *v = self;
	struct how h = plan_case(v, cas);

	if (past->tool && v->tool.sha256 &&
	    strcmp(past->tool, v->tool.sha256) != 0)
		return err_fail("%s: some runs were made with another " VBENCH
				": use the same one for all runs of a file",
		    json_get_str(cas, "id"));
	if (needs_trial(self, cas) && past->rps > 0 && past->requests > 0)
		keep_rate(v, cas, past->rps,
		    h.duration_s > 0 ? (long long)past->requests : 0);
	return 0;
}

static int
start_child(struct vbench *v, const struct engine_job *j,
    const struct vbtool_length *p, bool warmup, char *const *argv,
    struct child *c)
{
	const struct engine_target *t = &j->target->e;
	const char *variable = t->password ? vbtool_password(&v->tool) : NULL;
	const char *const env[] = {variable, t->password, NULL};
	const struct rate *rate = find_rate(v, j->cas);
	double s = p->duration_s;

	if (p->requests)
		s = rate ? (double)p->requests / rate->rps : 0;
	return child_run(&(struct child_spec){.job = j,
			     .argv = (const char *const *)argv,
			     .setenv = variable ? env : NULL,
			     .expected_s = s > 0 ? s + p->warmup_s : 0,
			     .most_s = p->requests ? 0 : 2 * (s + p->warmup_s),
			     .warmup = warmup},
	    c);
}

/*
 * Runs one process and keeps its output unless it is a warm-up. Returns 0, or
 * -1 after reporting an error, or -1 silently when stopped.
 */
static int
run_process(struct vbench *v, const struct engine_job *j,
    const struct vbtool_length *p, bool warmup, struct child *c)
{
	char **argv = vbtool_argv(&v->tool, &j->target->e, j->work, p), *text;
	int rc = start_child(v, j, p, warmup, argv, c);

	if (j->raw && !warmup && (c->out.len || c->err.len)) {
		text = vbtool_text(argv);
		*j->raw = record_raw("valkey-csv", text,
		    c->out.len ? c->out.s : c->err.s,
		    c->out.len ? c->out.len : c->err.len);
		free(text);
	}
	mem_free_list(argv);
	if (rc < 0)
		return -1;
	if (WIFEXITED(c->status) && WEXITSTATUS(c->status) == 0)
		return 0;
	text = child_describe_end(c, vbtool_name(&v->tool));
	err_say("%s", text);
	free(text);
	return -1;
}

/*
 * Returns the metrics, freed by the caller; NULL after reporting an error, or
 * silently with *quick (may be NULL).
 */
static struct json *
read_result(const struct vbench *v, const struct engine_job *j,
    const struct child *c, bool *quick)
{
	char **words = vbtool_words(&v->tool, j->work, j->target->e.cluster);
	struct str why = {0};
	struct json *metrics;
	char *last;
	bool too_quick;

	metrics = vbtool_result(c->out.len ? c->out.s : "", j->work->command,
	    words, &too_quick, &why);
	if (quick)
		*quick = too_quick;
	if (!metrics && !(quick && too_quick)) {
		last = child_describe_end(c, "it");
		err_say("%s %s; %s", vbtool_name(&v->tool), why.s, last);
		free(last);
	}
	str_free(&why);
	mem_free_list(words);
	return metrics;
}

/* Seeds the data for that many requests; a user's command gets none. */
static int
fill_servers(const struct engine_job *j, long long requests)
{
	struct engine_work w = *j->work;

	if (!command_known(w.command))
		return 0;
	w.requests = requests > 0 ? requests : 1;
	w.duration_s = w.warmup_s = 0;
	if (command_needs(w.command) == NEEDS_POPS &&
	    engine_refills(&j->target->e, &w))
		return err_fail("%lld elements for %s are more than can be "
				"seeded: limit them with '--requests'",
		    requests, w.command);
	return engine_seed(&j->target->e, &w, j->stop, j->progress, j->arg);
}

/*
 * Tries that many requests. Returns their rate; 0: they took no time; -1 after
 * reporting an error, or when stopped.
 */
static double
try_requests(struct vbench *v, const struct engine_job *j, double requests)
{
	struct vbtool_length p = {
	    .requests = (long long)fmin(requests, INT_MAX)};
	struct json *metrics = NULL;
	struct child c = {0};
	bool quick = false;
	double rps = -1;

	if (fill_servers(j, p.requests) == 0 &&
	    run_process(v, j, &p, true, &c) == 0)
		metrics = read_result(v, j, &c, &quick);
	if (metrics)
		rps = json_get_num(metrics, "rps", -1);
	json_free(metrics);
	child_free(&c);
	return quick ? 0 : rps;
}

/*
 * Tries more and more requests, until they take about as long as a run: the
 * number of keys and elements affects the rate, and with threads the program
 * notices the end up to a quarter of a second late.
 */
static int
try_case(void *self, const struct engine_job *j)
{
	struct vbench *v = self;
	struct how h = plan_case(v, j->cas);
	double goal = fmax(
	    TRIAL_LEAST_S, fmin(TRIAL_MOST_S, fmax(h.duration_s, h.warmup_s)));
	double rps = -1, n = 20.0 * j->work->clients * j->work->pipeline;

	for (int i = 0; i < TRIALS; i++) {
		rps = try_requests(v, j, n);
		if (rps < 0 || (rps > 0 && n / rps >= goal / 2))
			break;
		n = ceil(
		    n * (rps > 0 ? fmin(20, fmax(2, goal * rps / n)) : 20));
	}
	if (rps < 0)
		return -1;
	if (rps == 0)
		return err_fail(
		    "%s reported no throughput", vbtool_name(&v->tool));
	keep_rate(v, j->cas, rps,
	    h.duration_s > 0 ? count_requests(rps, h.duration_s) : 0);
	return 0;
}

/* Records the program, and which options were emulated. */
static void
set_tool(const struct vbench *v, const struct how *h, struct json *rec)
{
	static const char *const emulated[] = {
	    NULL, "duration", "warmup", "duration, warmup"};
	struct json *env = json_get(rec, "env");
	bool duration = h->duration_s > 0 && !h->by_duration;
	bool warmup = h->timed_warmup || h->counted_warmup;

	json_del(env, "benchmark_tool_version");
	json_set_str(env, "benchmark_tool_version", v->tool.version);
	json_set_str(env, "benchmark_tool_sha256", v->tool.sha256);
	json_set_str(env, "emulated", emulated[duration + 2 * warmup]);
	if (!vbtool_has(&v->tool, "--seed"))
		json_del(json_get(rec, "run"), "seed");
}

static int
warm_up(struct vbench *v, const struct engine_job *j, const struct how *h)
{
	struct vbtool_length p = {0};
	struct child c;
	int rc;

	if (h->counted_warmup)
		p.requests =
		    count_requests(find_rate(v, j->cas)->rps, h->warmup_s);
	else if (h->timed_warmup)
		p.duration_s = h->warmup_s;
	else
		return 0;
	rc = run_process(v, j, &p, true, &c);
	child_free(&c);
	return rc;
}

static int
measure_process(struct vbench *v, const struct engine_job *j,
    const struct vbtool_length *p, struct engine_result *r)
{
	struct json *metrics = NULL;
	struct child c = {0};
	double asked;
	int rc = -1;

	if (run_process(v, j, p, false, &c) < 0 ||
	    !(metrics = read_result(v, j, &c, NULL)))
		goto out;
	r->requests = (uint64_t)p->requests;
	r->hit_rate_percent = r->offered_rps = r->max_backlog = NAN;
	r->lost = r->unanswered = r->reconnects = r->pushes = NAN;
	r->rps = json_get_num(metrics, "rps", NAN);
	r->elapsed_s = r->requests ? (double)r->requests / r->rps : NAN;
	watch_report(
	    c.watch, &(struct watch_load){.requests = r->requests}, j->cost);
	servercounts_report(c.counts, j->cost);
	for (const struct metric *m = metric_table; m->name; m++)
		if (m->hist)
			json_set_num(watch_cost_metrics(j->cost), m->name,
			    json_get_num(metrics, m->name, NAN));
	asked = p->requests ? (double)p->requests : r->rps * p->duration_s;
	rc = servercounts_check(servercounts_sums(c.counts, false),
	    servercounts_sums(c.counts, true), asked,
	    p->requests ? asked : SEEN * asked, j->cas, r);
out:
	json_free(metrics);
	child_free(&c);
	return rc;
}

/* Reports once if the emulated duration was missed. */
static void
report_time(struct rate *rate, const struct how *h,
    const struct vbtool_length *p, const struct json *cas,
    const struct engine_result *r)
{
	double times = r->elapsed_s / h->duration_s;

	if (rate->reported || (times <= NEARLY && times >= 1 / NEARLY))
		return;
	rate->reported = true;
	err_say("%s: %lld requests took %.3g s instead of %g s",
	    json_get_str(cas, "id"), p->requests, r->elapsed_s, h->duration_s);
}

static int
run_case(struct vbench *v, const struct engine_job *j, struct engine_result *r)
{
	struct how h = plan_case(v, j->cas);
	struct vbtool_length p = {.requests = j->work->requests};
	struct rate *rate = find_rate(v, j->cas);
	long long pops;
	int rc = -1;

	/*
	 * A profile lasts longer than the case, and perhaps has no trial; nor
	 * has a case that only makes data for a later one.
	 */
	set_duration(v, &h, j->work->requests > 0 ? 0 : j->work->duration_s);
	if (!rate && needs_rate(&h)) {
		if (try_case(v, j) < 0)
			return -1;
		rate = find_rate(v, j->cas);
	}
	set_tool(v, &h, j->rec);
	if (h.by_duration)
		p.duration_s = h.duration_s;
	else if (h.duration_s > 0)
		p.requests = h.duration_s == get_duration(j->cas)
		    ? rate->requests
		    : count_requests(rate->rps, h.duration_s);
	if (h.inline_warmup)
		p.warmup_s = h.warmup_s;
	pops = p.requests +
	    (h.counted_warmup ? count_requests(rate->rps, h.warmup_s) : 0);
	if (pops > INT_MAX)
		return err_fail(VBENCH " cannot count %lld requests", pops);
	if (fill_servers(j, pops) == 0 && warm_up(v, j, &h) == 0)
		rc = measure_process(v, j, &p, r);
	if (rc == 0 && h.duration_s > 0 && !h.by_duration)
		report_time(rate, &h, &p, j->cas, r);
	return rc;
}

static void
run_job(void *self, const struct engine_job *j, size_t n, uint64_t seed,
    struct engine_result *const *results, int *rcs)
{
	(void)n;
	(void)seed;
	*rcs = run_case(self, j, *results);
}

static char *
find_program(const char *path, const struct builds *b)
{
	const char *own, *dirs = getenv("PATH");
	char *file = proc_find(path ? path : VBENCH, dirs);

	for (size_t i = 0; !file && !path && i < b->n; i++) {
		own = json_get_str(b->v[i], "benchmark");
		file = own ? proc_find(own, dirs) : NULL;
	}
	if (!file)
		err_fail("there is no program '%s'%s", path ? path : VBENCH,
		    path && strchr(path, '/') ? "" : " in PATH");
	return file;
}

struct vbench *
vbench_open(const char *path, const struct builds *b, bool login)
{
	struct vbench *v = mem_new(sizeof *v);
	char *file = find_program(path, b);

	v->login = login;
	if (!file || vbtool_read(&v->tool, file) < 0) {
		vbench_close(v);
		v = NULL;
	}
	free(file);
	return v;
}

void
vbench_close(struct vbench *v)
{
	if (!v)
		return;
	vbtool_free(&v->tool);
	free(v->rates);
	free(v);
}

struct engine
vbench_engine(struct vbench *v)
{
	return (struct engine){.name = VBENCH,
	    .self = v,
	    .cannot = explain_case,
	    .untried = needs_trial,
	    .recall = recall_run,
	    .attempt = try_case,
	    .run = run_job};
}
