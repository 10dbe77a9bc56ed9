#include "caserunner.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "record.h"
#include "results.h"
#include "schedule.h"
#include "statusline.h"
#include "vkb-load/case/engines.h"
#include "vkb-load/case/handle.h"
#include "vkb-load/case/live.h"
#include "vkb-load/case/logs.h"
#include "vkb-load/case/measure.h"
#include "vkb-load/case/room.h"
#include "vkb-load/case/peers.h"
#include "vkb-load/case/resultrecord.h"
#include "vkb-load/plan/builds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A case of a turn: measured, run without being recorded, or left out. */
struct step {
	const struct bench_case *cas;
	size_t number; /* of the case in the schedule */
	bool *wanted;  /* NULL: from a 'before' list */
	bool run;
};

/* The steps of one build in a turn, on one server, and their records. */
struct call {
	struct case_runner *r;
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
	x->steps = mem_grow(x->steps, x->n, cap, sizeof *x->steps);
	x->steps[x->n++] = (struct step){cas, number, wanted, false};
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

/* Writes the records of a step that returned rc. 0, or -1 after reporting that
 * it could not. */
static int
call_write_records(
    struct call *x, struct measure *m, const struct step *s, int rc)
{
	struct case_runner *r = x->r;
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
	if (rc < 0)
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
		r->measured(
		    r->arg, s->number, i, json_get(m->recs[i], "metrics"));
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
	struct case_runner *r = x->r;
	bool profiled = x->v->profile && call_measures(s);
	struct server_handle *handle = &x->handle;
	struct measure m;
	int rc;

	if (call_measures(s) && !profiled)
		r->announce(r->arg, x->v->turn, s->number);
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
call_begin(struct call *x, struct case_runner *r, struct case_run *v, size_t n)
{
	*x = (struct call){.r = r,
	    .a = r->schedule,
	    .v = v,
	    .together = n,
	    .handle = {.context = &r->context,
		.build = builds_get(r->schedule->builds, v->turn->build)}};
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

	x->r->announce(x->r->arg, x->v->turn, s->number);
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

int
case_runner_run(struct case_runner *r, struct case_run *v)
{
	struct call x;
	size_t last = 0;
	int rc;

	call_begin(&x, r, v, 1);
	rc = try_steps(&x);
	for (size_t i = 0; i < x.n; i++)
		if (x.steps[i].run)
			last = i;
	for (size_t i = 0; i < x.n && rc == 0; i++)
		if (x.steps[i].run)
			rc = call_run_step(&x, &x.steps[i], i == last);
	call_end(&x);
	return *r->context.stop ? -1 : rc;
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

/* A port that is given is that of one server at a time. */
bool
case_runner_can_slice(const struct schedule *a, const struct turn *turn)
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
		x->r->context.order += m[i].roles.n;
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
	struct case_runner *r = x->r;
	struct measure *m = mem_array(n, sizeof *m);
	struct server_handle **handles = mem_array(n, sizeof *handles);
	bool *died = mem_array(n, sizeof *died);
	int *rcs = mem_array(n, sizeof *rcs), rc = 0;
	struct call *reference = find_reference(x, n);
	struct turn all = *x->v->turn;
	const char *why;
	size_t bad = n;

	all.build = SIZE_MAX;
	r->announce(r->arg, &all, x->steps[k].number);
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
		r->context.order -= rc == 1 ? m[i].roles.n : 0;
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
 * Runs the steps of n calls: what is measured in slices, what only makes its
 * data one server after the other. Returns 0; 1 if the rest has to be measured
 * alone; -1: stop.
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
		if (count_measured(x, n, k))
			rc = run_sliced_step(x, n, k, k == last);
		else
			for (size_t i = 0; i < n && rc == 0; i++)
				rc = x[i].steps[k].run
				    ? call_run_step(
					  &x[i], &x[i].steps[k], false)
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

int
case_runner_run_slices(struct case_runner *r, struct case_run *v, size_t n)
{
	struct call *x = mem_array(n, sizeof *x);
	char *why;
	int rc;

	for (size_t i = 0; i < n; i++)
		call_begin(&x[i], r, &v[i], n - v[n - 1].reference);
	why = explain_memory(x, n);
	rc = why ? refuse_slices(x, why) : run_calls(x, n);
	for (size_t i = 0; i < n; i++)
		call_end(&x[i]);
	free(x);
	return *r->context.stop ? -1 : rc;
}
