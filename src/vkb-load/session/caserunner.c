#include "caserunner.h"
#include "err.h"
#include "json.h"
#include "stopping.h"
#include "mem.h"
#include "results.h"
#include "schedule.h"
#include "statusline.h"
#include "vkb-load/case/engines.h"
#include "vkb-load/case/handle.h"
#include "vkb-load/case/logs.h"
#include "vkb-load/case/measure.h"
#include "vkb-load/case/memory.h"
#include "vkb-load/plan/builds.h"

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

static bool
is_measured(const struct step *s)
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
		s->run = is_measured(s) ||
		    (needed && scene_changes_server(s->cas->record));
		needed = needed || s->run;
		if (s->run && scene_resets_server(s->cas->record))
			needed = false;
	}
}

static void
start_measure(struct call *x, struct measure *m, const struct bench_case *cas)
{
	const struct turn *t = x->v->turn;

	measure_init(m, &x->r->context, cas, x->a->builds->v[t->build],
	    t->index, t->block);
	for (size_t i = 0; i < m->roles.n; i++)
		stopping_record(x->a->rule, m->roles.v[i].config,
		    json_get(m->recs[i], "run"));
}

/* Adds a run that succeeded to the precision of its case. */
static void
add_to_precision(struct call *x, const struct measure *m, size_t cas)
{
	const struct json **v = mem_array(m->roles.n + 1, sizeof *v);

	for (size_t i = 0; i < m->roles.n; i++)
		v[i] = json_get(m->recs[i], "metrics");
	schedule_add_metrics(x->a, x->v->turn, cas, v);
	free(v);
}

/* Reports what failed, and where the log of its server is; frees 'what'. */
static void
report_failure(struct call *x, const struct step *s, char *what)
{
	const char *log = logs_keep(x->handle.logs);

	err_say("%s: %s%s%s%s", s->cas->id, what,
	    log ? "; the log of its server is kept in '" : "", log ? log : "",
	    log ? "'" : "");
	free(what);
}

