/*
 * The native load generator behind the interface of engines.h.
 */
#include "clock.h"
#include "counting.h"
#include "engines.h"
#include "errorcheck.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "str.h"
#include "memory.h"
#include "num.h"
#include "peers.h"
#include "replicas.h"
#include "roles.h"
#include "search.h"
#include "servercounts.h"
#include "starting.h"
#include "target.h"
#include "vkb-load/data/dataset.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/verify.h"
#include "vkb-load/engine/template.h"
#include "vkb-load/meter/watch.h"
#include "vkb-load/plan/benchcase.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Does it send a SET? */
static bool
can_expire(const struct engine_work *w)
{
	bool yes = false;

	for (size_t i = 0; i < engine_count_commands(w); i++)
		yes |= command_expires(engine_command(w, i));
	return yes;
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
	if (w->ttl_low && !can_expire(w))
		return mem_printf("'ttl' is for SET; a command of your own "
				  "says it itself, such as 'SET {key} __data__ "
				  "EX %s', not %s",
		    w->ttl_low < w->ttl_high ? "__int:10:60__" : "60",
		    w->command);
	if (w->verify && l->read_replicas)
		why = mem_str("a replica may not have the newest values, so "
			      "'verify' needs 'read_from' primary");
	else if (w->verify)
		why = verify_explain_work(w);
	if (w->values.n && !why)
		why = memory_explain_requests(w, (size_t)l->nodes);
	if (why || l->replay || (!w->nmix && command_known(w->command)))
		return why;
	if (!w->nmix && !strchr(w->command, ' ') &&
	    !json_get(r->config, "scenario"))
		return mem_printf("it has no test '%s'", w->command);
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

	why = verify_explain(command_known(name) ? name : with);
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
		x->meter.when = starting_when;
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

static int
run_case(void *self, const struct engine_job *j, struct engine_result *results)
{
	struct running x = {.job = j, .results = results};
	int rc;

	datasets_drop_stale(self); /* no row of an earlier case is in use */
	if (j->counted) {
		rc = find_works(self, &x);
		if (rc == 0)
			rc = counting_run(j, x.works, j->counted, results);
		return end_job(&x, 0, rc);
	}
	rc = begin_job(self, &x);
	if (rc == 0) {
		begin_watch(&x);
		rc = j->slo
		    ? search_run(j, x.works, j->slo, &x.meter, results)
		    : engine_run(&j->target->e, x.works, j->nwork, j->stop,
			  j->progress, j->arg, &x.meter, results);
	}
	return end_job(&x, 0, rc);
}

/* Fails if there is no room for servers like the first. Returns 0 or -1. */
static int
check_memory(const struct engine_job *jobs, size_t n)
{
	*jobs->too_large = memory_explain_servers(jobs, n);
	return *jobs->too_large ? -1 : 0;
}

static void
run_slices(void *self, const struct engine_job *jobs, size_t n, uint64_t seed,
    struct engine_result *const *results, int *rcs)
{
	struct running *x = mem_array(n, sizeof *x);
	struct engine_load *loads = mem_array(n, sizeof *loads);
	double all_ns = 0;
	int rc = 0;

	datasets_drop_stale(self);
	for (size_t i = 0; i < n && rc == 0; i++) {
		x[i] = (struct running){.job = &jobs[i], .results = results[i]};
		rc = begin_job(self, &x[i]);
		if (rc == 0 && i == 0)
			rc = check_memory(jobs, n);
	}
	for (size_t i = 0; i < n && rc == 0; i++) {
		begin_watch(&x[i]);
		loads[i] = (struct engine_load){&jobs[i].target->e, x[i].works,
		    jobs[i].nwork, &x[i].meter, results[i]};
	}
	if (rc == 0)
		rc = engine_run_slices(
		    loads, n, seed, jobs->stop, jobs->progress, jobs->arg);
	for (size_t i = 0; i < n && x[i].watch; i++)
		all_ns += watch_spent_ns(x[i].watch);
	for (size_t i = 0; i < n; i++)
		rcs[i] = x[i].job
		    ? end_job(&x[i],
			  x[i].watch ? all_ns - watch_spent_ns(x[i].watch) : 0,
			  rc)
		    : rc;
	free(loads);
	free(x);
}

struct engine
native_engine(struct datasets *datasets)
{
	return (struct engine){.name = BENCH_CASE_NATIVE,
	    .self = datasets,
	    .cannot = explain_case,
	    .run = run_case,
	    .run_slices = run_slices};
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
