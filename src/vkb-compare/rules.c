#include "rules.h"
#include "judge.h"
#include "mem.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void
say(struct row *row, const struct policy_answer *a, const char *from)
{
	if (a->better >= 0)
		row->metric.better = (enum metric_better)a->better;
	if (isnan(a->margin) && !a->margin_auto)
		return;
	row->margin_auto = a->margin_auto;
	if (a->margin_auto)
		return; /* the margin so far is the least */
	row->margin = a->margin;
	row->margin_sign = a->sign;
	row->margin_from = from;
}

/* The last one that names the metric, else the last that names none. */
static void
options(const struct rules *r, struct row *row)
{
	const struct margin *m = NULL;

	for (size_t i = 0; i < r->nmargins; i++) {
		const char *name = r->margins[i].name;

		if (name ? strcmp(name, row->name) == 0 : !m || !m->name)
			m = &r->margins[i];
	}
	if (m)
		say(row, &m->says, "option");
}

bool
rules_apply(const struct rules *r, struct row *row)
{
	const struct pairing *p = row->pair;
	const struct kase *k = p->side[0] ? p->side[0] : p->side[1];
	struct policy_answer a = {
	    .margin = NAN, .better = -1, .gate = -1, .exact = -1};

	row->metric = metric_guess(row->name);
	row->margin = row->metric.margin;
	row->margin_from = "table";
	if (r->policy)
		policy_ask(
		    r->policy, k->config, p->name, row->name, r->today, &a);
	say(row, &a, "policy");
	row->exact = a.exact == 1;
	row->waiver = a.waiver;
	options(r, row);
	return metric_wanted(r->metrics, &row->metric, a.gate, &row->gate);
}

bool
rules_waive(const struct row *row)
{
	return policy_waives(&row->waiver, row->facts.ratio);
}

static void
lapse(struct comparison *c, const struct lapse *l)
{
	c->lapses = mem_resize(c->lapses, c->nlapses + 1, sizeof *c->lapses);
	c->lapses[c->nlapses++] = *l;
}

/* What became of a waiver in the whole report. */
struct tally {
	const struct policy_waiver *waiver;
	bool waived, exceeded;
};

static void
count(struct tally **t, size_t *n, const struct row *row)
{
	size_t i = 0;

	if (!row->waiver.reason)
		return;
	while (i < *n && (*t)[i].waiver->reason != row->waiver.reason)
		i++;
	if (i == *n) {
		*t = mem_resize(*t, ++*n, sizeof **t);
		(*t)[i] = (struct tally){.waiver = &row->waiver};
	}
	(*t)[i].waived |= row->waived;
	(*t)[i].exceeded |= row->verdict == VERDICT_REGRESSION && !row->waived;
}

void
rules_lapses(const struct rules *r, struct comparison *c, size_t n)
{
	struct tally *t = NULL;
	size_t nt = 0;
	const char *rule;

	if (!r->policy || !n)
		return;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < c[i].nrows; k++)
			count(&t, &nt, &c[i].rows[k]);
	for (size_t i = 0; i < nt; i++) {
		const struct policy_waiver *w = t[i].waiver;
		struct lapse l = {w->rule, "unused", w->reason, w->expires};

		if (w->expired)
			l.what = "expired";
		else if (t[i].exceeded)
			l.what = "exceeded";
		if (w->expired || t[i].exceeded || !t[i].waived)
			lapse(c, &l);
	}
	for (size_t i = 0; (rule = policy_unused(r->policy, i)); i++)
		lapse(c, &(struct lapse){rule, "unused", NULL, NULL});
	free(t);
}
