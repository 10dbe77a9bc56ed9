#include "deciding.h"
#include "finding.h"
#include "judge/model.h"
#include "judge/sheet.h"
#include "mem.h"
#include "sessions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * The prior odds that a commit changes one of all series. They are larger than
 * the share of such commits: only places that the search and the permutations
 * found are weighed, which chance makes rarely.
 */
#define CHANGED .2

void
deciding_claim(struct findings *all, const size_t series[2])
{
	struct claim *claims = mem_array(all->n + 1, sizeof *claims);
	double *evidence = mem_array(all->n + 1, sizeof *evidence);
	size_t kept = 0;

	for (size_t i = 0; i < all->n; i++)
		evidence[all->v[i].joint] += all->v[i].evidence;
	for (size_t i = 0; i < all->n; i++) {
		struct finding *f = &all->v[i];
		double odds = log(CHANGED / fmax(1, (double)series[f->gate])) +
		    evidence[f->joint];

		f->probability = 1 / (1 + exp(-odds));
		claims[i].p = f->probability;
		claims[i].beyond = f->joint == i && !isnan(odds);
		claims[i].shown = !f->gate;
	}
	claim_choose(claims, all->n, false);
	for (size_t i = 0; i < all->n; i++)
		if (isnan(all->v[i].evidence) ||
		    claims[all->v[i].joint].word == CLAIM_CHANGE)
			all->v[kept++] = all->v[i];
		else
			finding_drop(&all->v[i]);
	all->n = kept;
	free(evidence);
	free(claims);
}

static bool
is_measured(const struct finding *f)
{
	return f->runs && !f->facts.assumed;
}

static bool
is_same_sheet(const struct finding *a, const struct finding *b)
{
	return strcmp(a->metric.name, b->metric.name) == 0 &&
	    a->series->machine == b->series->machine;
}

static void
fill_row(struct sheet *s, size_t row, const struct finding *f)
{
	for (size_t i = 0; i < f->n[0] + f->n[1]; i++)
		/* The sides are not compared run by run. */
		sheet_add(s, row, i >= f->n[0], f->runs[i], f->sessions[i],
		    (double)i);
}

/* Judges the n findings of one metric and machine. */
static void
judge_sheet(struct finding *const *v, size_t n, bool virtual)
{
	struct model_prior prior = sessions_assume(&v[0]->metric, virtual);
	struct sheet *s = sheet_new(n, strcmp(v[0]->metric.unit, "ms") == 0);
	struct model_metric m;
	struct model_row *rows;

	for (size_t i = 0; i < n; i++)
		fill_row(s, i, v[i]);
	rows = sheet_rows(s);
	model_judge(rows, n, &prior, &m);
	for (size_t i = 0; i < n; i++) {
		struct finding *f = v[i];

		verdict_take(&f->facts, &rows[i]);
		f->method = f->facts.method;
		f->probability = f->facts.p;
	}
	sheet_free(s);
}

static void
judge_sheets(struct findings *all, bool virtual)
{
	struct finding **v = mem_array(all->n + 1, sizeof *v);
	bool *done = mem_array(all->n + 1, sizeof *done);

	for (size_t i = 0; i < all->n; i++) {
		size_t n = 0;

		for (size_t k = i; k < all->n; k++)
			if (!done[k] && is_measured(&all->v[k]) &&
			    is_same_sheet(&all->v[i], &all->v[k])) {
				v[n++] = &all->v[k];
				done[k] = true;
			}
		if (n)
			judge_sheet(v, n, virtual);
	}
	free(done);
	free(v);
}

void
deciding_judge(struct findings *all, bool virtual)
{
	struct claim *claims = mem_array(all->n + 1, sizeof *claims);
	size_t kept = 0;

	judge_sheets(all, virtual);
	for (size_t i = 0; i < all->n; i++) {
		claims[i] =
		    verdict_make_claim(&all->v[i].facts, all->v[i].margin);
		claims[i].shown = !all->v[i].gate;
	}
	claim_choose(claims, all->n, false);
	for (size_t i = 0; i < all->n; i++) {
		struct finding *f = &all->v[i];
		enum verdict v = verdict_decide(
		    &f->facts, f->metric.better, f->margin, claims[i].word);

		if (f->setup && v <= VERDICT_LIKELY_DIFFERENT)
			v = v < VERDICT_LIKELY_REGRESSION
			    ? VERDICT_DIFFERENT
			    : VERDICT_LIKELY_DIFFERENT;
		all->verdicts[v] += f->gate;
		all->enough += v != VERDICT_INSUFFICIENT;
		if (v > VERDICT_LIKELY_DIFFERENT) {
			finding_drop(f);
			continue;
		}
		f->kind = (enum finding_kind)v;
		all->v[kept++] = *f;
	}
	all->n = kept;
	free(claims);
}
