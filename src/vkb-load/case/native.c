/*
 * The native load generator behind the interface of engines.h.
 */
#include "clock.h"
#include "counting.h"
#include "engines.h"
#include "err.h"
#include "errorcheck.h"
#include "hist.h"
#include "json.h"
#include "mem.h"
#include "metric.h"
#include "num.h"
#include "peers.h"
#include "replicas.h"
#include "roles.h"
#include "room.h"
#include "servercounts.h"
#include "slospec.h"
#include "str.h"
#include "target.h"
#include "vkb-load/data/dataset.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/template.h"
#include "vkb-load/engine/verify.h"
#include "vkb-load/meter/watch.h"
#include "vkb-load/plan/benchcase.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * The search for the capacity of a server: the highest rate of a load at which
 * a limit of the latency holds, see capacity.h for the method.
 *
 * The first trial is a closed loop, whose rate is where the search starts. Each
 * other trial is an open loop of the case's warm-up and duration at one rate.
 * It holds if the percentile does, if at least 99 % of the requests of its rate
 * were answered until the limit after its end (fewer mean that a backlog
 * grows), and if nothing failed. At the end there is one more trial at the rate
 * that was found, whose cost is recorded.
 */

#define LEAST_DUE 10. /* requests of a trial, at least */

struct search {
	const struct engine_job *job;
	struct engine_work work;
	const struct slospec *slo;
	struct capacity *capacity;  /* NULL: the first trial is not over */
	struct json *room, *trials; /* of the record */
	size_t done;
	struct engine_result last; /* without its errors, which 'all' has */
	struct engine_result all;  /* errors of all trials */
};

static void
report_progress(void *arg, const struct engine_progress *e)
{
	const struct search *s = arg;
	struct engine_progress all = *e;
	struct capacity_answer a;

	all.done = ((double)s->done + e->done) / ENGINES_TRIALS;
	all.trial = s->done + 1;
	if (s->capacity) {
		a = capacity_answer(s->capacity);
		all.low = a.low;
		all.high = a.high;
	}
	s->job->progress(s->job->arg, &all);
}

static bool
check_held(const struct search *s, const struct engine_result *r)
{
	struct metric_achieved a = {
	    r->rps, r->offered_rps, s->slo->limit_ms / 1e3, r->elapsed_s};

	return !r->errors_total && r->lost + r->unanswered <= 0 &&
	    metric_time(s->slo->metric, r->latency) <= s->slo->limit_ms &&
	    metric_achieved_percent(&a) >= METRIC_REACHED_PERCENT;
}

static void
push_column(struct json *room, const char *name, struct json *v)
{
	if (!json_get(room, name))
		json_set(room, name, json_array());
	json_push(json_get(room, name), v);
}

static void
note_trial(struct search *s, const struct engine_result *r, bool held)
{
	static const char *const shown[] = {"p50_latency_ms", "p99_latency_ms"};

	if (!hist_count(r->latency))
		return;
	push_column(s->trials, "offered_rps", json_number(r->offered_rps));
	push_column(s->trials, "rps", json_number(r->rps));
	for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
		push_column(s->trials, shown[i],
		    json_number(
			metric_time(metric_find(shown[i]), r->latency)));
	push_column(s->trials, "limited_latency_ms",
	    json_number(metric_time(s->slo->metric, r->latency)));
	push_column(s->trials, "held", json_boolean(held));
}

/* Makes a trial at a rate; 0: a closed loop. Keeps its result in 'last'. */
static int
make_trial(struct search *s, double rate, const struct engine_meter *meter)
{
	struct engine_result *r = &s->last;
	int rc;

	engine_result_free(r);
	s->work.rate = rate;
	s->work.seed++; /* trials differ, those of another build do not */
	rc = engine_run(&s->job->target->e, &s->work, 1, s->job->stop,
	    s->job->progress ? report_progress : NULL, s, meter, r);
	engine_result_add_errors(&s->all, r);
	s->done++;
	return rc;
}

