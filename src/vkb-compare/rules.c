#include "rules.h"
#include "builds.h"
#include "counted.h"
#include "judge.h"
#include "mem.h"
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void
apply_answer(struct row *row, struct metric *m, const struct policy_answer *a,
    const char *from)
{
	if (a->better >= 0)
		m->better = (enum metric_better)a->better;
	if (isnan(a->margin) && !a->margin_auto)
		return;
	row->margin_auto = a->margin_auto;
	if (a->margin_auto)
		return; /* the present margin stays as the least */
	row->margin = a->margin;
	row->margin_sign = a->sign;
	row->margin_from = from;
}

/* Does an option that names a metric mean that of the row? A ratio is judged in
 * place of its metric. */
static bool
is_named(const struct row *row, const char *name)
{
	return strcmp(name, row->name) == 0 ||
	    strcmp(name, metric_base(row->name)) == 0;
}

/* Applies the last --margin of the metric, or the last one without a name. */
static void
apply_options(const struct rules *r, struct row *row, struct metric *of)
{
	const struct margin *m = NULL;

	for (size_t i = 0; i < r->nmargins; i++) {
		const char *name = r->margins[i].name;

		if (name ? is_named(row, name) : !m || !m->name)
			m = &r->margins[i];
	}
	if (m)
		apply_answer(row, of, &m->answer, "option");
}

/* Have all runs of the side one value? vkb-load counts one server of each build
 * where the builds agree, so that it may be one run. */
static bool
do_runs_agree(const struct kase *k, const char *metric)
{
	const struct sample *s = cases_runs(k, metric);

	for (size_t i = 1; i < s->n; i++)
		if (s->v[i] != s->v[0])
			return false;
	return s->n > 0;
}

/* Did most runs of the case answer less than their rate? */
static bool
is_unreached(const struct kase *k)
{
	const struct sample *s = cases_runs(k, "achieved_percent");
	size_t below = 0;

	for (size_t i = 0; i < s->n; i++)
		below += s->v[i] < METRIC_REACHED_PERCENT;
	return 2 * below > s->n;
}

/* A metric that may be exact becomes so if it is: measured runs may agree by
 * chance, for which there is a test. */
static void
set_exactness(struct row *row, struct metric *m)
{
	bool counted[2];

	if (!counted_may_be(m))
		return;
	for (size_t j = 0; j < 2; j++)
		counted[j] = row->pair->side[j] &&
		    cases_are_counted(row->pair->side[j], row->name);
	row->loads_differ = counted[0] != counted[1];
	if (counted[0] && counted[1] &&
	    do_runs_agree(row->pair->side[0], row->name) &&
	    do_runs_agree(row->pair->side[1], row->name))
		counted_make_exact(m);
}

bool
rules_apply(const struct rules *r, struct row *row, struct metric *m)
{
	const struct pairing *p = row->pair;
	const struct kase *k = p->side[0];
	struct policy_answer a;
	bool shown, replaced, unlike;

	*m = metric_guess(row->name);
	row->metric = m;
	set_exactness(row, m);
	replaced = m->instead_of ? p->reference < REFERENCE_SAME
				 : reference_replaces(p, row->name);
	m->gate = !replaced && metric_is_gate(m, cases_config(k));
	row->margin = m->margin;
	row->margin_from = "table";
	policy_find_answer(
	    r->policy, cases_config(k), p->name[0], row->name, r->today, &a);
	apply_answer(row, m, &a, "policy");
	row->exact = a.exact == 1 || m->exact;
	row->waiver = a.waiver;
	row->session_sd = a.session_sd;
	row->session_df = a.session_df;
	apply_options(r, row, m);
	shown = metric_is_shown(r->metrics, m, a.gate, &row->gate);
	row->keys_differ = m->grows && metric_keys_differ(cases_config(k));
	row->unreached = metric_follows_rate(row->name, strlen(row->name)) &&
	    p->side[1] &&
	    (is_unreached(p->side[0]) || is_unreached(p->side[1]));
	row->builds_differ = m->exact && p->side[1] &&
	    !builds_are_comparable(k->subject, p->side[1]->subject);
	unlike = row->keys_differ || row->loads_differ || row->unreached ||
	    row->builds_differ;
	if (replaced || (unlike && a.gate != 1))
		row->gate = false;
	row->primary = a.primary && row->gate;
	return shown && !(m->instead_of && p->reference == REFERENCE_OTHER);
}

bool
rules_is_waived(const struct row *row)
{
	return policy_waives(&row->waiver, row->facts.ratio);
}

static void
add_rule_issue(struct comparison *c, const struct rule_issue *l)
{
	c->rule_issues = mem_resize(
	    c->rule_issues, c->nrule_issues + 1, sizeof *c->rule_issues);
	c->rule_issues[c->nrule_issues++] = *l;
}

/* The effect of a waiver in the whole report. */
struct waiver_count {
	const struct policy_waiver *waiver;
	bool waived, exceeded;
};

static void
count_waiver(struct waiver_count **t, size_t *n, const struct row *row)
{
	size_t i = 0;

	if (!row->waiver.reason)
		return;
	while (i < *n && (*t)[i].waiver->reason != row->waiver.reason)
		i++;
	if (i == *n) {
		*t = mem_resize(*t, ++*n, sizeof **t);
		(*t)[i] = (struct waiver_count){.waiver = &row->waiver};
	}
	(*t)[i].waived |= row->waived;
	(*t)[i].exceeded |= !row->waived &&
	    (row->verdict == VERDICT_REGRESSION ||
		row->verdict == VERDICT_LIKELY_REGRESSION);
}

void
rules_add_issues(const struct rules *r, struct comparison *c, size_t n)
{
	struct waiver_count *t = NULL;
	size_t nt = 0;
	const char *rule;

	if (!r->policy || !n)
		return;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < c[i].nrows; k++)
			count_waiver(&t, &nt, &c[i].rows[k]);
	for (size_t i = 0; i < nt; i++) {
		const struct policy_waiver *w = t[i].waiver;
		struct rule_issue l = {
		    w->rule, "unused", w->reason, w->expires};

		if (w->expired)
			l.what = "expired";
		else if (t[i].exceeded)
			l.what = "exceeded";
		if (w->expired || t[i].exceeded || !t[i].waived)
			add_rule_issue(c, &l);
	}
	for (size_t i = 0; (rule = policy_unused_rule(r->policy, i)); i++)
		add_rule_issue(
		    c, &(struct rule_issue){rule, "unused", NULL, NULL});
	free(t);
}

struct comparisons {
	const struct comparison *c;
	size_t n;
};

static bool
has_metric(const void *comparisons, const char *name)
{
	const struct comparisons *all = comparisons;

	for (const struct comparison *c = all->c; c < all->c + all->n; c++) {
		for (size_t k = 0; k < c->nrows; k++)
			if (strcmp(c->rows[k].name, name) == 0)
				return true;
		for (size_t k = 0; k < c->one_sided_count; k++)
			if (strcmp(c->one_sided[k].name, name) == 0)
				return true;
	}
	return false;
}

int
rules_check_names(const struct rules *r, const struct comparison *c, size_t n)
{
	const struct comparisons all = {c, n};
	int rc = metric_check_names(
	    r->metrics, "no case that is on both sides", has_metric, &all);

	for (size_t i = 0; i < r->nmargins; i++) {
		const char *name = r->margins[i].name;

		if (name && !metric_find(name) && !has_metric(&all, name))
			rc = err_fail(
			    "option '--margin': no metric is called '%s'",
			    name);
	}
	return rc;
}
