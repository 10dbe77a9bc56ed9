#include "between.h"
#include "busy.h"
#include "err.h"
#include "intern.h"
#include "judge.h"
#include "mem.h"
#include "num.h"
#include "report.h"
#include "casename.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 12 }; /* values of a side */

#define NOTABLE 2. /* percent of the CPU time that other programs use */

static bool
is_explained(const struct row *r, const char *name)
{
	return casename_matches(name, r->pair->name[0], r->pair->old_name);
}

int
explain_check(const struct comparison *c, size_t n, const char *name)
{
	struct str s = {0};

	for (size_t i = 0; name && i < n; i++)
		for (size_t k = 0; k < c[i].nrows; k++)
			if (is_explained(&c[i].rows[k], name))
				return 0;
	if (!name)
		return 0;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < c[i].npairs; k++)
			str_printf(&s, "%s'%s'", s.len ? ", " : "",
			    c[i].pairs[k].name[!c[i].pairs[k].side[0]]);
	err_fail("option '--explain': no compared case matches '%s'; the cases "
		 "are: %s",
	    name, s.len ? s.s : "none");
	str_free(&s);
	return -1;
}

/* To five digits or more, so that a reader can compute with them. */
static void
explain_value(struct str *s, double v)
{
	str_printf(s, fabs(v) >= 1e4 && fabs(v) < 1e12 ? "%.0f" : "%.5g", v);
}

static void
explain_values(struct str *s, const char *side, const struct row *r, size_t j)
{
	const struct sample *of = &r->used[j];

	str_printf(s, "  %-9s  %zu run%s:", side, of->n, num_plural(of->n));
	for (size_t i = 0; i < of->n && i < SHOWN; i++) {
		str_addc(s, ' ');
		explain_value(s, of->v[i]);
	}
	if (of->n > SHOWN)
		str_add(s, " ...");
	str_add(s, "; median ");
	explain_value(s, r->facts.median[j]);
	str_addc(s, '\n');
}

/* "-6.2% [-6.6, -5.8]" */
static void
explain_change(struct str *s, const struct verdict_facts *f)
{
	if (isnan(f->ratio)) {
		str_add(s, "no ratio");
		return;
	}
	str_printf(s, "%+.2f%%", 100 * (f->ratio - 1));
	if (!isnan(f->lo95))
		str_printf(s,
		    ", 95%% interval %+.2f to %+.2f%%, 90%% %+.2f to %+.2f%%",
		    100 * (f->lo95 - 1), 100 * (f->hi95 - 1),
		    100 * (f->lo90 - 1), 100 * (f->hi90 - 1));
}

/* The noise is that of logarithms, which is a share of the value. */
static void
explain_noise(struct str *s, const struct verdict_facts *f)
{
	str_printf(s, "  noise      %s%.2f%%", f->paired ? "of a ratio " : "",
	    100 * sqrt(f->noise[0].var));
	if (!f->paired)
		str_printf(s, " and %.2f%%", 100 * sqrt(f->noise[1].var));
	if (f->prior.df > 0)
		str_printf(s,
		    ", shrunk to the %.2f%% of all rows of this metric, which "
		    "count as %.3g more degrees of freedom",
		    100 * sqrt(f->prior.var), f->prior.df);
	if (f->serial > 0)
		str_printf(s, "; autocorrelated runs (lag-1 %.2f)", f->serial);
	str_addc(s, '\n');
}

/* The standard error of a change, by which Student's t tests it. */
static void
explain_error(struct str *s, const struct verdict_facts *f)
{
	str_printf(s, "standard error %.3f%%, %.3g degrees of freedom",
	    100 * f->se, f->df);
}

/* Are the intervals and p those of Student's t, by the standard error? */
static bool
is_by_error(const struct verdict_facts *f)
{
	return f->se > 0 && f->p_min == 0;
}

