#include "report.h"
#include "changetext.h"
#include "functions.h"
#include "infer.h"
#include "judge.h"
#include "markup.h"
#include "mem.h"
#include "metric.h"
#include "num.h"
#include "stats.h"
#include "str.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTHING_VISIBLE 1000 /* times: a change that cannot be expected */

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

/* How a verdict looks in text and in Markdown. */
static const struct {
	const char *sign, *colour, *mark;
} verdict_looks[VERDICTS + 1] = {
    [VERDICT_REGRESSION] = {"-", "31", "\xf0\x9f\x94\xb4"},  /* red circle */
    [VERDICT_IMPROVEMENT] = {"+", "32", "\xf0\x9f\x9f\xa2"}, /* green circle */
    [VERDICT_DIFFERENT] = {"~", NULL, "\xf0\x9f\x94\xb5"},   /* blue circle */
    [VERDICT_LIKELY_REGRESSION] = {"?", "31",
	"\xf0\x9f\x9f\xa0"}, /* orange circle */
    [VERDICT_LIKELY_IMPROVEMENT] = {"?", "32",
	"\xe2\x9d\x94"}, /* question mark */
    [VERDICT_LIKELY_DIFFERENT] = {"?", NULL, "\xe2\x9d\x94"},
    [VERDICT_EQUIVALENT] = {"=", NULL, "\xe2\x9e\x96"}, /* minus */
    [VERDICT_INCONCLUSIVE] = {"?", "33", "\xe2\x9d\x94"},
    [VERDICT_INSUFFICIENT] = {"?", "33", "\xe2\x8f\xb3"}, /* hourglass */
    [VERDICTS] = {" ", NULL, " "},
};

const char *
report_sign(enum verdict v)
{
	return verdict_looks[v].sign;
}

const char *
report_colour(enum verdict v)
{
	return verdict_looks[v].colour;
}

const char *
report_mark(enum verdict v)
{
	return verdict_looks[v].mark;
}

const char *
report_row_colour(const struct row *r)
{
	return report_is_judged(r) ? report_colour(r->verdict) : NULL;
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

	struct rare rare = r->rare ? *r->rare : (struct rare){0};

	return (struct changetext){r->name, {f->median[0], f->median[1]},
	    f->ratio, report_is_exact(r), f->lo95, f->hi95, rare.above_ms,
	    {rare.share[0], rare.share[1]}};
}

struct changetext
report_rest(const struct row *r)
{
	struct changetext t = report_changetext(r);
	struct verdict_facts rest = infer_rest(r, false);

	t.ratio = rest.ratio;
	t.lo = rest.lo95;
	t.hi = rest.hi95;
	if (r->rare)
		t.slow[1] = rare_change(r, t.ratio);
	return t;
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
	    num_human(b, v[1]), *r->metric->unit ? " " : "", r->metric->unit);
	report_verdict(s, r);
	report_notes(&notes, r);
	if (notes.len)
		str_printf(s, "; %s", notes.s);
	if (report_has_together(r))
		str_printf(s, "; %s", r->pair->together);
	str_free(&notes);
}

bool
report_is_exact(const struct row *r)
{
	return r->metric->exact && r->facts.sd == 0;
}

/* What a reader takes for a change, also without an interval. */
#define LARGE .1

static bool
is_beyond(double ratio, double margin)
{
	return ratio < 1 - margin || ratio > 1 / (1 - margin);
}

/* Does the interval show a change, with an estimate beyond the margin? */
static bool
is_clear(struct changetext t, double margin)
{
	return (t.hi < 1 || t.lo > 1) && is_beyond(t.ratio, margin);
}

bool
report_is_by_rest(const struct row *r)
{
	return r->has_rest && !is_clear(report_changetext(r), r->margin) &&
	    (!verdict_is_beyond(&r->facts, r->facts.change, r->margin) ||
		is_clear(report_rest(r), r->margin));
}

