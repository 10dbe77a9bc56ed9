#include "deciding.h"
#include "finding.h"
#include "mem.h"
#include "sessions.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALPHA .05

/* Is the finding a test of runs, enough of them to be judged? */
static bool
is_test(const struct finding *f)
{
	return f->gate && !isnan(f->p) && f->facts.m >= VERDICT_RUNS &&
	    f->facts.n >= VERDICT_RUNS;
}

/* Returns what the findings of one metric say of their noise. */
static struct moderate
fit_prior(const struct findings *all, const char *metric)
{
	struct moderate *v = mem_array(2 * all->n + 1, sizeof *v), prior;
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct finding *f = &all->v[i];

		if (f->facts.assumed || isnan(f->facts.change) ||
		    strcmp(f->metric.name, metric) != 0)
			continue;
		v[n++] = f->facts.noise[0]; /* df 0: one run */
		v[n++] = f->facts.noise[1];
	}
	prior = moderate_prior(v, n);
	free(v);
	return prior;
}

/* Takes the t test where the rank test has no p below 'least'. */
static void
test_few_runs(struct finding *f, const struct moderate *prior, double least)
{
	struct verdict_facts *v = &f->facts;

	if (v->assumed || !(v->noise[0].df > 0) || !(v->noise[1].df > 0))
		return;
	verdict_set_error(v, prior);
	if (!(v->p_min > least) ||
	    !verdict_use_t(v, prior->df > 0, ALPHA, 2 * ALPHA))
		return;
	f->p = v->p;
	f->method = v->method;
}

/*
 * Adds the effect of the sessions, each of one point, to the error, also where
 * all values of a side are equal: a coarse clock rounds off the noise of runs.
 */
static void
allow_for_sessions(struct finding *f, const struct moderate *prior, double sd)
{
	struct verdict_facts *v = &f->facts;
	struct moderate own = {0, 1}, sessions = {sd * sd, SESSIONS_DF};

	if (!f->before || v->m < VERDICT_RUNS || v->n < VERDICT_RUNS ||
	    !(v->ratio > 0))
		return;
	sessions.var *= 1 + 1 / (double)f->before;
	if (isnan(v->change))
		v->change = log(v->ratio);
	verdict_set_error(v, prior);
	if (v->se > 0)
		own = (struct moderate){v->se * v->se, v->df};
	own = moderate_add(own, sessions);
	v->se = sqrt(own.var);
	v->df = own.df;
	v->assumed_se = true;
	verdict_use_t(v, true, ALPHA, 2 * ALPHA);
	f->p = v->p;
	f->method = v->method = "t-sessions";
}

/* Tests as vkb-compare does: with the noise of all findings of a metric where
 * there are too few runs for a rank test that can be significant among all. */
static void
infer_findings(struct findings *all, double sd)
{
	bool *done = mem_array(all->n + 1, sizeof *done);
	double tests = 0;

	for (size_t i = 0; i < all->n; i++)
		tests += is_test(&all->v[i]);
	for (size_t i = 0; i < all->n; i++) {
		const char *metric = all->v[i].metric.name;
		struct moderate prior;

		if (done[i])
			continue;
		prior = fit_prior(all, metric);
		for (size_t k = i; k < all->n; k++)
			if (strcmp(all->v[k].metric.name, metric) == 0) {
				test_few_runs(&all->v[k], &prior,
				    ALPHA / 2 / fmax(1, tests));
				allow_for_sessions(&all->v[k], &prior,
				    all->v[k].metric.grows ? SESSIONS_SD_MEMORY
							   : sd);
				done[k] = true;
			}
	}
	free(done);
}

void
deciding_judge(struct findings *all, double sd)
{
	double *p = mem_array(all->n + 1, sizeof *p);
	double *adjusted = mem_array(all->n + 1, sizeof *adjusted);
	size_t kept = 0;

	infer_findings(all, sd);
	for (size_t i = 0; i < all->n; i++) {
		const struct finding *f = &all->v[i];
		p[i] = is_test(f) ? f->p : NAN;
	}
	verdict_bh(p, adjusted, all->n);
	for (size_t i = 0; i < all->n; i++) {
		struct finding *f = &all->v[i];
		enum verdict v;
		bool certain;

		if (!isnan(p[i]))
			f->p = adjusted[i];
		v = verdict_decide(&f->facts, f->metric.better, f->margin, f->p,
		    ALPHA, &certain);
		if (f->setup && v <= VERDICT_LIKELY_DIFFERENT)
			v = v < VERDICT_LIKELY_REGRESSION
			    ? VERDICT_DIFFERENT
			    : VERDICT_LIKELY_DIFFERENT;
		all->verdicts[v] += f->gate;
		if (v > VERDICT_LIKELY_DIFFERENT) {
			finding_drop(f);
			continue;
		}
		f->kind = (enum finding_kind)v;
		all->v[kept++] = *f;
	}
	all->n = kept;
	free(p);
	free(adjusted);
}
