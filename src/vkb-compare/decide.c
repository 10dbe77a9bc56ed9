#include "decide.h"
#include "bootstrap.h"
#include "infer.h"
#include "json.h"
#include "judge.h"
#include "mem.h"
#include "needs.h"
#include "part.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Counts the tests of each family, and divides JUDGE_ALPHA among them. What is
 * only shown does not fail, and has a level of its own. */
static void
count_tests(struct comparison *c, size_t n)
{
	size_t tests[FAMILIES + 1] = {0};
	bool both;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < c[i].nrows; j++)
			tests[judge_family(&c[i].rows[j])]++;
	both = tests[FAMILY_PRIMARY] && tests[FAMILY_OTHER];
	for (size_t i = 0; i < n; i++)
		for (enum test_family k = 0; k < FAMILIES; k++) {
			c[i].tests[k] = tests[k];
			c[i].alpha[k] = family_level(k, both);
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

/*
 * Decides a row by its rest, if it has one, but calls only the whole change
 * equivalent. Nothing is certain that rests on an effect of sessions that was
 * not measured in this comparison.
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
	/* Where most cases fell, those that did not have not improved. */
	if (row->has_rest &&
	    (row->verdict == VERDICT_IMPROVEMENT ||
		row->verdict == VERDICT_LIKELY_IMPROVEMENT) &&
	    (row->facts.change * row->rest.change <= 0 ||
		fabs(row->facts.change) <= -log1p(-row->margin)))
		row->verdict = VERDICT_INCONCLUSIVE;
	row->certain = row->certain && row->verdict < VERDICT_LIKELY_REGRESSION;
	row->waived = (row->verdict == VERDICT_REGRESSION ||
			  row->verdict == VERDICT_LIKELY_REGRESSION) &&
	    rules_is_waived(row);
}

/* 'level': that the next p of the family has to be below. */
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
		/* Runs help; those of adaptive sessions end by precision. */
		if (!row->sessions[0] && !row->common && !row->looked)
			row->needed = needs_runs(f, row->margin, level);
		row->visible = needs_change(
		    row->has_rest ? &row->rest : f, row->margin, level);
	}
	if (row->needed > have)
		row->minutes = (double)(row->needed - have) *
		    expect_seconds(row->pair) / 60;
}

/* Resampling more than these takes seconds. */
#define CASES 20
#define RUNS 10000 /* of both sides of all cases */

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

/*
 * Sets the interval of the mean over these cases by resampling their runs, if
 * all have enough and there are not too many; else it is NAN.
 */
static void
resample_runs(struct overall *o, const struct row *rows, size_t n, bool apart)
{
	struct bootstrap_pair v[CASES] = {{0}};
	struct bootstrap b;
	double *sorted[2 * CASES];
	size_t k = 0, runs = 0;

	o->lo_runs = o->hi_runs = NAN;
	if (o->cases > CASES || apart) /* no interval of one session holds */
		return;
	for (size_t i = 0; i < n && k < o->cases; i++) {
		const struct sample *s = rows[i].used;
		double **x = &sorted[2 * k];
		bool paired = rows[i].facts.paired;

		if (strcmp(rows[i].name, o->name) != 0 ||
		    !(rows[i].facts.ratio > 0))
			continue;
		for (size_t j = 0; j < 2; j++) {
			x[j] = mem_array(s[j].n + 1, sizeof *x[j]);
			memcpy(x[j], s[j].v, s[j].n * sizeof *x[j]);
			if (!paired)
				stats_sort(x[j], s[j].n);
		}
		v[k++] = (struct bootstrap_pair){
		    x[0], x[1], s[0].n, s[1].n, paired && s[0].n == s[1].n};
		runs += s[0].n + s[1].n;
	}
	if (runs <= RUNS && bootstrap_geomean(o->name, v, k, .95, &b) == 0) {
		o->lo_runs = b.lo;
		o->hi_runs = b.hi;
	}
	for (size_t i = 0; i < 2 * k; i++)
		free(sorted[i]);
}

/* Has no case more than one run on each side? Then differences between cases
 * cannot be told from noise. */
static bool
has_single_runs(const struct comparison *c, const char *name)
{
	for (size_t i = 0; i < c->nrows; i++)
		if (strcmp(c->rows[i].name, name) == 0 &&
		    c->rows[i].facts.m > 1 && c->rows[i].facts.n > 1)
			return false;
	return true;
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
		if (has_single_runs(c, o->name) || c->sessions[0])
			o->lo = o->hi = NAN;
		resample_runs(o, c->rows, c->nrows, c->sessions[0] > 0);
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
			if (row->waived)
				c[i].waived += row->gate;
			else
				c[i].count[row->verdict] += row->gate;
			c[i].paired += row->gate && row->facts.paired;
		}
	}
	rules_add_lapses(r, c, n);
}