struct changetext
report_shown(const struct row *r)
{
	return report_is_by_rest(r) ? report_rest(r) : report_changetext(r);
}

bool
report_seems_worse(const struct row *r)
{
	double margin = fmax(r->margin, LARGE);
	struct changetext t;

	if (!report_is_judged(r) || r->verdict <= VERDICT_EQUIVALENT)
		return false;
	t = report_shown(r);
	return (is_beyond(t.ratio, margin) || is_clear(t, r->margin)) &&
	    verdict_direction(r->metric->better, t.ratio > 1) ==
	    VERDICT_REGRESSION;
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
		const struct sample *of = r->used[side];
		double v[REPORT_SPREAD], least = INFINITY, largest = 0;

		report_get_spread(r, side, v);
		for (size_t i = 0; i < of->n; i++) {
			least = fmin(least, of->v[i]);
			largest = fmax(largest, of->v[i]);
		}
		most = fmax(most,
		    r->exact      ? (largest - least) / largest
			: r->rare ? rare_variation(r, side)
				  : v[2]);
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
	return 2 * r->model->step > r->facts.wide;
}

/* Adds how much the runs vary. Of a larger change a reader asks why it is not
 * decided. */
static void
add_variation(struct str *s, const struct row *r)
{
	const struct verdict_facts *f = &r->facts;
	double v = measure_variation(r);
	bool hopeless = report_is_hopeless(r), larger;
	char by[32];

	if (isnan(v)) {
		str_add(s, "runs vary");
		return;
	}
	larger = !hopeless && 100 * fabs(f->ratio - 1) > v;
	snprintf(
	    by, sizeof by, v < 10 ? "vary by %.1f%%" : "vary by %.0f%%", v);
	if (larger)
		str_printf(s, "%zu runs that %s can differ as much by chance",
		    f->m < f->n ? f->m : f->n, by);
	else
		str_printf(s, "%sruns %s", hopeless ? "too noisy: " : "", by);
}

void
report_reason(struct str *s, const struct row *r)
{
	if (r->reason) {
		str_add(s, r->reason);
		return;
	}
	if (r->model->sessions_of[0] || r->common)
		str_add(s,
		    r->of && r->of->one_by_one ? "not interleaved"
					       : "sessions differ");
	else if (r->busy)
		str_add(s, "other processes ran");
	else if (is_coarse(r))
		str_printf(s, "values come in steps of %.2g%%",
		    100 * expm1(r->model->step));
	else if (!r->exact && is_on_margin(&r->facts, r->margin))
		str_printf(s,
		    r->rare ? "lies on the margin of %.3gx"
			    : "lies on the margin of %.3g%%",
		    r->rare ? 1 / (1 - r->margin) : 100 * r->margin);
	else if (r->rare && r->model->own.var <= r->rare->least_var)
		str_add(s, "too few requests");
	else
		add_variation(s, r);
}

void
report_get_spread(const struct row *r, size_t side, double v[REPORT_SPREAD])
{
	const struct sample *of = r->used[side];

	v[0] = stats_mean(of->v, of->n);
	v[1] = stats_sd(of->v, of->n);
	v[2] = v[0] > 0 ? v[1] / v[0] : NAN;
}

/* Writes "100K, sd 1.20K, CV 1.2%". */
static void
write_spread(struct str *s, const struct row *r, size_t side)
{
	double v[REPORT_SPREAD];
	char buf[NUM_BUF];

	report_get_spread(r, side, v);
	str_add(s, isnan(v[0]) ? "-" : num_human(buf, v[0]));
	if (!isnan(v[1]))
		str_printf(s, ", sd %s", num_human(buf, v[1]));
	if (!isnan(v[2]))
		str_printf(s, ", CV %.1f%%", 100 * v[2]);
}

