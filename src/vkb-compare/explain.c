#include "busy.h"
#include "err.h"
#include "judge.h"
#include "num.h"
#include "report.h"
#include "str.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

enum { SHOWN = 12 }; /* values of a side */

#define NOTABLE 2. /* percent of the CPU time that other programs use */

static bool
is_explained(const struct row *r, const char *name)
{
	const char *own = r->pair->name[0];

	return strcmp(own, name) == 0 || fnmatch(name, own, 0) == 0;
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

static void
explain_values(struct str *s, const char *side, const struct row *r, size_t j)
{
	const struct sample *of = &r->used[j];
	char buf[NUM_BUF];

	str_printf(s, "  %-9s  %zu run%s:", side, of->n, num_plural(of->n));
	for (size_t i = 0; i < of->n && i < SHOWN; i++)
		str_printf(s, " %s", num_human(buf, of->v[i]));
	if (of->n > SHOWN)
		str_add(s, " ...");
	str_printf(s, "; median %s\n", num_human(buf, r->facts.median[j]));
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
		    "count as %.3g more values",
		    100 * sqrt(f->prior.var), f->prior.df);
	if (f->serial > 0)
		str_printf(s, "; autocorrelated runs (lag-1 %.2f)", f->serial);
	str_addc(s, '\n');
}

/* What all cases have in common has no runs of its own. */
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
		if (f->se > 0)
			explain_noise(s, f);
	}
	if (f->se > 0)
		str_printf(s,
		    "  change     standard error %.3f%%, %.3g degrees of "
		    "freedom\n",
		    100 * f->se, f->df);
}

static void
explain_sessions(struct str *s, const struct comparison *c, const struct row *r)
{
	const size_t *n = r->common ? c->sessions : r->sessions;

	if (!n[0] || strcmp(r->facts.method, "t-sessions") != 0)
		return;
	str_printf(s, "  sessions   %zu and %zu, none shared, ", n[0], n[1]);
	if (r->facts.assumed_se)
		report_sessions(s, sqrt(r->session.var), r->session_from);
	else
		str_add(s, "whose differences are measured");
	str_add(s, "; part of the interval\n");
	if (!r->has_rest)
		return;
	str_add(s, "  rest       the change beside all cases: ");
	explain_change(s, &r->rest);
	str_add(s, "\n");
}

/* The CPU time of other programs, where it is known and notable. */
static void
explain_others(struct str *s, const struct row *r)
{
	const double *busy = r->pair->busy;

	if (!(busy[0] >= NOTABLE || busy[1] >= NOTABLE) || r->exact)
		return;
	str_add(s, "  others     other programs used ");
	for (size_t j = 0; j < 2; j++) {
		str_add(s, j ? " and " : "");
		if (isnan(busy[j]))
			str_add(s, "an unknown share");
		else
			str_printf(s, "%.0f%%", busy[j]);
		str_printf(s, "%s beside the %s", j ? "" : " of the CPUs",
		    j ? "contender" : "baseline");
	}
	if (busy_noise(r).var > 0)
		str_add(s, "; part of the interval");
	str_addc(s, '\n');
}

static void
explain_p(struct str *s, const struct comparison *c, const struct row *r)
{
	static const char *const names[FAMILIES] = {
	    "primary", "other judged", "common", "shown"};
	enum test_family k = judge_family(r);

	if (k == FAMILIES)
		return;
	str_printf(s,
	    "  p          %.3g%s by %s; corrected for the %zu test%s of %s "
	    "results at level %g: %.3g, compared with %g\n",
	    r->facts.p, r->has_rest ? " of the rest" : "", r->facts.method,
	    c->tests[k], num_plural(c->tests[k]), names[k], c->alpha[k], r->p,
	    JUDGE_ALPHA);
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
	str_add(s, "  change     ");
	explain_change(s, &r->facts);
	str_add(s, "\n");
	explain_p(s, c, r);
	str_printf(s, "  margin     %.3g%% (%s)\n  verdict    ",
	    100 * r->margin, r->margin_from);
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
