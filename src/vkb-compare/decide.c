#include "decide.h"
#include "counted.h"
#include "infer.h"
#include "json.h"
#include "judge.h"
#include "mem.h"
#include "judge/plan.h"
#include "part.h"
#include "sameserver.h"
#include "stats.h"
#include "tdist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Counts the tests of each family, and divides JUDGE_ALPHA among them. What is
 * only shown does not fail, and has a level of its own. */
static void
count_tests(struct comparison *c, size_t n)
{
	size_t tests[FAMILIES + 1] = {0};
	bool both, common;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < c[i].nrows; j++)
			tests[judge_family(&c[i].rows[j])]++;
	both = tests[FAMILY_PRIMARY] && tests[FAMILY_OTHER];
	common = tests[FAMILY_COMMON];
	for (size_t i = 0; i < n; i++)
		for (enum test_family k = 0; k < FAMILIES; k++) {
			c[i].tests[k] = tests[k];
			c[i].alpha[k] = family_level(k, both, common);
		}
}

/* Sets p of the rows of one family, adjusted over all comparisons, on the scale
 * of JUDGE_ALPHA. Returns how many are significant. */
static size_t
adjust_p_values(struct comparison *c, size_t n, const struct rules *r,
    enum test_family family)
{
	size_t all = 0, k = 0, found = 0;
	double *p, *adjusted;

	for (size_t i = 0; i < n; i++)
		all += c[i].nrows;
	p = mem_array(all + 1, sizeof *p);
	adjusted = mem_array(all + 1, sizeof *adjusted);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < c[i].nrows; j++) {
			const struct row *row = &c[i].rows[j];

			p[k++] = judge_family(row) == family
			    ? judge_p(row, row->facts.p)
			    : NAN;
		}
	(r->strict ? verdict_holm : verdict_bh)(p, adjusted, all);
	k = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < c[i].nrows; j++, k++) {
			struct row *row = &c[i].rows[j];

			if (isnan(p[k]))
				continue;
			row->p = fmin(
			    1, adjusted[k] * JUDGE_ALPHA / c[i].alpha[family]);
			found += row->p < JUDGE_ALPHA;
		}
	free(p);
	free(adjusted);
	return found;
}

/* Seconds for one more run of each side; NAN: not known. */
static double
expect_seconds(const struct pairing *p)
{
	double sum = 0;

	for (size_t j = 0; j < 2; j++) {
		const struct kase *k = p->side[j];

		sum += part_seconds(&k->parts[0]) +
		    json_get_num(k->config, "warmup_s", 0);
	}
	return sum;
}

/* Decides a row whose rest is unclear: it is likely to have changed if the
 * whole 95 % interval of its change is beyond the margin. */
static enum verdict
decide_unclear(const struct row *row)
{
	const struct verdict_facts *f = &row->facts;
	double low = 1 - row->margin;

	if (f->hi95 < low || f->lo95 > 1 / low)
		return verdict_direction(row->metric.better, f->ratio > 1) +
		    VERDICT_LIKELY_REGRESSION;
	return VERDICT_INCONCLUSIVE;
}

/*
 * Decides a row by its rest, if it has one, but calls it equivalent only if its
 * whole change is. No verdict is certain if the effect of sessions was
 * 'assumed' instead of measured in this comparison.
 */
