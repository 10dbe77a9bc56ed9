#include "err.h"
#include "infer.h"
#include "judge.h"
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
	return casename_matches(name, r->pair->name[0]);
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
	const struct sample *of = r->used[j];

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
explain_noise(struct str *s, const struct row *r)
{
	const struct model_row *m = r->model;
	const struct metric_facts *of = r->of;

	str_printf(s, "  noise      %s%.2f%%", m->pairs ? "of a ratio " : "",
	    100 * sqrt(m->noise[0].var));
	if (!m->pairs)
		str_printf(s, " and %.2f%%", 100 * sqrt(m->noise[1].var));
	if (of->model.separate)
		str_add(s,
		    " of this case alone, which that of the other cases "
		    "tempers");
	if (!m->pairs && of->model.rho > 0)
		str_printf(s, "; neighbouring runs resemble each other (%.2f)",
		    of->model.rho);
	if (of->step > 0)
		str_printf(s, "; values come in steps of %.3g", of->step);
	str_addc(s, '\n');
}

/* The standard error of a change, by which Student's t tests it. */
static void
explain_error(struct str *s, const struct verdict_facts *f)
{
	str_printf(s, "standard error %.3f%%", 100 * f->se);
	if (f->df < 1000)
		str_printf(s, ", %.3g degrees of freedom", f->df);
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
	if (!r->common && !r->exact)
		explain_noise(s, r);
}

static void
explain_sessions(struct str *s, const struct comparison *c, const struct row *r)
{
	const size_t *n = r->common ? c->sessions : r->model->sessions_of;
	const struct metric_facts *of = r->of;

	if (!n[0] || r->exact)
		return;
	str_printf(s, "  sessions   %zu and %zu, none shared, ", n[0], n[1]);
	if (!of->model.known)
		report_sessions(s, of);
	else
		str_printf(s, "which differ by %.3g%%, as measured here",
		    100 * of->model.session_sd);
	str_addc(s, '\n');
	if (of->model.separate)
		str_printf(s,
		    "  machine    %+.2f%% in all cases, with a standard error "
		    "of %.2f%%, is taken for what it did\n",
		    100 * expm1(of->model.machine),
		    100 * sqrt(of->model.machine_error.var));
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
	if (r->busy)
		str_add(s, "; part of the error");
	str_addc(s, '\n');
}

/* Of a row that is judged by them. */
static void
explain_slow(struct str *s, const struct row *r)
{
	if (r->rare)
		str_printf(s,
		    "  slow       %.2g%% and %.2g%% of the requests of a run "
		    "took more than %.3g ms; the change is of these shares and "
		    ".1%% more\n",
		    100 * r->rare->share[0], 100 * r->rare->share[1],
		    r->rare->above_ms);
}

/* The change and its error; then, if the row is judged by it, the rest. */
static void
explain_changes(struct str *s, const struct row *r)
{
	struct verdict_facts rest;

	str_add(s, "  change     ");
	explain_change(s, &r->facts);
	if (r->facts.se > 0) {
		str_add(s, "; ");
		explain_error(s, &r->facts);
	}
	str_addc(s, '\n');
	if (!r->has_rest)
		return;
	rest = infer_rest(r, true);
	str_add(s, "  rest       the change relative to the other cases: ");
	explain_change(s, &rest);
	str_add(s, "; ");
	explain_error(s, &rest);
	str_addc(s, '\n');
}

static void
explain_probability(struct str *s, const struct row *r)
{
	if (r->exact || isnan(r->facts.p)) {
		str_add(s,
		    "  chance     none: there is no noise to compare with\n");
		return;
	}
	str_add(s, "  chance     ");
	changetext_chance(s, r->facts.p);
	str_printf(s,
	    " that it is truly %s, where %.0f%% of the cases did not "
	    "change; a claim needs %.1f%%\n",
	    r->facts.up ? "higher" : "lower", 100 * r->of->model.unchanged,
	    100 * r->of->needs_p);
}

/* Which part of the rule decided. */
static void
explain_reason(struct str *s, const struct row *r)
{
	const char *rest =
	    report_is_by_rest(r) ? " relative to the other cases" : "";
	bool tested = !r->exact;

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
		str_add(s,
		    "a change is not probable enough, or not beyond the "
		    "margin, and the 90% interval is not within the margin");
		break;
	default:
		if (r->outweighed)
			str_add(s,
			    verdict_is_slight(r->name, &r->facts)
				? "the change is beyond the margin, but below "
				  "1%, and the case is not slower"
				: "the change is beyond the margin, but the "
				  "case takes fewer instructions or less "
				  "time");
		else
			str_printf(s, "%sthe change%s is beyond the margin",
			    !tested ? ""
				: verdict_is_likely(r->verdict)
				? "a change is probable, but not enough to "
				  "claim it, and "
				: "a change is probable enough to claim it, "
				  "and ",
			    rest);
	}
	str_addc(s, '\n');
}

static void
explain_row(struct str *s, const struct comparison *c, const struct row *r)
{
	str_visible(s, r->pair->name[0]);
	str_addc(s, ' ');
	str_visible(s, r->name);
	str_printf(s, "%s\n", r->gate ? "" : " (shown, not judged)");
	explain_runs(s, r);
	explain_sessions(s, c, r);
	explain_others(s, r);
	explain_slow(s, r);
	explain_changes(s, r);
	explain_probability(s, r);
	str_printf(s,
	    r->rare ? "  margin     %.3gx (%s)\n"
		    : "  margin     %.3g%% (%s)\n",
	    r->rare ? 1 / (1 - r->margin) : 100 * r->margin, r->margin_from);
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
		explain_row(s, c, row);
		any = true;
	}
}