void
report_visible(struct str *s, const struct row *r, double v, const char *of)
{
	double by = 1 / (1 - v);

	if (!(by < NOTHING_VISIBLE)) {
		str_printf(s, "no change%s could be seen", of);
		return;
	}
	str_printf(s, "only changes%s above ", of);
	if (r->rare || v >= .99)
		str_printf(s, by < 10 ? "%.1fx" : "%.0fx", by);
	else
		str_printf(s, v < .1 ? "%.2g%%" : "%.0f%%", 100 * v);
	str_add(s, " could be seen");
}

void
report_verdict(struct str *s, const struct row *r)
{
	double visible = report_find_visible(r);
	char buf[NUM_BUF];

	if (r->waived) {
		str_printf(s, "%s, waived until %s: ", verdict_name(r->verdict),
		    r->waiver.expires);
		str_visible(s, r->waiver.reason);
		return;
	}
	str_add(s, verdict_name(r->verdict));
	if (!isnan(visible) && !r->noise) {
		str_add(s, ", ");
		report_visible(s, r, visible, "");
	} else if (report_is_hopeless(r))
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
	bool any = changetext_counts(s, c->count);

	for (size_t v = 0; v < VERDICTS; v++)
		rows += c->count[v];
	rows += c->waived;
	if (c->waived)
		str_printf(s, "%s%zu waived", any ? ", " : "", c->waived);
	else if (!any)
		str_add(s, "nothing was judged");
	str_printf(s, " (%zu result%s of %zu case%s)", rows, num_plural(rows),
	    c->matched, num_plural(c->matched));
}

void
report_label(struct str *s, const char *metric)
{
	struct str label = {0};

	metric_write_label(&label, metric);
	str_visible(s, label.s);
	str_free(&label);
}

void
report_judged(struct str *s, const struct comparison *c)
{
	for (size_t i = 0; i < c->noverall; i++) {
		str_add(s, i ? ", " : "Judged: ");
		report_label(s, c->overall[i].name);
	}
	if (c->noverall)
		str_addc(s, '.');
}