static void
set_verdict(struct row *row, bool assumed)
{
	bool unused;

	row->verdict = verdict_decide(row->has_rest ? &row->rest : &row->facts,
	    row->metric.better, row->margin, row->p, JUDGE_ALPHA,
	    &row->certain);
	row->certain = row->certain && !assumed;
	if (row->has_rest &&
	    (row->verdict == VERDICT_EQUIVALENT ||
		row->verdict == VERDICT_INCONCLUSIVE))
		row->verdict =
		    verdict_decide(&row->facts, METRIC_NEITHER, row->margin, 1,
			JUDGE_ALPHA, &unused) == VERDICT_EQUIVALENT
		    ? VERDICT_EQUIVALENT
		    : VERDICT_INCONCLUSIVE;
	/* A case did not improve just because the others became worse. */
	if (row->has_rest &&
	    (row->verdict == VERDICT_IMPROVEMENT ||
		row->verdict == VERDICT_LIKELY_IMPROVEMENT) &&
	    (row->facts.change * row->rest.change <= 0 ||
		fabs(row->facts.change) <= -log1p(-row->margin)))
		row->verdict = VERDICT_INCONCLUSIVE;
	if (row->has_rest && row->verdict == VERDICT_INCONCLUSIVE)
		row->verdict = decide_unclear(row);
	row->certain = row->certain && row->verdict < VERDICT_LIKELY_REGRESSION;
	row->waived = (row->verdict == VERDICT_REGRESSION ||
			  row->verdict == VERDICT_LIKELY_REGRESSION) &&
	    rules_is_waived(row);
}

/* 'level': the next p of the family has to be below it. */
static void
decide_row(struct row *row, double level)
{
	const struct verdict_facts *f = &row->facts;
	size_t have = f->m < f->n ? f->m : f->n;

	set_verdict(row, f->assumed_se);
	level *= row->level / JUDGE_ALPHA;
	if (row->verdict == VERDICT_INSUFFICIENT)
		row->needed = VERDICT_RUNS;
	if (row->verdict == VERDICT_INCONCLUSIVE ||
	    verdict_is_likely(row->verdict)) {
		/* More runs help, but not beside other programs or in another
		 * session; those of adaptive sessions end by precision. */
		if (!row->sessions[0] && !row->common && !f->assumed_se &&
		    !row->looked) {
			row->needed = needs_runs(f, row->margin, level);
			row->rounds = needs_rounds(f, row->margin, level);
		}
		row->visible = needs_change(
		    row->has_rest ? &row->rest : f, row->margin, level);
	}
	if (row->needed > have)
		row->minutes = (double)(row->needed - have) *
		    expect_seconds(row->pair) / 60;
}

static bool
is_less_work(const struct row *row)
{
	return (row->primary || strcmp(row->name, COUNTED_METRIC) == 0) &&
	    (row->verdict == VERDICT_IMPROVEMENT ||
		row->verdict == VERDICT_LIKELY_IMPROVEMENT);
}

/* Allocations are a means: more of them are not a regression where a
 * case takes fewer instructions or less time. */
static void
outweigh_allocations(struct comparison *c)
{
	for (size_t i = 0; i < c->nrows; i++) {
		struct row *row = &c->rows[i];

		if (strcmp(row->name, "allocations_per_req") != 0 ||
		    row->verdict != VERDICT_REGRESSION)
			continue;
		for (size_t j = 0; j < c->nrows; j++)
			row->outweighed |= c->rows[j].pair == row->pair &&
			    c->rows[j].gate && is_less_work(&c->rows[j]);
		if (!row->outweighed)
			continue;
		row->verdict = VERDICT_DIFFERENT;
		row->waived = false;
	}
}

static struct overall *
start_overall(struct comparison *c, const char *name)
{
	for (size_t i = 0; i < c->noverall; i++)
		if (strcmp(c->overall[i].name, name) == 0)
			return NULL;
	c->overall =
	    mem_resize(c->overall, c->noverall + 1, sizeof *c->overall);
	c->overall[c->noverall] = (struct overall){.name = mem_str(name)};
	return &c->overall[c->noverall++];
}

/* Returns the variance of the row's estimate, as a logarithm, and its degrees
 * of freedom, by the interval of the row; df 0: it has no noise that is known.
 */
static struct moderate
measure_error(const struct row *row)
{
	const struct verdict_facts *f = &row->facts;
	double wide = log(f->hi95 / f->lo95) / 2;

	if (!(wide > 0 && isfinite(wide) && f->df > 0))
		return (struct moderate){NAN, 0};
	wide /= tdist_quantile(1 - JUDGE_ALPHA / 2, f->df);
	return (struct moderate){wide * wide, f->df};
}

