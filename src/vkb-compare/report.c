#include "report.h"
#include "mem.h"
#include "num.h"
#include "stats.h"
#include "str.h"
#include "together.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t
report_rank(const struct row *r)
{
	enum verdict v = r->waived ? VERDICT_DIFFERENT : r->verdict;
	size_t rank = verdict_rank(v);

	if (v == VERDICT_EQUIVALENT && !r->noise)
		rank++;
	return rank + (r->gate ? 0 : VERDICTS + 1);
}

/* Returns |ln ratio| of a row that changed; 0 without a ratio or change. */
static double
measure_change(const struct row *r)
{
	double d = fabs(log(r->facts.ratio));

	return r->verdict > VERDICT_DIFFERENT || isnan(d) ? 0 : d;
}

int
report_compare(const struct row *x, const struct row *y)
{
	size_t a = report_rank(x), b = report_rank(y);
	double d = measure_change(y) - measure_change(x);

	if (a != b)
		return a < b ? -1 : 1;
	/* What all cases have in common comes first. */
	if (x->common != y->common && measure_change(x) > 0)
		return x->common ? -1 : 1;
	if (d != 0)
		return d < 0 ? -1 : 1;
	return (x > y) - (x < y);
}

static int
compare_pointers(const void *a, const void *b)
{
	return report_compare(
	    *(const struct row *const *)a, *(const struct row *const *)b);
}

const struct row **
report_order(const struct comparison *c)
{
	const struct row **at = mem_array(c->nrows + 1, sizeof *at);

	for (size_t i = 0; i < c->nrows; i++)
		at[i] = &c->rows[i];
	if (c->nrows)
		qsort(at, c->nrows, sizeof *at, compare_pointers);
	return at;
}

bool
report_is_judged(const struct row *r)
{
	return r->gate && !r->waived;
}

bool
report_row_fails(const struct report *report, const struct row *r)
{
	return report_is_judged(r) && report->fails[r->verdict];
}

void
report_number(struct str *s, double v)
{
	if (!isnan(v))
		str_printf(s, "%.12g", v);
}

struct changetext
report_changetext(const struct row *r)
{
	const struct verdict_facts *f = &r->facts;

	return (struct changetext){r->name, {f->median[0], f->median[1]},
	    f->ratio, report_is_exact(r), f->lo95, f->hi95};
}

void
report_values(const struct row *r, double v[2])
{
	struct changetext t = report_changetext(r);

	changetext_values(&t, v);
}

void
report_change(struct str *s, const struct row *r)
{
	struct changetext t = report_changetext(r);

	changetext_interval(s, &t);
}

void
report_sentence(struct str *s, const struct row *r)
{
	char a[NUM_BUF], b[NUM_BUF];
	struct str notes = {0};
	double v[2];

	report_values(r, v);
	report_change(s, r);
	str_printf(s, ", %s -> %s%s%s: ", num_human(a, v[0]),
	    num_human(b, v[1]), *r->metric.unit ? " " : "", r->metric.unit);
	report_verdict(s, r);
	report_notes(&notes, r);
	if (notes.len)
		str_printf(s, "; %s", notes.s);
	if (together_has(r))
		str_printf(s, "; %s", r->pair->together);
	str_free(&notes);
}

bool
report_is_exact(const struct row *r)
{
	return r->metric.exact && r->facts.sd == 0;
}

bool
report_is_hopeless(const struct row *r)
{
	size_t have = r->facts.m < r->facts.n ? r->facts.m : r->facts.n;

	return verdict_is_hopeless((double)r->needed, (double)have, r->minutes);
}

/* Returns the largest coefficient of variation of both sides, or of a count how
 * far its values are apart, in percent; NAN: not known. */
static double
measure_variation(const struct row *r)
{
	double most = NAN;

	for (size_t side = 0; side < 2; side++) {
		const struct sample *of = &r->used[side];
		double v[REPORT_SPREAD], least = INFINITY, largest = 0;

		report_get_spread(r, side, v);
		for (size_t i = 0; i < of->n; i++) {
			least = fmin(least, of->v[i]);
			largest = fmax(largest, of->v[i]);
		}
		most =
		    fmax(most, r->exact ? (largest - least) / largest : v[2]);
	}
	return 100 * most;
}