/*
 * The closed loop, whose rate is where the search starts. If the run begins at
 * a given time, it does so then.
 */
static int
find_start(struct search *s, const struct engine_meter *meter)
{
	struct engine_meter first = {
	    .when = meter->when, .when_arg = meter->when_arg};
	int rc = make_trial(s, 0, &first);

	if (rc < 0)
		return -1;
	if (!s->last.requests || s->last.refused) {
		err_say("no capacity can be searched: in a closed loop %s%s",
		    s->last.requests ? "requests were refused: "
				     : "no request was answered",
		    s->last.requests ? s->last.refusal : "");
		return 1;
	}
	json_set_num(s->room, "closed_rps", s->last.rps);
	s->capacity = capacity_new(s->last.rps);
	return 0;
}

/* Reports that all trials, or none, held. Returns 1. */
static int
report_outside(const struct search *s, double rate, bool held)
{
	char *limit = slospec_format(s->slo), buf[NUM_BUF];

	if (held)
		err_say("no capacity was found: %s holds even at %s requests "
			"per second, %d times the rate of a closed loop",
		    limit, num_human(buf, rate), CAPACITY_UP);
	else
		err_say("no capacity was found: %s does not hold even at %s "
			"requests per second (%.6g ms, %llu errors%s%s)",
		    limit, num_human(buf, rate),
		    metric_time(s->slo->metric, s->last.latency),
		    (unsigned long long)s->all.errors_total,
		    s->all.nerrors ? ": " : "",
		    s->all.nerrors ? s->all.errors[0].text : "");
	free(limit);
	return 1;
}

static int
search_rates(struct search *s)
{
	double rate, least = LEAST_DUE / s->work.duration_s, last = 0;
	struct capacity_answer a;
	bool held;

	while ((rate = capacity_next(s->capacity)) > 0) {
		a = capacity_answer(s->capacity);
		if (rate < least && !a.held)
			break;
		last = rate = fmax(rate, least);
		if (make_trial(s, rate, NULL) < 0)
			return -1;
		held = check_held(s, &s->last);
		note_trial(s, &s->last, held);
		capacity_add(s->capacity, rate, held);
	}
	a = capacity_answer(s->capacity);
	if (!a.held || a.held == a.trials)
		return report_outside(s, last, a.held > 0);
	json_set(s->room, "ci95", json_pair(a.low, a.high));
	return 0;
}

/* The last trial, at the capacity. */
static int
measure_cost(struct search *s, const struct engine_meter *meter)
{
	double rate = capacity_answer(s->capacity).rate;
	struct engine_meter last = *meter;

	last.when = NULL;
	if (make_trial(s, rate, &last) < 0)
		return -1;
	note_trial(s, &s->last, check_held(s, &s->last));
	s->last.capacity_rps = rate;
	return 0;
}

/*
 * Returns the last result with the errors of all, without rate and latency; an
 * empty one if the search failed.
 */
static struct engine_result
make_result(struct search *s, int rc)
{
	struct engine_result r = s->last;

	r.written = NULL;
	engine_result_free(&r);
	r.written = s->last.written;
	if (rc != 0)
		return (struct engine_result){.written = r.written};
	for (size_t i = 0; i < s->all.nerrors; i++)
		r.errors[i] = s->all.errors[i];
	r.nerrors = s->all.nerrors;
	r.errors_total = s->all.errors_total;
	r.lost = s->all.lost;
	r.unanswered = s->all.unanswered;
	r.reconnects = s->all.reconnects;
	r.verified = s->all.verified;
	r.rps = r.offered_rps = r.max_backlog = NAN;
	return r;
}

/*
 * Runs the search on a server that is filled, with one stream. Sets 'capacity'
 * in the record of the job, to the trials made so far if it fails, and *result
 * to that of the last trial, with the capacity, without rate and latencies; if
 * it fails, to an empty one.
 * Returns 0; 1 after reporting that no capacity was found; -1 after reporting
 * an error or if it was stopped.
 */
