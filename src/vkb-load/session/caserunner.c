#include "caserunner.h"
#include "call.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "record.h"
#include "schedule.h"
#include "vkb-load/case/engines.h"
#include "vkb-load/case/handle.h"
#include "vkb-load/case/measure.h"
#include "vkb-load/case/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool
case_runner_can_slice(const struct schedule *a, const struct turn *turn)
{
	const struct scene *scene = &a->scenes.v[turn->scene];
	size_t cas;

	for (size_t i = 0; i < scene->n; i++) {
		cas = scene->v[i];
		if (!engines_find(a->engines, a->cases[cas].record)
			 ->run_slices ||
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
	measure_run_slices(m, handles, n, rcs);
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
		rc = -1;
	} else if (r->context.too_large) {
		rc = refuse_slices(x, r->context.too_large);
		r->context.too_large = NULL;
	} else if (reference && died[n - 1]) {
		rc = 1;
		fail_beside(m, n, died);
		if (write_deaths(x, m, n, k, died) < 0)
			rc = -1;
	} else if (bad < n) {
		rc = 1;
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
			why = memory_explain_case(x->steps[k].cas, n);
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