/* Does the 90 % interval hold the margin, and is it so narrow, or so far from
 * 0, that more runs of these values stay undecided? */
static bool
is_on_margin(const struct verdict_facts *f, double margin)
{
	double lo = log(f->lo90), hi = log(f->hi90), most = -log1p(-margin);
	bool holds = (lo < most && most < hi) || (lo < -most && -most < hi);

	return holds && (f->lo95 > 1 || f->hi95 < 1 || hi - lo < most);
}

/* Is a step of its values more than half of the width of its interval? */
static bool
is_coarse(const struct row *r)
{
	return 2 * r->model.step > r->facts.wide;
}

void
report_reason(struct str *s, const struct row *r)
{
	double v;

	if (r->reason) {
		str_add(s, r->reason);
		return;
	}
	if (r->model.sessions_of[0] || r->common)
		str_add(
		    s, r->one_by_one ? "not interleaved" : "sessions differ");
	else if (r->busy)
		str_add(s, "other processes ran");
	else if (is_coarse(r))
		str_printf(s, "values come in steps of %.2g%%",
		    100 * expm1(r->model.step));
	else if (!r->exact && is_on_margin(&r->facts, r->margin))
		str_printf(s, "lies on the margin of %.3g%%", 100 * r->margin);
	else {
		v = measure_variation(r);
		if (isnan(v))
			str_add(s, "runs vary");
		else
			str_printf(s,
			    v < 10 ? "%s vary by %.1f%%" : "%s vary by %.0f%%",
			    report_is_hopeless(r) ? "too noisy: runs" : "runs",
			    v);
	}
}

void
report_get_spread(const struct row *r, size_t side, double v[REPORT_SPREAD])
{
	const struct sample *of = &r->used[side];

	v[0] = stats_mean(of->v, of->n);
	v[1] = stats_sd(of->v, of->n);
	v[2] = v[0] > 0 ? v[1] / v[0] : NAN;
}

void
report_spread(struct str *s, const struct row *r, size_t side)
{
	double v[REPORT_SPREAD];
	char buf[NUM_BUF];

	report_get_spread(r, side, v);
	str_add(s, num_human(buf, v[0]));
	if (!isnan(v[1]))
		str_printf(s, ", sd %s", num_human(buf, v[1]));
	if (!isnan(v[2]))
		str_printf(s, ", CV %.1f%%", 100 * v[2]);
}

void
report_verdict(struct str *s, const struct row *r)
{
	char buf[NUM_BUF];

	if (r->waived) {
		str_printf(s, "%s, waived until %s: ", verdict_name(r->verdict),
		    r->waiver.expires);
		str_visible(s, r->waiver.reason);
		return;
	}
	str_add(s, verdict_name(r->verdict));
	if (!isnan(r->visible) && !r->noise)
		str_printf(s,
		    r->visible < .1
			? ", only changes above %.2g%% could be seen"
			: ", only changes above %.0f%% could be seen",
		    100 * r->visible);
	else if (report_is_hopeless(r))
		str_add(s, ", more runs would not decide it");
	if (report_is_hopeless(r))
		return;
	if (!r->needed)
		return;
	str_printf(s, ", needs %zu %sruns", r->needed,
	    r->facts.paired || r->verdict == VERDICT_INSUFFICIENT
		? ""
		: "interleaved ");
	if (!isnan(r->minutes))
		str_printf(s, " (%s more)", num_seconds(buf, 60 * r->minutes));
}

void
report_counts(struct str *s, const struct comparison *c)
{
	size_t rows = 0;
	bool any = false;

	for (size_t i = 0; i < VERDICTS; i++) {
		enum verdict v = verdict_order[i];
		bool plural = v < VERDICT_EQUIVALENT && c->count[v] != 1 &&
		    !str_ends(verdict_name(v), "different");

		rows += c->count[v];
		if (!c->count[v])
			continue;
		str_printf(s, "%s%zu %s%s", any ? ", " : "", c->count[v],
		    verdict_name(v), plural ? "s" : "");
		any = true;
	}
	rows += c->waived;
	if (c->waived)
		str_printf(s, "%s%zu waived", any ? ", " : "", c->waived);
	else if (!any)
		str_add(s, "nothing was judged");
	str_printf(s, " (%zu result%s of %zu case%s)", rows, num_plural(rows),
	    c->matched, num_plural(c->matched));
}