bool
report_overall(struct str *s, const struct overall *o, const char *first)
{
	if (o->cases < 2)
		return false;
	str_printf(s, "%s ", first);
	report_label(s, o->name);
	str_printf(s, ": %.3fx", o->ratio);
	if (!isnan(o->lo))
		str_printf(s, " [%.3f, %.3f]", o->lo, o->hi);
	str_printf(s, ", geometric mean of %zu cases", o->cases);
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
	    {r->lacks_slow, "one side has no counts of slow requests"},
	    {r->builds_differ, "the builds were made in different ways"},
	    {isnan(f->ratio) && !report_is_exact(r),
		"values of 0 or below: no ratio"},
	    {strcmp(f->method, "identical") == 0, "identical values"},
	    {r->exact && !r->metric->exact,
		isnan(f->sd) ? "assumed exact, but judged by the spread of the "
			       "runs"
			     : "assumed exact"},
	    {r->metric->exact,
		isnan(f->sd) ? "not exact: judged by the spread of the runs"
			     : "exact"},
	    {r->outweighed, verdict_name_outweighed(r->name, f)}};
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
	if (report_functions(r))
		str_printf(s, ": %s", report_functions(r));
	if (r->rare) {
		struct changetext t = report_changetext(r);

		str_add(s, sep);
		changetext_percent(s, &t);
		sep = ", ";
	}
	if (is_coarse(r)) {
		str_printf(s, "%svalues come in steps of %.2g%%", sep,
		    100 * expm1(r->model->step));
		sep = ", ";
	}
	if (r->has_rest) {
		struct changetext rest = report_rest(r);

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

/* --- the tables of all metrics, and of a shift */

static void
add_number_cell(struct table *t, double v)
{
	char buf[NUM_BUF];

	table_cell(t, num_human(buf, v));
}

static void
add_verdict_cell(
    struct table *t, const struct row *r, enum report_narrow narrow)
{
	struct str s = {0};

	if (narrow < REPORT_NO_REASON)
		report_verdict(&s, r);
	else
		str_printf(&s, "%s%s", verdict_name(r->verdict),
		    r->waived ? ", waived" : "");
	if (!r->gate)
		str_add(&s, " (info)");
	table_take(t, str_take(&s));
	table_style(t, report_row_colour(r));
}

static void
add_row(struct table *t, const struct row *r, bool spread,
    enum report_narrow narrow, bool marks)
{
	struct str s = {0};
	double v[2];

	report_values(r, v);
	table_cell(
	    t, marks ? report_mark(r->verdict) : report_sign(r->verdict));
	table_style(t, report_row_colour(r));
	table_cell(t, r->pair->name[0]);
	table_cell(t, r->name);
	if (narrow < REPORT_NO_RUNS)
		table_take(t, mem_printf("%zu+%zu", r->facts.m, r->facts.n));
	for (size_t side = 0; narrow < REPORT_NO_MEDIANS && side < 2; side++)
		add_number_cell(t, v[side]);
	for (size_t side = 0; spread && side < 2; side++) {
		write_spread(&s, r, side);
		table_take(t, str_take(&s));
	}
	report_change(&s, r);
	if (narrow >= REPORT_NO_INTERVAL && strchr(s.s, '['))
		strchr(s.s, '[')[-1] = '\0';
	table_take(t, str_take(&s));
	table_style(t, report_row_colour(r));
	add_verdict_cell(t, r, narrow);
	if (narrow < REPORT_NO_NOTES) {
		report_notes(&s, r);
		table_take(t, str_take(&s));
	}
}

struct table *
report_make_table(const struct comparison *c, bool spread,
    enum report_narrow narrow, bool marks)
{
	const struct row **order = report_order(c);
	struct table *t = table_new();

	table_titles(t, "|case|metric");
	if (narrow < REPORT_NO_RUNS)
		table_titles(t, ">runs");
	if (narrow < REPORT_NO_MEDIANS)
		table_titles(t, ">baseline|>contender");
	if (spread)
		table_titles(t, "baseline mean|contender mean");
	table_titles(t,
	    narrow < REPORT_NO_INTERVAL ? "change [95%]|verdict"
					: "change|verdict");
	if (narrow < REPORT_NO_NOTES)
		table_titles(t, "");
	for (size_t i = 0; i < c->nrows; i++)
		add_row(t, order[i], spread, narrow, marks);
	free(order);
	return t;
}

void
report_shift_title(struct str *s, const struct shift *p)
{
	double by;
	const char *unit = shift_unit(p, &by);

	str_printf(s, "%s, %s%s%s", p->pair->name[0], p->hist,
	    *unit ? " in " : "", unit);
}

/* Writes "1.07x [1.06, 1.08]". */
static void
write_ratio(struct str *s, const struct shift_line *l)
{
	if (isnan(l->ratio)) {
		str_add(s, "no ratio");
		return;
	}
	str_printf(s, "%.2fx", l->ratio);
	if (!isnan(l->lo))
		str_printf(s, " [%.2f, %.2f]", l->lo, l->hi);
}

struct table *
report_make_shift_table(const struct shift *p)
{
	struct table *t = table_new();
	struct str cell = {0};
	double by;

	shift_unit(p, &by);
	table_titles(t, ">percentile|>baseline|>contender|change [95%]");
	for (size_t i = 0; i < p->n; i++) {
		const struct shift_line *l = &p->v[i];

		table_take(t, mem_printf("%g", l->percentile));
		add_number_cell(t, l->value[0] / by);
		add_number_cell(t, l->value[1] / by);
		write_ratio(&cell, l);
		table_take(t, str_take(&cell));
	}
	return t;
}

/* --- what the count and the time of a case say together */

enum { LONGEST = 100 }; /* bytes of a name */

/* How a metric changed. */
enum direction { WORSE, BETTER, SAME, UNCLEAR, TOO_FEW };

bool
report_is_work(const struct row *r)
{
	return strcmp(r->name, "instructions_per_req") == 0 &&
	    report_is_exact(r) && !r->builds_differ;
}

const char *
report_functions(const struct row *r)
{
	if (strcmp(r->name, "syscalls_per_req") == 0 && !r->builds_differ)
		return r->facts.ratio == 1 ||
			(!report_is_exact(r) &&
			    r->verdict >= VERDICT_EQUIVALENT)
		    ? NULL
		    : r->pair->syscalls;
	return report_is_work(r) ? r->pair->functions : NULL;
}

static bool
is_cpu(const struct row *r)
{
	return !r->common &&
	    strcmp(metric_base(r->name), "server_cpu_us_per_req") == 0;
}

bool
report_has_together(const struct row *r)
{
	return r->pair->together &&
	    (report_is_work(r) || judge_is_time(r) || is_cpu(r));
}

/* Is the value larger, also where it was 0 and there is no ratio? */
static bool
has_risen(const struct row *r)
{
	struct changetext t = report_shown(r);

	return isnan(t.ratio) ? t.median[1] > t.median[0] : t.ratio > 1;
}

/* Goes by the values: a policy may say that neither direction is better. */
static enum direction
find_direction(const struct row *r)
{
	bool rose = has_risen(r);

	switch (r->verdict) {
	case VERDICT_EQUIVALENT:
		/* A count has changed even within the margin of a policy. */
		if (!report_is_work(r) ||
		    !(fabs(r->facts.ratio - 1) > r->metric->margin))
			return SAME;
		return rose ? WORSE : BETTER;
	case VERDICT_INCONCLUSIVE:
		return UNCLEAR;
	case VERDICT_INSUFFICIENT:
		return TOO_FEW;
	default:
		return rose == str_ends(metric_base(r->name), "rps") ? BETTER
								     : WORSE;
	}
}

/* "executes 3.3% more instructions per request (+155 in setCommand)", "takes
 * 12.5% more bytes per key (+8)" */
static void
add_work(struct str *s, const struct row *r)
{
	struct changetext t = report_changetext(r);
	double by = t.median[1] - t.median[0];
	bool work = report_is_work(r);

	str_add(s,
	    work || str_ends(r->name, "instructions") ? "executes " : "takes ");
	changetext_exact(s, &t);
	str_add(s, str_ends(r->name, "_req") ? " per request (" : " (");
	if (isnan(r->facts.ratio)) {
		str_add(s, "from 0 to ");
		num_write_count(s, r->facts.median[1]);
	} else if (work && r->pair->functions) {
		str_add(s, r->pair->functions);
	} else {
		str_addc(s, by > 0 ? '+' : '-');
		num_write_count(s, fabs(by));
	}
	str_addc(s, ')');
}

/* "is 2.9% slower [2.1, 3.6]", "has a p99 12.1% higher [8.1, 15.2]", "takes
 * 13.9% more CPU per request [12.1, 15.8]" */
static void
add_time(struct str *s, const struct row *r)
{
	struct changetext t = report_shown(r);
	bool rps = strcmp(metric_base(r->name), "rps") == 0, rose = t.ratio > 1;
	double lo = 100 * (rose ? t.lo - 1 : 1 - t.hi);
	double hi = 100 * (rose ? t.hi - 1 : 1 - t.lo);

	if (rps) {
		str_add(s, "is ");
	} else if (is_cpu(r)) {
		str_add(s, "takes ");
	} else {
		str_add(s, "has a ");
		metric_write_label(s, r->name);
		str_addc(s, ' ');
	}
	if (verdict_is_likely(r->verdict))
		str_add(s, "likely ");
	changetext_size(s, t.ratio);
	if (is_cpu(r))
		str_printf(s, " %s CPU per request", rose ? "more" : "less");
	else
		str_printf(s, " %s", changetext_direction(r->name, t.ratio));
	if (!isnan(t.lo))
		str_printf(s, " [%.1f, %.1f]", lo, hi);
	if (report_is_by_rest(r))
		str_add(s, " relative to the other cases");
}

/* The time of a case whose work changed. */
static void
add_time_of_change(struct str *s, const struct row *time, enum direction work)
{
	enum direction c = find_direction(time);

	switch (c) {
	case SAME:
		if (time->noise) {
			str_add(s, "; what differs in time is noise");
			return;
		}
		str_printf(s,
		    ", but is not %s: ", work == WORSE ? "slower" : "faster");
		metric_write_label(s, time->name);
		str_printf(s, " is within %.3g%%", 100 * time->margin);
		return;
	case UNCLEAR:
		str_add(s, "; its time is undecided (");
		report_reason(s, time);
		str_addc(s, ')');
		return;
	case TOO_FEW:
		str_add(s, "; too few runs to compare times");
		return;
	default:
		str_add(s, c == work ? " and " : ", but ");
		add_time(s, time);
	}
}

/* The time of a case that executes as much as before. Returns whether it
 * changed. */
static bool
add_time_of_same(struct str *s, const struct row *time)
{
	switch (find_direction(time)) {
	case SAME:
	case UNCLEAR:
	case TOO_FEW:
		return false;
	default:
		add_time(s, time);
		str_add(s,
		    " with the same instructions per request, so the cause is "
		    "memory, the kernel, waiting, or the machine");
		return true;
	}
}

/* What a busy machine leaves of the time: where the throughput is undecided,
 * the CPU time that a request takes may be known. */
static const struct row *
choose_time(const struct row *time, const struct row *cpu)
{
	enum direction c;

	if (!cpu || !cpu->gate)
		return time;
	c = find_direction(cpu);
	if (c == UNCLEAR || c == TOO_FEW ||
	    (time && find_direction(time) != UNCLEAR &&
		find_direction(time) != TOO_FEW))
		return time;
	return cpu;
}

/* Did the calls of the allocator change? What calls it is then told by the
 * functions, however few instructions they take. */
static bool
is_call(const struct row *r)
{
	return strstr(r->name, "allocations_per_req") && report_is_exact(r) &&
	    !r->builds_differ && r->verdict < VERDICT_EQUIVALENT;
}

/* 'calls': keep the functions in any case. */
static void
describe_pair(struct pairing *p, const struct row *work, const struct row *time,
    bool calls)
{
	enum direction c = find_direction(work);
	bool changed = c != SAME && c != UNCLEAR;
	struct str s = {0};

	markup_cut(&s, p->name[0], LONGEST);
	str_addc(&s, ' ');
	if (changed) {
		add_work(&s, work);
		if (time)
			add_time_of_change(&s, time, c);
	} else {
		if (!calls) {
			free(p->functions); /* what they differ by is noise */
			p->functions = NULL;
		}
		changed = time && c == SAME && add_time_of_same(&s, time);
	}
	p->together = changed ? mem_str(s.s) : NULL;
	str_free(&s);
}

void
report_describe_together(struct comparison *c)
{
	const struct row *r = c->rows, *end = r + c->nrows;

	/* Both are in the order of cases; common rows come last. */
	for (size_t i = 0; i < c->npairs; i++) {
		struct pairing *p = &c->pairs[i];
		const struct row *work = NULL, *time = NULL, *cpu = NULL;
		const struct row *of = r;
		bool calls = false;

		for (; r < end && r->pair == p; r++) {
			calls = calls || is_call(r);
			if (report_is_work(r))
				work = r;
		}
		for (; work && of < r; of++)
			if (judge_is_time(of))
				time = of;
			else if (is_cpu(of))
				cpu = of;
		if (work)
			describe_pair(p, work, choose_time(time, cpu), calls);
	}
}