static void
explain_medians(struct str *s, const struct row *r, size_t j)
{
	struct intern *names = intern_new();
	const struct sample *of = &r->used[j];
	double *v = mem_array(of->n + 1, sizeof *v);

	for (size_t i = 0; i < of->n; i++)
		intern_id(names, of->rounds[i].session);
	between_list_medians(of, names, v);
	for (size_t i = 0; i < intern_count(names) && i < SHOWN; i++) {
		str_addc(s, ' ');
		explain_value(s, exp(v[i]));
	}
	if (intern_count(names) > SHOWN)
		str_add(s, " ...");
	free(v);
	intern_free(names);
}

/* Are sessions compared, by their medians, rather than runs? */
static bool
is_by_medians(const struct row *r)
{
	return strcmp(r->facts.method, "t-sessions") == 0 &&
	    !r->facts.assumed_se && r->sessions[0];
}

/* The row of all cases has no runs of its own. */
static void
explain_runs(struct str *s, const struct row *r)
{
	const struct verdict_facts *f = &r->facts;

	if (r->common) {
		str_printf(
		    s, "  cases      %zu have this change in common\n", f->n);
	} else {
		explain_values(s, "baseline", r, 0);
		explain_values(s, "contender", r, 1);
		str_printf(s, "  pairs      %s\n",
		    f->paired ? "runs of one session and block are compared "
				"one by one"
			      : "none: the sides are two samples");
	}
	if (r->common || is_by_medians(r) || !is_by_error(f))
		return;
	explain_noise(s, f);
}

static void
explain_sessions(struct str *s, const struct comparison *c, const struct row *r)
{
	const size_t *n = r->common ? c->sessions : r->sessions;

	if (!n[0] || strcmp(r->facts.method, "t-sessions") != 0)
		return;
	str_printf(s, "  sessions   %zu and %zu, none shared, ", n[0], n[1]);
	if (r->facts.assumed_se) {
		report_sessions(s, sqrt(r->session.var), r->session_from);
		str_printf(s, ": %.2f%% of the error",
		    100 *
			sqrt(r->session.var *
			    (1 / (double)n[0] + 1 / (double)n[1])));
	} else if (is_by_medians(r)) {
		str_add(s, "compared by their medians:");
		explain_medians(s, r, 0);
		str_add(s, " and");
		explain_medians(s, r, 1);
	} else {
		str_add(s, "whose differences are measured");
	}
	str_addc(s, '\n');
}

/* The CPU time of other programs, where it is known and notable. */
static void
explain_others(struct str *s, const struct row *r)
{
	const double *busy = r->pair->busy;

	if (!(busy[0] >= NOTABLE || busy[1] >= NOTABLE) || r->exact)
		return;
	str_add(s, "  others     other processes used ");
	for (size_t j = 0; j < 2; j++) {
		str_add(s, j ? " and " : "");
		if (isnan(busy[j]))
			str_add(s, "an unknown share");
		else
			str_printf(s, "%.0f%%", busy[j]);
		str_printf(s, "%s during the %s", j ? "" : " of the CPU",
		    j ? "contender" : "baseline");
	}
	if (busy_noise(r).var > 0)
		str_add(s, "; part of the error");
	str_addc(s, '\n');
}

/* The change and its error; then, if the row is judged by it, the rest. */
static void
explain_changes(struct str *s, const struct row *r)
{
	str_add(s, "  change     ");
	explain_change(s, &r->facts);
	if (is_by_error(&r->facts)) {
		str_add(s, "; ");
		explain_error(s, &r->facts);
	}
	str_addc(s, '\n');
	if (!r->has_rest)
		return;
	str_add(s, "  rest       the change relative to all cases: ");
	explain_change(s, &r->rest);
	str_add(s, "; ");
	explain_error(s, &r->rest);
	str_addc(s, '\n');
}