static int
search_run(const struct engine_job *j, const struct engine_work *work,
    const struct slospec *slo, const struct engine_meter *meter,
    struct engine_result *result)
{
	struct search s = {.job = j, .work = *work, .slo = slo};
	int rc;

	s.room = json_object();
	s.trials = json_object();
	json_set(s.room, "trials", s.trials);
	json_set(j->rec, "capacity", s.room);
	rc = find_start(&s, meter);
	if (rc == 0)
		rc = search_rates(&s);
	if (rc == 0)
		rc = measure_cost(&s, meter);
	if (!json_len(s.trials))
		json_del(j->rec, "capacity");
	*result = make_result(&s, rc);
	capacity_free(s.capacity);
	return rc;
}

/* Returns why none of its commands can have the options, or NULL; caller frees.
 */
static char *
explain_options(const struct engine_work *w)
{
	char *first = NULL, *why;

	for (size_t i = 0; i < engine_count_commands(w); i++) {
		why =
		    command_explain_options(engine_command(w, i), &w->options);
		if (!why) {
			free(first);
			return NULL;
		}
		if (first)
			free(why);
		else
			first = why;
	}
	return first;
}

/* Returns why a rate cannot be held, or NULL. Static. */
static const char *
explain_rate(const struct bench_load *l)
{
	return ratespec_changes(&l->rate) && l->work.duration_s <= 0
	    ? "a rate that changes needs a 'duration', not 'requests'"
	    : NULL;
}

/* Returns why the capacity of a case cannot be searched, or NULL. Static. */
static const char *
explain_search(const struct bench_load *l, const struct roles *r)
{
	if (!l->slo)
		return NULL;
	if (l->rate.from > 0)
		return "'slo' searches a rate, so it excludes 'rate'";
	if (l->work.duration_s <= 0)
		return "a search ('slo') needs a 'duration', that of its "
		       "trials, not 'requests'";
	if (r->nown > 1 || r->nworks > 1)
		return "a search ('slo') has one load, not writers and readers "
		       "or clients in parallel";
	return NULL;
}

/* Returns why a role cannot be run, or NULL. Caller frees. */
static char *
explain_role(const struct role *r, const struct engine_work *w)
{
	const struct bench_load *l = &r->load;
	const struct engine_target target = {.cluster = l->cluster};
	struct template *t;
	char *why = NULL;

	if (explain_rate(l))
		return mem_str(explain_rate(l));
	if (w->keys.kind == KEYSPEC_LATEST && l->cluster)
		return mem_str("in a cluster __seq__ goes to any node, so "
			       "the latest keys cannot be found");
	why = explain_options(w);
	if (why)
		return why;
	if (w->verify && l->read_replicas)
		why = mem_str("a replica may not have the newest values, so "
			      "'verify' needs 'read_from' primary");
	else if (w->verify)
		why = verify_explain_work(w);
	if (w->values.n && !why)
		why = room_explain_requests(w, (size_t)l->nodes);
	if (why || l->replay || (!w->nmix && command_known(w->command)))
		return why;
	t = template_new(&target, w, &why);
	if (t && *template_fields(t) && !l->data.path)
		why =
		    mem_printf("'%s' uses a field, but the case has no dataset",
			w->command);
	template_free(t);
	return why;
}

/* Returns why what fills the server cannot be verified, or NULL. */
static char *
explain_populating(const char *with)
{
	char *name = str_upper(with), *why;

	why = verify_explain(command_known(name) ? name : with, NULL);
	free(name);
	return why;
}

static char *
explain_case(
    const void *self, const struct bench_case *c, const struct roles *r)
{
	char *why = NULL;

	(void)self;
	if (explain_search(&c->load, r))
		why = mem_str(explain_search(&c->load, r));
	for (size_t i = 0; i < r->nown && !why; i++)
		why = explain_role(&r->v[i], &r->works[r->v[i].first]);
	if (!why && r->works[0].verify && c->populate_with)
		why = explain_populating(c->populate_with);
	return why;
}

