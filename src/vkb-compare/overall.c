#include "overall.h"
#include "bootstrap.h"
#include "judge.h"
#include "mem.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

void
overall_add(struct comparison *c)
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
