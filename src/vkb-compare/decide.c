#include "decide.h"
#include "common.h"
#include "counted.h"
#include "infer.h"
#include "judge/claim.h"
#include "judge/odds.h"
#include "judge/plan.h"
#include "json.h"
#include "judge.h"
#include "mem.h"
#include "part.h"
#include "sameserver.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Chooses the claims among the rows of all comparisons that are judged, or
 * those that are only shown. */
static void
choose_claims(struct comparison *c, size_t n, const struct rules *r, bool gate)
{
	size_t all = 0, k = 0;
	struct claim *v;
	double needs;

	for (size_t i = 0; i < n; i++)
		all += c[i].nrows;
	v = mem_array(all + 1, sizeof *v);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < c[i].nrows; j++) {
			const struct row *row = &c[i].rows[j];

			if (row->gate == gate && !row->exact)
				v[k++] = verdict_make_claim(
				    &row->facts, row->margin);
		}
	needs = claim_choose(v, k, r->strict);
	for (size_t i = 0; gate && i < n; i++) {
		c[i].needs_p = needs;
		c[i].claims = k;
	}
	k = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < c[i].nrows; j++) {
			struct row *row = &c[i].rows[j];

			if (row->gate == gate && !row->exact)
				row->claim = v[k++].word;
		}
	free(v);
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

/* Sets what would make an undecided row clear. More runs help, but not beside
 * other programs or in another session. */
static void
plan_row(const struct comparison *c, struct row *row)
{
	const struct metric_facts *of = judge_find_metric(c, row->name);
	struct plan p = plan_describe(&row->model, &of->model);
	double by = row->common ? 1 : of->model.separate ? .2 : 1.7;
	bool known = of->model.known;

	p.margin = row->margin;
	p.p = c->needs_p;
	if (row->common)
		p.unchanged = 1 - ODDS_ALL_CHANGED;
	/* How much sessions differ is assumed, and only roughly known: one case
	 * needs more than that, and where others tell the machine, less. The
	 * factors were fitted to the cells "visible" of tests/bench/verdicts.
	 */
	if (row->has_rest && of->cases >= COMMON_CASES) {
		p.error = row->model.rest_error;
	} else if (row->model.shared > 0 && (row->has_rest || !known)) {
		p.error = (struct moderate){row->model.own.var +
			row->model.sessions + by * of->model.sessions.var,
		    known ? row->model.own.df : INFINITY};
		p.known = !known;
	}
	row->visible = plan_change(&p);
	if (!row->sessions[0] && !row->common && !row->busy)
		row->needed = plan_rounds(&p);
}

static void
decide_row(const struct comparison *c, struct row *row)
{
	const struct verdict_facts *f = &row->facts;
	size_t have = f->m < f->n ? f->m : f->n;
	size_t kept =
	    f->paired || f->m < VERDICT_RUNS || f->n < VERDICT_RUNS ? have : 0;

	row->verdict =
	    verdict_decide(f, row->metric.better, row->margin, row->claim);
	row->waived = (row->verdict == VERDICT_REGRESSION ||
			  row->verdict == VERDICT_LIKELY_REGRESSION) &&
	    rules_is_waived(row);
	if (row->verdict == VERDICT_INSUFFICIENT)
		row->needed = VERDICT_RUNS;
	else if (!row->exact &&
	    (row->verdict == VERDICT_INCONCLUSIVE ||
		verdict_is_likely(row->verdict)))
		plan_row(c, row);
	if (row->needed > kept)
		row->minutes = (double)(row->needed - kept) *
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

/*
 * Sets the interval of the mean over exactly these cases by the errors of their
 * rows, of which those of different cases are independent, and the machine's.
 */
static void
add_errors(struct comparison *c, struct overall *o)
{
	const struct metric_facts *of = judge_find_metric(c, o->name);
	struct moderate sum = {0, INFINITY};
	double k = (double)o->cases;
	struct model_row mean = {0};

	for (size_t i = 0; i < c->nrows; i++) {
		const struct row *row = &c->rows[i];

		if (row->common || strcmp(row->name, o->name) != 0 ||
		    !(row->facts.ratio > 0))
			continue;
		if (!(row->model.own.df >= 1))
			return;
		mean.step += row->model.step / k;
		sum = moderate_add(
		    row->model.own, sum.var > 0 ? sum : (struct moderate){0});
	}
	if (!(sum.var > 0) || !of)
		return;
	sum.var /= k * k;
	mean.error = moderate_add(sum, of->model.moved_error);
	o->lo_runs = o->ratio * exp(-model_half_width(&mean, false, .95));
	o->hi_runs = o->ratio * exp(model_half_width(&mean, false, .95));
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
		if (c->rows[i].busy)
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
			add_errors(c, o);
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
	for (size_t i = 0; i < n; i++)
		infer_rows(&c[i], r);
	choose_claims(c, n, r, true);
	choose_claims(c, n, r, false);
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < c[i].nrows; j++)
			decide_row(&c[i], &c[i].rows[j]);
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