/* Says which commands of a trace were not sent. */
static void
report_omitted(const char *id, const struct engine_result *r)
{
	struct str s = {0};
	uint64_t all = 0;

	for (size_t i = 0; i < r->nomitted; i++) {
		const struct engine_error *e = &r->omitted[i];

		all += e->count;
		str_printf(&s, "%s%s %llu (%s)", i ? ", " : "", e->kind,
		    (unsigned long long)e->count, e->text);
	}
	err_say("%s: %llu command%s of the trace %s not sent: %s", id,
	    (unsigned long long)all, num_plural((double)all),
	    all == 1 ? "was" : "were", s.s);
	str_free(&s);
}

/* Returns true after reporting that what was read is not what was written. */
static bool
is_corrupt(const char *id, const char *part, const struct engine_verified *v)
{
	for (size_t i = v->nfirst; i-- > 1;)
		err_say("%s: %s", id, v->first[i]);
	if (v->errors)
		err_say("%s%s%llu of %llu values that were read are not what "
			"was written: %s",
		    part ? part : "", part ? ": " : "",
		    (unsigned long long)v->errors,
		    (unsigned long long)v->checked, v->first[0]);
	return v->errors > 0;
}

static int
check_result(
    const struct engine_job *j, size_t i, const struct engine_result *r)
{
	const struct engine_error *e = &r->errors[0];
	const char *part = j->nwork > 1 ? j->work[i].command : NULL;

	if (!r->requests) {
		err_say("%s%sno request was answered%s%s%s", part ? part : "",
		    part ? ": " : "", r->nerrors ? ": " : "",
		    r->nerrors ? e->text : "", errorcheck_advice(r));
		return 1;
	}
	if (r->nomitted)
		report_omitted(json_get_str(j->cas, "id"), r);
	if (is_corrupt(json_get_str(j->cas, "id"), part, &r->verified))
		return 1;
	for (size_t k = 0; k < j->work[i].nmix && k < r->nparts; k++)
		if (errorcheck_fails(
			j->cas, j->work[i].mix[k].command, &r->parts[k]))
			return 1;
	/* The trials of a search have been judged. */
	if (!(r->capacity_rps > 0) && errorcheck_fails(j->cas, part, r))
		return 1;
	errorcheck_report(j->cas, r);
	return 0;
}

/* The progress report while datasets are read. */
struct reading {
	const struct engine_job *job;
	int64_t reported_ns;
};

#define REPORT_NS 250000000 /* between two reports */

static bool
is_stopped(void *arg)
{
	struct reading *r = arg;
	const struct engine_job *j = r->job;
	struct engine_progress p = {.rps = NAN, .p99_ms = NAN, .seeding = true};
	int64_t now = clock_ns();

	if (j->progress && now - r->reported_ns > REPORT_NS) {
		r->reported_ns = now;
		j->progress(j->arg, &p);
	}
	return j->stop && *j->stop;
}

/*
 * Finds the rows that a stream sends. Returns 0, or -1 after reporting an
 * error, or -1 silently when stopped. Errors in the template are left to the
 * engine to report.
 */
static int
find_rows(struct datasets *datasets, struct reading *r, struct engine_work *w)
{
	struct dataset_want want;
	struct template *template;
	char *why;
	int rc = 0;

	if ((!w->nmix && command_known(w->command)) || !w->data ||
	    !w->data->path)
		return 0;
	template = template_new(&r->job->target->e, w, &why);
	if (!template) {
		free(why);
		return 0;
	}
	want = *w->data;
	want.fields = template_fields(template);
	if (*want.fields) {
		w->rows = datasets_get(datasets, &want, is_stopped, r);
		rc = w->rows ? 0 : -1;
	}
	template_free(template);
	return rc;
}

/*
 * Returns a copy of the works with their rows, freed with free(); NULL where
 * find_rows returns -1.
 */
