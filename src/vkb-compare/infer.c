#include "infer.h"
#include "apart.h"
#include "busy.h"
#include "common.h"
#include "judge.h"
#include "mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void
infer_facts(struct verdict_facts *f, const struct moderate *prior, double least,
    double level05, double level10)
{
	verdict_set_error(f, prior);
	if (isnan(f->p) || f->serial > 0 || f->p_min > least)
		verdict_use_t(f, prior->df > 0, level05, level10);
}

/* Is the noise of both sides, or of the pairs, known? */
static bool
has_noise(const struct row *row)
{
	const struct verdict_facts *f = &row->facts;

	return !isnan(f->change) && f->noise[0].df > 0 &&
	    (f->paired || f->noise[1].df > 0);
}

/* Groups the rows by metric: at each row, the next of its metric in 'next', or
 * 'nrows'; 'first' has the first rows. Returns the number of metrics. */
static size_t
group_rows(const struct comparison *c, size_t *first, size_t *next)
{
	size_t n = 0, *last = mem_array(c->nrows + 1, sizeof *last);

	for (size_t i = 0; i < c->nrows; i++) {
		size_t k = 0;

		while (k < n &&
		    strcmp(c->rows[first[k]].name, c->rows[i].name) != 0)
			k++;
		if (k == n)
			first[n++] = i;
		else
			next[last[k]] = i;
		last[k] = i;
		next[i] = c->nrows;
	}
	free(last);
	return n;
}

/* Estimates the autocorrelation from the unpaired rows of all judged metrics,
 * and sets it for all unpaired rows. */
static void
measure_serial(
    struct comparison *c, const size_t *first, const size_t *next, size_t n)
{
	struct serial *sums = mem_array(n + 1, sizeof *sums);
	size_t(*series)[2] = mem_array(c->nrows + 1, sizeof *series);

	for (size_t k = 0; k < n; k++)
		for (size_t i = first[k]; i < c->nrows; i = next[i]) {
			const struct row *row = &c->rows[i];
			struct serial unused = {0};

			if (row->facts.paired || !has_noise(row))
				continue;
			for (size_t j = 0; j < 2; j++)
				series[i][j] = sample_add_serial(&row->used[j],
				    row->gate ? &sums[k] : &unused);
		}
	c->serial = serial_estimate(sums, n);
	for (size_t i = 0; i < c->nrows; i++)
		if (series[i][0])
			verdict_set_serial(
			    &c->rows[i].facts, c->serial, series[i]);
	free(sums);
	free(series);
}

/* Collects the variances of the rows of one metric, paired or not. */
static struct moderate
fit_prior(
    const struct comparison *c, size_t first, const size_t *next, bool paired)
{
	struct moderate *v = mem_array(2 * c->nrows + 1, sizeof *v), prior;
	size_t n = 0;

	for (size_t i = first; i < c->nrows; i = next[i]) {
		const struct row *row = &c->rows[i];

		if (row->facts.paired != paired || isnan(row->facts.change))
			continue;
		v[n++] = row->facts.noise[0]; /* df 0: one run */
		if (!paired)
			v[n++] = row->facts.noise[1];
	}
	prior = moderate_prior(v, n);
	free(v);
	return prior;
}

void
infer_rows(struct comparison *c, const struct rules *r)
{
	size_t *first = mem_array(c->nrows + 1, sizeof *first);
	size_t *next = mem_array(c->nrows + 1, sizeof *next);
	size_t n = group_rows(c, first, next);
	bool apart = apart_find(c);

	measure_serial(c, first, next, n);
	for (size_t k = 0; k < n; k++) {
		struct moderate priors[2] = {
		    fit_prior(c, first[k], next, false),
		    fit_prior(c, first[k], next, true)};

		for (size_t i = first[k]; i < c->nrows; i = next[i]) {
			struct row *row = &c->rows[i];
			enum test_family in = judge_family(row);
			double least = in == FAMILIES
			    ? 0
			    : family_rank_limit(c->alpha[in], c->tests[in]) *
				row->level / JUDGE_ALPHA;

			if (!has_noise(row))
				continue;
			infer_facts(&row->facts, &priors[row->facts.paired],
			    least, row->level, row->level10);
			if (!apart)
				busy_widen(row);
		}
		if (apart)
			apart_widen(c, r, first[k], next);
	}
	common_append(c);
	free(first);
	free(next);
}
