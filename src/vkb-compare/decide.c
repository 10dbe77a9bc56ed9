#include "decide.h"
#include "bootstrap.h"
#include "json.h"
#include "judge.h"
#include "mem.h"
#include "part.h"
#include "stats.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static void
decide_row(struct row *row, size_t tests)
{
	const struct verdict_facts *f = &row->facts;
	size_t have = f->m < f->n ? f->m : f->n;

	row->verdict = verdict_decide(f, row->metric.better, row->margin,
	    row->p, JUDGE_ALPHA, &row->certain);
	row->waived =
	    row->verdict == VERDICT_REGRESSION && rules_is_waived(row);
	if (row->verdict == VERDICT_INSUFFICIENT)
		row->needed = VERDICT_RUNS;
	if (row->verdict == VERDICT_INCONCLUSIVE) {
		row->needed = verdict_needed_runs(
		    f, row->margin, (size_t)ceil((double)tests / row->weight));
		/* else no change could be shown among so many tests */
		if (judge_p(row, f->p_min) * (double)tests / row->weight <=
		    JUDGE_ALPHA)
			row->visible = verdict_visible_change(f);
	}
	if (row->needed > have)
		row->minutes = (double)(row->needed - have) *
		    expect_seconds(row->pair) / 60;
}

static bool
is_tested(const struct row *row, bool gate)
{
	return row->gate == gate && !isnan(row->facts.p) &&
	    row->facts.m >= VERDICT_RUNS && row->facts.n >= VERDICT_RUNS;
}

/*
 * Sets the weights of p for Benjamini-Hochberg (Genovese, Roeder and Wasserman,
 * Biometrika 93, 2006): p / weight, with weights of 1 on average, keeps the
 * false discovery rate. Metrics other than throughput and latency get half the
 * weight, so that they cost the others less power. Holm ('strict') has no
 * weights. Returns the number of tests.
 */
static size_t
weigh_rows(struct comparison *c, size_t n, bool strict)
{
	size_t first = 0, second = 0;
	double unit;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < c[i].nrows; j++) {
			if (!is_tested(&c[i].rows[j], true))
				continue;
			if (c[i].rows[j].metric.second)
				second++;
			else
				first++;
		}
	unit = (double)(first + second) / ((double)first + .5 * (double)second);
	for (size_t i = 0; i < n && first && !strict; i++) {
		c[i].second = second;
		for (size_t j = 0; j < c[i].nrows; j++)
			if (is_tested(&c[i].rows[j], true))
				c[i].rows[j].weight = unit *
				    (c[i].rows[j].metric.second ? .5 : 1);
	}
	return first + second;
}

/* Sets p of the rows of one class, adjusted over all comparisons. */
static void
adjust_p_values(
    struct comparison *c, size_t n, const struct rules *r, bool gate)
{
	size_t all = 0, k = 0;
	double *p, *adjusted;

	for (size_t i = 0; i < n; i++)
		all += c[i].nrows;
	p = mem_array(all + 1, sizeof *p);
	adjusted = mem_array(all + 1, sizeof *adjusted);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < c[i].nrows; j++) {
			const struct row *row = &c[i].rows[j];
			double own = judge_p(row, verdict_p(&row->facts));

			p[k++] = is_tested(row, gate)
			    ? fmin(1, own / row->weight)
			    : NAN;
		}
	(r->strict ? verdict_holm : verdict_bh)(p, adjusted, all);
	k = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < c[i].nrows; j++, k++)
			if (!isnan(p[k]))
				c[i].rows[j].p = adjusted[k];
	free(p);
	free(adjusted);
}

/*
 * Replaces the p of paired rows whose rounds are too few. The p of signed ranks
 * is at least 2/2^rounds: a few rounds cannot show that one case of many
 * changed. The rank-sum test of all runs can; ignoring the rounds makes its p
 * larger. The estimate and its intervals stay those of the rounds.
 */
static void
use_rank_sum_p(struct comparison *c, size_t n, size_t tests)
{
	size_t cases = 0;

	for (size_t i = 0; i < n; i++)
		cases += c[i].matched;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < c[i].nrows; j++) {
			struct row *row = &c[i].rows[j];
			struct verdict_facts *f = &row->facts, u;
			double level =
			    isnan(row->level) ? JUDGE_ALPHA : row->level;
			size_t among = row->metric.second
			    ? (size_t)ceil((double)tests / row->weight)
			    : cases;

			if (!f->paired || isnan(f->p) ||
			    !str_starts(f->method, "signed-rank") ||
			    f->n >= power_least_runs(true, among, level))
				continue;
			u = verdict_measure(row->used[0].v, row->used[0].n,
			    row->used[1].v, row->used[1].n, false);
			f->p = u.p;
			f->p_min = u.p_min;
			f->method = u.method;
			c[i].by_rank_sum += row->gate;
		}
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
resample_runs(struct overall *o, const struct row *rows, size_t n)
{
	struct bootstrap_pair v[CASES] = {{0}};
	struct bootstrap b;
	double *sorted[2 * CASES];
	size_t k = 0, runs = 0;

	o->lo_runs = o->hi_runs = NAN;
	if (o->cases > CASES)
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

/* Fills c->overall from the rows; those without a ratio above 0 are left out.
 */
static void
add_overall(struct comparison *c)
{
	double *ratios = mem_array(c->nrows + 1, sizeof *ratios);

	for (size_t i = 0; i < c->nrows; i++) {
		struct overall *o;

		if (!c->rows[i].gate)
			continue;
		o = start_overall(c, c->rows[i].name);
		for (size_t j = i; o && j < c->nrows; j++)
			if (strcmp(c->rows[j].name, o->name) == 0 &&
			    c->rows[j].facts.ratio > 0)
				ratios[o->cases++] = c->rows[j].facts.ratio;
		if (!o)
			continue;
		o->ratio = stats_geomean(ratios, o->cases, .95, &o->lo, &o->hi);
		if (has_single_runs(c, o->name))
			o->lo = o->hi = NAN;
		resample_runs(o, c->rows, c->nrows);
	}
	free(ratios);
}

void
decide_all(struct comparison *c, size_t n, const struct rules *r)
{
	size_t tests = weigh_rows(c, n, r->strict);

	use_rank_sum_p(c, n, tests);
	adjust_p_values(c, n, r, true);
	adjust_p_values(c, n, r, false);
	for (size_t i = 0; i < n; i++) {
		c[i].family = tests;
		for (size_t j = 0; j < c[i].nrows; j++) {
			struct row *row = &c[i].rows[j];

			decide_row(row, c[i].family);
			if (row->waived)
				c[i].waived += row->gate;
			else
				c[i].count[row->verdict] += row->gate;
			c[i].paired += row->gate && row->facts.paired;
		}
		add_overall(&c[i]);
	}
	rules_add_lapses(r, c, n);
}