static struct engine_work *
add_rows(struct datasets *datasets, const struct engine_job *j,
    const struct engine_work *works, size_t n)
{
	struct engine_work *v = mem_array(n + 1, sizeof *v);
	struct reading r = {.job = j};

	for (size_t i = 0; i < n; i++) {
		v[i] = works[i];
		if (find_rows(datasets, &r, &v[i]) < 0) {
			free(v);
			return NULL;
		}
	}
	return v;
}

/* Runs the warm-up on connections of its own and drops its results. */
static int
warm_up(const struct engine_job *j, const struct engine_work *works)
{
	struct engine_result *v = mem_array(j->nwarmup + 1, sizeof *v);
	int rc = 0;

	if (j->nwarmup)
		rc = engine_run(&j->target->e, works, j->nwarmup, j->stop,
		    j->progress, j->arg, NULL, v);
	for (size_t i = 0; i < j->nwarmup; i++) {
		if (rc == 0 &&
		    is_corrupt(
			json_get_str(j->cas, "id"), "warm-up", &v[i].verified))
			rc = 1;
		engine_result_free(&v[i]);
	}
	free(v);
	return rc;
}

/* What a job needs while it runs. */
struct running {
	const struct engine_job *job;
	struct engine_work *works, *warmup;
	struct watch *watch;
	struct servercounts *counts;
	struct engine_meter meter;
	struct engine_result *results;
};

/* Finds what a job sends. Returns 0 or -1. */
static int
find_works(struct datasets *datasets, struct running *x)
{
	const struct engine_job *j = x->job;

	x->works = add_rows(datasets, j, j->work, j->nwork);
	x->warmup =
	    x->works ? add_rows(datasets, j, j->warmup, j->nwarmup) : NULL;
	return x->warmup ? 0 : -1;
}

/* Leaves of all streams what this part of the load makes. */
static void
take_share(struct running *x, struct peers *peers)
{
	unsigned part = peers_number(peers), n = peers_count(peers);

	for (size_t i = 0; i < x->job->nwork && n; i++)
		x->works[i] = engine_share_work(&x->works[i], part, n);
	for (size_t i = 0; i < x->job->nwarmup && n; i++)
		x->warmup[i] = engine_share_work(&x->warmup[i], part, n);
}

/*
 * Fills the server of a job; of a load of several parts, the first one does.
 * Returns 0 or -1.
 */
static int
begin_job(struct datasets *datasets, struct running *x)
{
	const struct engine_job *j = x->job;
	struct peers *peers = j->starting->peers;
	int rc = find_works(datasets, x);

	for (size_t i = 0; i < j->nwork && rc == 0 && peers_leads(peers); i++)
		rc = engine_seed(
		    &j->target->e, &x->works[i], j->stop, j->progress, j->arg);
	for (size_t i = 0; rc == 0 && i < j->nwork; i++)
		x->works[i].filled = true;
	for (size_t i = 0; rc == 0 && i < j->nwarmup; i++)
		x->warmup[i].filled = true;
	if (rc == 0 && peers_leads(peers))
		rc = replicas_wait(j, x->works);
	if (rc == 0)
		rc = peers_wait(peers, PEERS_FILLED);
	if (rc != 0)
		return rc;
	take_share(x, peers);
	return warm_up(j, x->warmup);
}

static void
begin_watch(struct running *x)
{
	x->watch = watch_new(&x->job->target->e);
	x->meter = watch_meter(x->watch);
	x->meter.ended = x->job->ended;
	x->meter.ended_arg = x->job->arg;
	x->counts = servercounts_open(x->job->target, SERVERCOUNTS_MS);
	servercounts_begin(x->counts);
	if (x->job->starting->peers || x->job->starting->at_s > 0) {
		x->meter.when = peers_when;
		x->meter.when_arg = x->job->starting;
	}
}

