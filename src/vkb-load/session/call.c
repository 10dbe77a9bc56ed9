#include "call.h"
#include "caserunner.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "results.h"
#include "schedule.h"
#include "statusline.h"
#include "vkb-load/case/engines.h"
#include "vkb-load/case/handle.h"
#include "vkb-load/case/live.h"
#include "vkb-load/case/logs.h"
#include "vkb-load/case/measure.h"
#include "vkb-load/case/peers.h"
#include "vkb-load/case/resultrecord.h"
#include "vkb-load/plan/builds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
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

void
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

void
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
	const char *why = m->error.len ? m->error.s : "it was interrupted";
	struct json *recs = json_array();

	call_note_reference(x, m);
	for (size_t i = 0; i < m->roles.n && rc == 0; i++)
		json_push(recs, json_dup(m->recs[i]));
	if (rc < 0) {
		report_failure(x, s,
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

int
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
			result_record_fail(m->recs[i],
			    m->error.len ? m->error.s
					 : "the run was interrupted");
		if (rc < 0 && i == 0)
			err_note("%s", json_get_str(m->recs[0], "error"));
		if (m->error.len) /* the first has the end of the log */
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
		add_to_deciding(x, m, s->number);
		*s->wanted = false;
	} else
		x->v->failed++;
	progress_end(
	    &x->a->progress, s->number, &s->cas->load, m->recs[0], x->together);
	live_end(r->context.live, rc < 0);
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

int
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

int
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

int
call_run_step(struct call *x, const struct step *s, bool last)
{
	struct case_runner *r = x->r;
	bool profiled = x->v->profile && call_measures(s);
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
	rc = rc == 0 ? measure_run(&m, &x->handle) : measure_give_up(&m);
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

void
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

void
call_end(struct call *x)
{
	char *why;

	if (x->handle.server && handle_end(&x->handle, &why) < 0)
		free(why);
	handle_free(&x->handle);
	free(x->spoilt);
	free(x->steps);
}
