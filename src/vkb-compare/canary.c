#include "canary.h"
#include "casename.h"
#include "err.h"
#include "history.h"
#include "infer.h"
#include "judge.h"
#include "mem.h"
#include "opt.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static struct canary *
add_canary(struct comparison *c, const char *name)
{
	c->canaries =
	    mem_resize(c->canaries, c->ncanaries + 1, sizeof *c->canaries);
	c->canaries[c->ncanaries] =
	    (struct canary){.name = name, .verdict = VERDICT_INSUFFICIENT};
	return &c->canaries[c->ncanaries++];
}

/* Does the name match a pattern? Sets met[i] for each that it
 * matches. */
static bool
matches_pattern(const char *name, const struct opt_list *patterns, bool *met)
{
	bool any = false;

	for (size_t i = 0; i < patterns->n; i++) {
		if (!casename_matches(patterns->v[i], name))
			continue;
		met[i] = any = true;
	}
	return any;
}

/* The runs of a history are compared by their values, also where both sides are
 * judged by slow requests. */
static double
get_margin(const struct row *row)
{
	return row->rare ? row->metric->margin : row->margin;
}

/* Compares the runs of the contender with those of the earlier subjects, whose
 * sessions differ as those of the report do. */
static struct verdict_facts
compare_with_history(
    const struct row *row, enum sessions_host host, const struct history *h)
{
	const struct pairing *p = row->pair;
	struct model_prior prior = row->of && !row->rare
	    ? row->of->prior
	    : sessions_assume(row->metric, host, NULL);
	struct sample x = history_sample(h, p->side[1]->key, row->name);
	struct verdict_facts f = {.ratio = NAN};

	if (x.n)
		f = infer_samples((struct sample[2]){x, *row->used[1]},
		    metric_has_clock(row->metric), &prior);
	sample_free(&x);
	return f;
}

static void
report_canary(const struct canary *k, const struct rules *r)
{
	const char *whom = r->history ? "history" : "baseline";

	if (!k->metric)
		err_say("canary '%s': no judged metric of it is on both sides: "
			"the comparison is refused",
		    k->name);
	else if (k->verdict == VERDICT_INSUFFICIENT)
		err_say("canary '%s': too few runs of %s, or of its %s: the "
			"comparison is refused",
		    k->name, k->metric, whom);
	else if (isnan(k->facts.ratio))
		err_say("canary '%s': %s changed from %g to %g against its %s: "
			"the comparison is refused",
		    k->name, k->metric, k->facts.median[0], k->facts.median[1],
		    whom);
	else if (k->rare && !r->history)
		err_say("canary '%s': %s: %.2g%% of requests above %.2g ms, "
			"in its %s %.2g%%: the comparison is refused",
		    k->name, k->metric, 100 * k->rare->share[1],
		    k->rare->above_ms, whom, 100 * k->rare->share[0]);
	else
		err_say("canary '%s': %s changed by %+.1f%% against its %s: "
			"the comparison is refused",
		    k->name, k->metric, 100 * (k->facts.ratio - 1), whom);
}

/* A likely change is not claimed. */
static bool
is_unclear(enum verdict v)
{
	return v == VERDICT_INCONCLUSIVE || verdict_is_likely(v);
}

/* Judges the contender against the history, by claims that are chosen among the
 * canaries alone. */
static void
judge_by_history(
    struct comparison *c, const struct row **rows, const struct rules *r)
{
	struct claim *v = mem_array(c->ncanaries + 1, sizeof *v);

	for (size_t i = 0; i < c->ncanaries; i++) {
		struct canary *k = &c->canaries[i];

		if (!rows[i])
			continue;
		k->facts = compare_with_history(rows[i], c->host, r->history);
		v[i] = verdict_make_claim(&k->facts, get_margin(rows[i]));
	}
	claim_choose(v, c->ncanaries, r->strict);
	for (size_t i = 0; i < c->ncanaries; i++)
		if (rows[i])
			c->canaries[i].verdict = verdict_decide(
			    &c->canaries[i].facts, rows[i]->metric->better,
			    get_margin(rows[i]), v[i].word);
	free(v);
}

/* Fills c->canaries and returns their rows, NULL for one that is missing.
 * Caller frees the array. */
static const struct row **
collect_canaries(struct comparison *c, const struct opt_list *patterns)
{
	size_t most = c->nrows + c->npairs + patterns->n;
	const struct row **rows = mem_array(most + 1, sizeof *rows);
	bool *met = mem_array(patterns->n + 1, sizeof *met);

	for (size_t i = 0; i < c->npairs; i++) {
		const struct pairing *p = &c->pairs[i];
		const char *name = p->name[!p->side[0]];
		size_t before = c->ncanaries;

		if (!matches_pattern(name, patterns, met))
			continue;
		for (size_t k = 0; k < c->nrows; k++) {
			const struct row *row = &c->rows[k];
			struct canary *canary;

			if (row->pair != p || !row->gate)
				continue;
			rows[c->ncanaries] = row;
			canary = add_canary(c, name);
			canary->metric = row->name;
			canary->facts = row->facts;
			canary->rare = row->rare;
			canary->verdict = row->verdict;
		}
		if (c->ncanaries == before)
			add_canary(c, name);
	}
	for (size_t k = 0; k < patterns->n; k++)
		if (!met[k])
			add_canary(c, patterns->v[k]);
	free(met);
	return rows;
}

int
canary_check(struct comparison *c, const struct opt_list *patterns,
    const struct rules *r)
{
	const struct row **rows = collect_canaries(c, patterns);
	int rc = 0;

	if (r->history)
		judge_by_history(c, rows, r);
	for (size_t i = 0; i < c->ncanaries; i++) {
		struct canary *k = &c->canaries[i];

		k->ok =
		    k->verdict == VERDICT_EQUIVALENT || is_unclear(k->verdict);
		if (k->ok)
			continue;
		report_canary(k, r);
		rc = -1;
	}
	free(rows);
	return rc;
}