/* Reports the cost of the job, and checks its results. 'rc' as in run. */
static int
end_job(struct running *x, double others_ns, int rc)
{
	const struct engine_job *j = x->job;
	struct watch_load load = {.others_ns = others_ns};

	for (size_t i = 0; i < j->nwork && x->watch; i++) {
		load.requests += x->results[i].active_s > 0
		    ? x->results[i].answered
		    : x->results[i].requests;
		load.active_s = fmax(load.active_s, x->results[i].active_s);
	}
	if (rc == 0) /* else a server may not answer */
		servercounts_end(x->counts);
	if (x->watch)
		watch_report(x->watch, &load, j->cost);
	servercounts_report(x->counts, j->cost);
	servercounts_close(x->counts);
	if (rc == 0)
		rc = verify_read_back(&j->target->e, x->works, j->nwork,
		    j->stop, j->progress, j->arg, x->results);
	/* Stops at the first bad result: the last message is the reason. */
	for (size_t i = 0; i < j->nwork && rc == 0; i++)
		if (!j->counted || !x->results[i].refused)
			rc = check_result(j, i, &x->results[i]);
	watch_free(x->watch);
	free(x->warmup);
	free(x->works);
	return rc;
}

/* Fails if there is no room for servers like the first. Returns 0 or -1. */
static int
check_memory(const struct engine_job *jobs, size_t n)
{
	*jobs->too_large = room_explain_servers(jobs, n);
	return *jobs->too_large ? -1 : 0;
}

/* Makes the load of n jobs, whose servers are filled. Returns as run. */
static int
run_loads(struct running *x, size_t n, uint64_t seed)
{
	const struct engine_job *j = x->job;
	struct engine_load *loads;
	int rc;

	if (j->counted)
		return counting_run(j, x->works, j->counted, x->results);
	for (size_t i = 0; i < n; i++)
		begin_watch(&x[i]);
	if (j->slo)
		return search_run(j, x->works, j->slo, &x->meter, x->results);
	if (n == 1)
		return engine_run(&j->target->e, x->works, j->nwork, j->stop,
		    j->progress, j->arg, &x->meter, x->results);
	loads = mem_array(n, sizeof *loads);
	for (size_t i = 0; i < n; i++)
		loads[i] = (struct engine_load){&x[i].job->target->e,
		    x[i].works, x[i].job->nwork, &x[i].meter, x[i].results};
	rc = engine_run_slices(loads, n, seed, j->stop, j->progress, j->arg);
	free(loads);
	return rc;
}

static void
run_jobs(void *self, const struct engine_job *jobs, size_t n, uint64_t seed,
    struct engine_result *const *results, int *rcs)
{
	struct running *x = mem_array(n, sizeof *x);
	double all_ns = 0;
	int rc = 0;

	datasets_drop_stale(self); /* no row of an earlier case is in use */
	for (size_t i = 0; i < n && rc == 0; i++) {
		x[i] = (struct running){.job = &jobs[i], .results = results[i]};
		rc = jobs->counted ? find_works(self, &x[i])
				   : begin_job(self, &x[i]);
		if (rc == 0 && i == 0 && n > 1)
			rc = check_memory(jobs, n);
	}
	if (rc == 0)
		rc = run_loads(x, n, seed);
	for (size_t i = 0; i < n && x[i].watch; i++)
		all_ns += watch_spent_ns(x[i].watch);
	for (size_t i = 0; i < n; i++)
		rcs[i] = x[i].job
		    ? end_job(&x[i],
			  x[i].watch ? all_ns - watch_spent_ns(x[i].watch) : 0,
			  rc)
		    : rc;
	free(x);
}

struct engine
native_engine(struct datasets *datasets)
{
	return (struct engine){.name = BENCH_CASE_NATIVE,
	    .self = datasets,
	    .cannot = explain_case,
	    .run = run_jobs,
	    .slices = true};
}

const struct engine *
engines_find(const struct engine *list, const struct json *cas)
{
	const char *name = bench_case_engine(json_get(cas, "config"));

	for (; list->name; list++)
		if (strcmp(list->name, name) == 0)
			return list;
	return NULL;
}