/*
 * Sets the interval of the mean over exactly these cases by the intervals of
 * their rows. Errors of different cases are independent; the degrees of freedom
 * of their sum are those of Satterthwaite, Biometrics Bull. 2 (1946). They are
 * NAN if a row has no noise that is known.
 */
static void
add_errors(struct overall *o, const struct row *rows, size_t n)
{
	struct moderate sum = {0, INFINITY};
	double k = (double)o->cases, wide;

	for (size_t i = 0; i < n; i++) {
		struct moderate e;

		if (rows[i].common || strcmp(rows[i].name, o->name) != 0 ||
		    !(rows[i].facts.ratio > 0))
			continue;
		e = measure_error(&rows[i]);
		if (!(e.df > 0))
			return;
		sum = moderate_add(sum, e);
	}
	if (!(sum.var > 0))
		return;
	wide = sqrt(sum.var) / k * tdist_quantile(1 - JUDGE_ALPHA / 2, sum.df);
	o->lo_runs = o->ratio * exp(-wide);
	o->hi_runs = o->ratio * exp(wide);
}

/*
 * Has the mean over the cases of this metric an interval? Not if no case has
 * more than one run on each side: then differences between cases cannot be told
 * from noise. Neither if the sides share no session, or other programs ran
 * beside one of them: that moves all cases together.
 */
static bool
has_intervals(const struct comparison *c, const char *name)
{
	bool several = false;

	for (size_t i = 0; i < c->nrows; i++) {
		const struct verdict_facts *f = &c->rows[i].facts;

		if (strcmp(c->rows[i].name, name) != 0)
			continue;
		if (f->assumed_se)
			return false;
		several = several || (f->m > 1 && f->n > 1);
	}
	return several && !c->sessions[0];
}

static void
add_overall(struct comparison *c)
{
	double *ratios = mem_array(c->nrows + 1, sizeof *ratios);

	for (size_t i = 0; i < c->nrows; i++) {
		struct overall *o;

		if (!c->rows[i].gate || c->rows[i].common)
			continue;
		o = start_overall(c, c->rows[i].name);
		for (size_t j = i; o && j < c->nrows; j++)
			if (strcmp(c->rows[j].name, o->name) == 0 &&
			    !c->rows[j].common && c->rows[j].facts.ratio > 0)
				ratios[o->cases++] = c->rows[j].facts.ratio;
		if (!o)
			continue;
		o->ratio = stats_geomean(ratios, o->cases, .95, &o->lo, &o->hi);
		o->lo_runs = o->hi_runs = NAN;
		if (has_intervals(c, o->name))
			add_errors(o, c->rows, c->nrows);
		else
			o->lo = o->hi = NAN;
	}
	free(ratios);
}

void
decide_overall(struct comparison *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add_overall(&c[i]);
}

void
decide_all(struct comparison *c, size_t n, const struct rules *r)
{
	size_t found[FAMILIES];

	count_tests(c, n);
	for (size_t i = 0; i < n; i++)
		infer_rows(&c[i], r);
	count_tests(c, n); /* with the common rows */
	for (enum test_family k = 0; k < FAMILIES; k++)
		found[k] = adjust_p_values(c, n, r, k);
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < c[i].nrows; j++) {
			struct row *row = &c[i].rows[j];
			enum test_family k = judge_family(row);

			decide_row(row,
			    k == FAMILIES
				? JUDGE_ALPHA
				: family_next_level(c[i].alpha[k],
				      c[i].tests[k], found[k], r->strict));
		}
		outweigh_allocations(&c[i]);
		sameserver_decide(&c[i]);
		for (size_t j = 0; j < c[i].nrows; j++) {
			const struct row *row = &c[i].rows[j];

			if (row->waived)
				c[i].waived += row->gate;
			else
				c[i].count[row->verdict] += row->gate;
			c[i].paired += row->gate && row->facts.paired;
		}
	}
	rules_add_issues(r, c, n);
}