/* Writes the profile records of a case. 0, or -1, error reported. */
static int
write_profiles(struct call *x, struct measure *m, const struct step *s, int rc)
{
	if (rc < 0 || m->error.len) {
		report_failure(x, s,
		    mem_printf("not profiled: %s",
			m->error.len ? m->error.s : "it was interrupted"));
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

/* Writes the records of one case. 0, or -1, error reported. */
static int
write_records(struct call *x, struct measure *m, const struct step *s, int rc)
{
	struct case_runner *r = x->r;
	struct results *to = x->a->results;

	if (x->v->profile)
		return write_profiles(x, m, s, rc);

	for (size_t i = 0; i < m->roles.n; i++) {
		json_set_str(m->recs[i], "status", rc < 0 ? "failed" : "ok");
		if (rc < 0)
			json_set_str(m->recs[i], "error",
			    m->error.len ? m->error.s
					 : "the run was interrupted");
		if (rc < 0 && i == 0)
			err_note("%s", json_get_str(m->recs[0], "error"));
		if (m->error.len) /* only the first has the end of a log */
			m->error.s[strcspn(m->error.s, "\n")] = '\0';
	}
	if (rc < 0)
		report_failure(
		    x, s, mem_printf("run %zu failed", x->v->turn->index));
	statusline_clear();
	if (r->machine && results_write(to, r->machine) < 0)
		return -1;
	r->machine = NULL; /* written once */
	if (write_raw(x, m) < 0 ||
	    results_write_all(to, m->recs, m->roles.n) < 0)
		return -1;
	if (rc == 0) {
		add_to_precision(x, m, s->number);
		*s->wanted = false;
	} else
		x->v->failed++;
	progress_end(&x->a->progress, s->number, m->recs[0], x->together);
	if (rc == 0)
		r->measured(r->arg, s->number, json_get(m->recs[0], "metrics"));
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
	x->spoilt = mem_printf("%s before it failed: %s", s->cas->id,
	    m->error.len ? m->error.s : "it was interrupted");
	x->spoilt[strcspn(x->spoilt, "\n")] = '\0';
}

/* Prepares the server of a step: that of the steps before, or a fresh one. */
static int
prepare_server(struct call *x, const struct step *s, struct measure *m)
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

/* Checks that the server still runs; ends it after the last step. */
static int
check_survival(
    struct call *x, const struct step *s, struct measure *m, bool last)
{
	char *why = NULL;

	if (!last && !handle_is_lost(&x->handle, s->cas, m->error.len > 0))
		return 0;
	return handle_end(&x->handle, &why) < 0 ? measure_fail(m, why) : 0;
}

static int
run_step(struct call *x, const struct step *s, bool last)
{
	struct case_runner *r = x->r;
	bool profiled = x->v->profile && is_measured(s);
	struct measure m;
	int rc;

	if (is_measured(s) && !profiled)
		r->announce(r->arg, x->v->turn, s->number);
	start_measure(x, &m, s->cas);
	if (!is_measured(s) || profiled)
		r->context.order -= m.roles.n;
	if (profiled)
		measure_profile(&m);
	rc = prepare_server(x, s, &m);
	if (rc == 0)
		rc = measure_run(&m, &x->handle);
	if (!*r->context.stop && x->handle.server &&
	    check_survival(x, s, &m, last) < 0)
		rc = -1;
	if (rc < 0 &&
	    (scene_changes_server(s->cas->record) || !x->handle.server))
		mark_spoilt(x, s, &m);
	/* a finished profile is recorded: it is not made again */
	if (*r->context.stop && !(rc == 0 && profiled))
		rc = -1;
	else
		rc = is_measured(s) ? write_records(x, &m, s, rc) : 0;
	measure_free(&m);
	return rc;
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
	start_measure(x, &m, s->cas);
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
		rc = write_records(x, &m, s, -1);
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
		if (!is_measured(&x->steps[i]) || !e->untried ||
		    !e->untried(e->self, x->steps[i].cas->record))
			continue;
		rc = try_step(x, &x->steps[i]);
		if (rc > 0)
			x->steps[i].run = false;
	}
	return rc < 0 ? -1 : 0;
}

static void
begin_call(struct call *x, struct case_runner *r, struct case_run *v, size_t n)
{
	*x = (struct call){.r = r,
	    .a = r->schedule,
	    .v = v,
	    .together = n,
	    .handle = {.context = &r->context,
		.build = r->schedule->builds->v[v->turn->build]}};
	if (v->profile)
		snprintf(
		    r->context.run_name, sizeof r->context.run_name, "profile");
	else
		snprintf(r->context.run_name, sizeof r->context.run_name,
		    "run-%zu", v->turn->index);
	plan_steps(x);
}

static void
end_call(struct call *x)
{
	char *why;

	if (x->handle.server && handle_end(&x->handle, &why) < 0)
		free(why);
	handle_free(&x->handle);
	free(x->spoilt);
	free(x->steps);
}

int
case_runner_run(struct case_runner *r, struct case_run *v)
{
	struct call x;
	size_t last = 0;
	int rc;

	begin_call(&x, r, v, 1);
	rc = try_steps(&x);
	for (size_t i = 0; i < x.n; i++)
		if (x.steps[i].run)
			last = i;
	for (size_t i = 0; i < x.n && rc == 0; i++)
		if (x.steps[i].run)
			rc = run_step(&x, &x.steps[i], i == last);
	end_call(&x);
	return *r->context.stop ? -1 : rc;
}

bool
case_runner_can_slice(const struct schedule *a, const struct turn *turn)
{
	const struct scene *scene = &a->scenes.v[turn->scene];
	const struct bench_case *cas = &a->cases[scene->v[0]];
	const struct bench_load *l = &cas->load;
	const struct roles *roles = &a->roles[scene->v[0]];
	const struct engine *e = engines_find(a->engines, cas->record);

	return a->order == ORDER_SLICES && !a->too_large[scene->v[0]] &&
	    scene->n == 1 && !cas->nbefore && roles->n == 1 && e->run_slices &&
	    !l->cluster && !l->execution;
}

/* Leaves a case to interleaved rounds; frees 'why'. Returns 1. */
static int
refuse_slices(struct call *x, char *why)
{
	x->a->too_large[x->steps->number] = true;
	err_say("%s: not in slices: %s; its builds are measured one after the "
		"other in each round",
	    x->steps->cas->id, why);
	free(why);
	return 1;
}

/* Runs the case of each call on a server of its own, all in slices. */
static int
run_calls(struct call *x, size_t n)
{
	struct case_runner *r = x->r;
	struct measure *m = mem_array(n, sizeof *m);
	struct server_handle **handles = mem_array(n, sizeof *handles);
	int *rcs = mem_array(n, sizeof *rcs), rc = 0;
	size_t bad = n;

	for (size_t i = 0; i < n; i++) {
		handles[i] = &x[i].handle;
		start_measure(&x[i], &m[i], x[i].steps->cas);
		rcs[i] = prepare_server(&x[i], x[i].steps, &m[i]);
	}
	measure_run_slices(m, handles, n, rcs);
	for (size_t i = n; i-- > 0;) {
		if (!*r->context.stop && x[i].handle.server &&
		    check_survival(&x[i], x[i].steps, &m[i], true) < 0)
			rcs[i] = -1;
		if (rcs[i] < 0)
			bad = i;
	}
	if (*r->context.stop) {
		rc = -1;
	} else if (r->context.too_large) {
		rc = refuse_slices(x, r->context.too_large);
		r->context.too_large = NULL;
	} else if (bad < n) {
		rc = 1;
		err_say("%s: run %zu failed in slices: %.*s; each build is "
			"measured alone",
		    x->steps->cas->id, x->v->turn->index,
		    (int)strcspn(m[bad].error.s, "\n"), m[bad].error.s);
	}
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = write_records(&x[i], &m[i], x[i].steps, 0);
	for (size_t i = 0; i < n; i++) {
		r->context.order -= rc == 1 ? m[i].roles.n : 0;
		measure_free(&m[i]);
	}
	free(rcs);
	free(handles);
	free(m);
	return rc;
}

int
case_runner_run_slices(struct case_runner *r, struct case_run *v, size_t n)
{
	struct call *x = mem_array(n, sizeof *x);
	struct turn all = *v->turn;
	char *why;
	int rc;

	all.build = SIZE_MAX;
	for (size_t i = 0; i < n; i++)
		begin_call(&x[i], r, &v[i], n);
	r->announce(r->arg, &all, x->steps->number);
	why = memory_explain_case(x->steps->cas, n);
	rc = why ? refuse_slices(x, why) : run_calls(x, n);
	for (size_t i = 0; i < n; i++)
		end_call(&x[i]);
	free(x);
	return *r->context.stop ? -1 : rc;
}