static void
explain_p(struct str *s, const struct comparison *c, const struct row *r,
    const struct rules *rules)
{
	static const char *const names[FAMILIES] = {
	    "primary", "other judged", "common", "shown"};
	enum test_family k = judge_family(r);

	if (k == FAMILIES) {
		str_printf(s, "  p          none: %s\n",
		    isnan(r->facts.p) ? "there is no noise to test against"
				      : "too few runs");
		return;
	}
	str_printf(s,
	    "  p          %.3g%s by %s; %.3g after correction for %zu test%s "
	    "of %s results (%s)",
	    r->facts.p, r->has_rest ? " of the rest" : "", r->facts.method,
	    r->p, c->tests[k], num_plural(c->tests[k]), names[k],
	    rules->strict ? "Holm" : "Benjamini-Hochberg");
	if (c->alpha[k] < JUDGE_ALPHA)
		str_printf(s, " and scaling from their level %g to %g",
		    c->alpha[k], JUDGE_ALPHA);
	str_addc(s, '\n');
}

/* Which part of the rule decided. */
static void
explain_reason(struct str *s, const struct row *r)
{
	const char *rest =
	    r->has_rest && report_is_by_rest(r) ? " relative to all cases" : "";
	bool tested = judge_family(r) != FAMILIES;
	bool small = tested && r->p < JUDGE_ALPHA;

	str_add(s, "  reason     ");
	switch (r->verdict) {
	case VERDICT_INSUFFICIENT:
		str_printf(
		    s, "a side has fewer than %d runs", (int)VERDICT_RUNS);
		break;
	case VERDICT_EQUIVALENT:
		str_add(s,
		    r->noise     ? "both sides are the same server, measured "
				   "interleaved, "
				   "so what differs is noise"
			: tested ? "the whole 90% interval is within the margin"
				 : "the change is within the margin");
		break;
	case VERDICT_INCONCLUSIVE:
		if (verdict_is_spread(&r->facts)) {
			str_add(s,
			    "the runs differ, and not all of their ratios are "
			    "beyond the margin, or within it");
			break;
		}
		str_printf(s,
		    "p is%s below %g, and the 90%% interval is not within the "
		    "margin",
		    small ? "" : " not", JUDGE_ALPHA);
		if (small)
			str_add(s,
			    rest[0] ? "; but others changed, not this case"
				    : "; but the change is within it");
		break;
	default:
		if (r->outweighed)
			str_add(s,
			    "the change is beyond the margin, but the case "
			    "takes fewer instructions or less time");
		else if (!verdict_is_likely(r->verdict))
			str_printf(s, "%sthe change%s is beyond the margin%s",
			    tested ? "p is below 0.05, and " : "", rest,
			    !r->certain   ? ""
				: !tested ? ""
					  : ", as the whole 90% interval is");
		else if (r->has_rest && !*rest)
			str_add(s,
			    "the whole 95% interval is beyond the margin, but "
			    "relative to all cases nothing is shown");
		else
			str_printf(s,
			    "the 95%% interval%s has one sign and the change "
			    "is beyond the margin, but p is not below %g",
			    rest, JUDGE_ALPHA);
	}
	str_addc(s, '\n');
}

static void
explain_row(struct str *s, const struct report *report,
    const struct comparison *c, const struct row *r)
{
	str_visible(s, r->pair->name[0]);
	str_addc(s, ' ');
	str_visible(s, r->name);
	str_printf(s, "%s\n", r->gate ? "" : " (shown, not judged)");
	explain_runs(s, r);
	explain_sessions(s, c, r);
	explain_others(s, r);
	explain_changes(s, r);
	explain_p(s, c, r, report->rules);
	str_printf(
	    s, "  margin     %.3g%% (%s)\n", 100 * r->margin, r->margin_from);
	explain_reason(s, r);
	str_add(s, "  verdict    ");
	report_verdict(s, r);
	str_add(s, "\n");
}

void
explain_case(struct str *s, const struct report *r, size_t which)
{
	const struct comparison *c = &r->c[which];
	bool any = false;

	for (size_t i = 0; i < c->nrows; i++) {
		const struct row *row = &c->rows[i];

		if (!is_explained(row, r->explain) || (!row->gate && any))
			continue;
		if (any)
			str_addc(s, '\n');
		explain_row(s, r, c, row);
		any = true;
	}
}