void
report_judged(struct str *s, const struct comparison *c)
{
	for (size_t i = 0; i < c->noverall; i++) {
		str_add(s, i ? ", " : "Judged: ");
		str_visible(s, c->overall[i].name);
	}
	if (c->noverall)
		str_addc(s, '.');
}

bool
report_overall(struct str *s, const struct overall *o, const char *first,
    const char *second)
{
	if (o->cases < 2)
		return false;
	str_printf(s, "%s ", first);
	str_visible(s, o->name);
	str_printf(s, ": %.3fx", o->ratio);
	/* The interval of two cases is too wide to help. */
	if (o->cases >= 3 && !isnan(o->lo))
		str_printf(s, " [%.3f, %.3f]", o->lo, o->hi);
	str_printf(s, ", geometric mean of %zu cases", o->cases);
	if (!isnan(o->lo_runs))
		str_printf(
		    s, "%s [%.3f, %.3f]", second, o->lo_runs, o->hi_runs);
	return true;
}

void
report_notes(struct str *s, const struct row *r)
{
	const struct verdict_facts *f = &r->facts;
	const struct {
		bool holds;
		const char *text;
	} notes[] = {{r->noise, "noise: both sides are the same server"},
	    {r->client_bound, "client-bound"},
	    {r->keys_differ, "the faster side may have more keys"},
	    {r->loads_differ, "one side alone was counted"},
	    {r->unreached, "the rate was not reached"},
	    {r->builds_differ, "the builds were made in different ways"},
	    {isnan(f->ratio) && !report_is_exact(r),
		"values of 0 or below: no ratio"},
	    {strcmp(f->method, "identical") == 0, "identical values"},
	    {r->exact && !r->metric.exact,
		isnan(f->sd) ? "assumed exact, but judged by the spread of the "
			       "runs"
			     : "assumed exact"},
	    {r->metric.exact,
		isnan(f->sd) ? "not exact: judged by the spread of the runs"
			     : "exact"},
	    {r->outweighed,
		together_is_work(r) ? "not slower"
				    : "outweighed by less work or time"}};
	const char *sep = "";

	if (r->notes) {
		str_add(s, r->notes);
		return;
	}
	for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
		if (notes[i].holds) {
			str_printf(s, "%s%s", sep, notes[i].text);
			sep = ", ";
		}
	if (together_explain(r))
		str_printf(s, ": %s", together_explain(r));
	if (is_coarse(r)) {
		str_printf(s, "%svalues come in steps of %.2g%%", sep,
		    100 * expm1(r->model.step));
		sep = ", ";
	}
	if (r->has_rest) {
		struct changetext rest = {.metric = r->name,
		    .ratio = r->rest.ratio,
		    .lo = r->rest.lo95,
		    .hi = r->rest.hi95};

		str_add(s, sep);
		changetext_interval(s, &rest);
		str_add(s, " relative to the other cases");
		sep = ", ";
	}
	if (r->common) {
		str_printf(s, "%swhat the %zu cases have in common%s", sep,
		    f->n,
		    r->verdict == VERDICT_REGRESSION ||
			    r->verdict == VERDICT_IMPROVEMENT
			? ""
			: "; may be the machine");
		sep = ", ";
	}
	if (r->dropped)
		str_printf(s, "%s%zu run%s without a partner left out", sep,
		    r->dropped, num_plural(r->dropped));
}

void
report_ratio(struct str *s, const struct shift_line *l)
{
	if (isnan(l->ratio)) {
		str_add(s, "no ratio");
		return;
	}
	str_printf(s, "%.2fx", l->ratio);
	if (!isnan(l->lo))
		str_printf(s, " [%.2f, %.2f]", l->lo, l->hi);
}

void
report_distance(struct str *s, const struct shift *t)
{
	double by;
	const char *unit = shift_unit(t, &by);
	char a[NUM_BUF], b[NUM_BUF];

	str_printf(s,
	    "The shares below a latency differ by up to %.1f%%, at %s%s%s "
	    "(KS); on average they are %s%s%s apart (Wasserstein).",
	    100 * t->diff.d, num_human(a, (double)t->diff.at / by),
	    *unit ? " " : "", unit, num_human(b, t->diff.w1 / by),
	    *unit ? " " : "", unit);
}
