/* Texts that all reports of vkb-compare have in common: a row, counts, the
 * method. */
#include "rows.h"

#include "table.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static void
changes(void)
{
	static const struct {
		const char *metric;
		double ratio;
		const char *want;
	} cases[] = {{"rps", .93, "-7.0%"}, {"rps", 1.25, "+25.0%"},
	    {"ops_per_s", .5, "-50.0%"}, {"p50_latency_ms", 1.25, "+25.0%"},
	    {"p50_latency_ms", .8, "-20.0%"}, {"rps", 1.004, "+0.4%"},
	    {"rps", 1.0051, "+0.5%"}, {"rps", .9951, "-0.5%"},
	    {"rps", .99959, "+0.0%"}, {"rps", .99949, "-0.1%"},
	    {"rps", 1, "+0.0%"}, {"rps", 99.5, "+9850.0%"},
	    {"rps", 100, "+9900.0%"}, {"rps", 0, "down to 0"},
	    {"rps", NAN, "no ratio"}};
	struct str s = {0};
	struct row r;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		r = row(cases[i].metric, cases[i].ratio);
		report_change(&s, &r);
		check(&s, cases[i].want, cases[i].want);
	}
	r = row("rps", .93);
	r.facts.lo95 = .92;
	r.facts.hi95 = .945;
	report_change(&s, &r);
	check(&s, "-7.0% [-8.0, -5.5]",
	    "the change is followed by its interval, the lower end first");
	r.facts.median[0] = 100000;
	r.facts.median[1] = 93000;
	r.verdict = VERDICT_REGRESSION;
	report_sentence(&s, &r);
	check(&s, "-7.0% [-8.0, -5.5], 100K -> 93.0K req/s: regression",
	    "a sentence has the values of both sides and their unit");
	r = row("max_backlog", .5);
	r.client_bound = true;
	report_sentence(&s, &r);
	check(&s, "-50.0%, 1.000 -> 0.500: inconclusive; client-bound",
	    "a sentence without a unit and with a note");
	str_free(&s);
}

static void
verdicts(void)
{
	struct str s = {0};
	struct row r = row("rps", .9);

	r.verdict = VERDICT_REGRESSION;
	report_verdict(&s, &r);
	check(&s, "regression", "a certain regression");
	r.waived = true;
	r.waiver.expires = "2026-12-31";
	r.waiver.reason = "known";
	report_verdict(&s, &r);
	check(&s, "regression, waived until 2026-12-31: known",
	    "a waived row names day and reason");
	r = row("rps", 1);
	r.visible = .025;
	r.needed = 12;
	report_verdict(&s, &r);
	check(&s,
	    "inconclusive, only changes above 2.5% could be seen, needs 12 "
	    "interleaved runs",
	    "a small visible change has two digits");
	r.visible = .876;
	r.minutes = 5;
	r.facts.paired = true;
	report_verdict(&s, &r);
	check(&s,
	    "inconclusive, only changes above 88% could be seen, needs 12 "
	    "runs (5m00s more)",
	    "a large visible change is a whole percent; the minutes are "
	    "printed");
	r = row("rps", 1);
	r.facts.m = 8;
	r.facts.n = 20;
	r.needed = 150;
	tap_ok(report_is_hopeless(&r),
	    "150 runs are too many for sides of 8 and 20 runs");
	report_verdict(&s, &r);
	check(&s, "inconclusive, more runs would not decide it",
	    "then no number of runs is printed");
	r.facts.m = 20;
	r.facts.n = 8;
	tap_ok(report_is_hopeless(&r),
	    "150 runs are too many for sides of 20 and 8 runs");
	r.facts.n = 15;
	tap_ok(!report_is_hopeless(&r),
	    "150 runs are not too many for sides of 20 and 15 runs");
	str_free(&s);
}

/* The reason of a row with these intervals of the ratio, and a margin of 2 %.
 */
static void
reason(double lo90, double hi90, double lo95, double hi95, const char *want,
    const char *what)
{
	static double v[] = {95, 100, 105};
	static const struct sample runs = {.v = v, .n = 3};
	struct row r = row("rps", sqrt(lo90 * hi90));
	struct str s = {0};

	r.facts.lo90 = lo90;
	r.facts.hi90 = hi90;
	r.facts.lo95 = lo95;
	r.facts.hi95 = hi95;
	r.used[0] = r.used[1] = &runs;
	report_reason(&s, &r);
	check(&s, want, what);
	str_free(&s);
}

static void
reasons(void)
{
	static const char margin[] = "lies on the margin of 2%";

	reason(.973, .985, .972, .986, margin,
	    "a loss whose interval holds the margin: more runs do not decide");
	reason(1.015, 1.027, 1.014, 1.028, margin,
	    "a gain whose interval holds the margin");
	reason(.95, .9985, .94, .9995, margin,
	    "a wide interval that holds the margin, but not 0");
	reason(.9795, .9985, .978, 1.0005, margin,
	    "an interval that holds the margin and 0, narrower than the "
	    "margin");
	reason(.95, 1.01, .94, 1.02, "runs vary by 5.0%",
	    "with few runs the interval holds the margin and 0, and more help");
	reason(.99, 1.01, .985, 1.015, "runs vary by 5.0%",
	    "an interval within the margin does not lie on it");
	reason(
	    .94, .97, .93, .975, "runs vary by 5.0%", "nor does one beyond it");
}

static void
counts(void)
{
	struct overall of[] = {
	    {.name = (char *)"rps"}, {.name = (char *)"p50_latency_ms"}};
	struct comparison c = {.matched = 1, .overall = of};
	struct str s = {0};

	report_counts(&s, &c);
	check(&s, "nothing was judged (0 results of 1 case)", "no counts");
	c.waived = 1;
	report_counts(&s, &c);
	check(&s, "1 waived (1 result of 1 case)", "a waived row alone");
	c.matched = 4;
	c.count[VERDICT_REGRESSION] = 2;
	c.count[VERDICT_IMPROVEMENT] = 1;
	c.count[VERDICT_EQUIVALENT] = 3;
	report_counts(&s, &c);
	check(&s,
	    "2 regressions, 1 improvement, 3 equivalent, 1 waived (7 results "
	    "of 4 cases)",
	    "regressions and improvements have a plural, others do not");
	c.count[VERDICT_REGRESSION] = 0;
	c.count[VERDICT_IMPROVEMENT] = 3;
	c.waived = 0;
	report_counts(&s, &c);
	check(&s, "3 improvements, 3 equivalent (6 results of 4 cases)",
	    "several improvements");
	report_judged(&s, &c);
	check(&s, "", "nothing is printed about metrics if none is judged");
	c.noverall = 2;
	report_judged(&s, &c);
	check(&s, "Judged: throughput, p50.", "the judged metrics");
	str_free(&s);
}

static void
notes(void)
{
	struct row r = row("used_memory_bytes", NAN);
	struct str s = {0};

	report_notes(&s, &r);
	check(&s, "values of 0 or below: no ratio", "no ratio");
	r.facts.ratio = 1;
	report_notes(&s, &r);
	check(&s, "", "an ordinary row has no notes");
	r.client_bound = r.keys_differ = true;
	r.dropped = 1;
	report_notes(&s, &r);
	check(&s,
	    "client-bound, the faster side may have more keys, "
	    "1 run without a partner left out",
	    "notes are separated by commas");
	r = row("rps", 1);
	r.facts.method = "identical";
	r.exact = true;
	r.facts.sd = 0;
	report_notes(&s, &r);
	check(&s, "identical values, assumed exact",
	    "a metric that is assumed to be exact");
	r.facts.method = "assumed";
	r.facts.sd = NAN;
	report_notes(&s, &r);
	check(&s, "assumed exact, but judged by the spread of the runs",
	    "a metric that is assumed to be exact, but varies");
	str_free(&s);
}

static void
orders(void)
{
	static const size_t want[] = {4, 3, 10, 2, 5, 12, 6, 11, 8, 7, 0, 9, 1};
	static const struct {
		enum verdict v;
		double ratio;
	} of[] = {{VERDICT_EQUIVALENT, 1}, {VERDICT_REGRESSION, .5},
	    {VERDICT_IMPROVEMENT, 1.1}, {VERDICT_REGRESSION, .95},
	    {VERDICT_REGRESSION, .8}, {VERDICT_REGRESSION, .5},
	    {VERDICT_DIFFERENT, 1.2}, {VERDICT_INSUFFICIENT, 1},
	    {VERDICT_INCONCLUSIVE, 1}, {VERDICT_EQUIVALENT, .9},
	    {VERDICT_IMPROVEMENT, 1.3}, {VERDICT_DIFFERENT, NAN},
	    {VERDICT_DIFFERENT, 1.5}};
	enum { ROWS = sizeof of / sizeof *of };
	struct row rows[ROWS];
	struct comparison c = {.rows = rows, .nrows = ROWS};
	struct report report = {.fails = {[VERDICT_REGRESSION] = true}};
	const struct row **at;

	for (size_t i = 0; i < ROWS; i++) {
		rows[i] = row("rps", of[i].ratio);
		rows[i].verdict = of[i].v;
	}
	rows[1].gate = false;
	rows[5].waived = true;
	at = report_order(&c);
	for (size_t i = 0; i < ROWS; i++)
		tap_ok(at[i] == &rows[want[i]], "place %zu has row %zu", i,
		    want[i]);
	free(at);
	tap_ok(report_row_fails(&report, &rows[3]),
	    "a regression fails the comparison");
	tap_ok(!report_row_fails(&report, &rows[1]),
	    "a row of class info does not fail it");
	tap_ok(!report_row_fails(&report, &rows[5]),
	    "a waived regression does not fail it");
	tap_ok(!report_row_fails(&report, &rows[2]),
	    "an improvement does not fail it");
	tap_ok(report_is_judged(&rows[2]), "an improvement is judged");
}

static void
check_ratio(struct shift_line l, const char *want, const char *what)
{
	char name[] = "latency_ns";
	struct shift one = {.hist = name, .v = {l}, .n = 1};
	struct table *t = report_make_shift_table(&one);
	struct str s = {0};

	table_markdown(t, &s, SIZE_MAX);
	tap_ok(strstr(s.s, want) != NULL, "%s: %s", what, want);
	table_free(t);
	str_free(&s);
}

static void
shifts(void)
{
	static struct {
		char hist[11];
		const char *want;
	} cases[] = {
	    {"latency_ns", "0.00200 ms (KS); on average they are 0.500 ms"},
	    {"latency_us", "2.000 ms (KS); on average they are 500.0 ms"},
	    {"latency_ms", "2.00K ms (KS); on average they are 500K ms"}};
	struct shift t = {.diff = {.d = .1234, .at = 2000, .w1 = 500000}};
	struct shift_line l = {.ratio = 1.234, .lo = 1.1, .hi = 1.3};
	struct str s = {0};
	char size[] = "size";
	double by = 0;

	check_ratio(l, "| 1.23x [1.10, 1.30] |", "the ratio of a percentile");
	l.lo = NAN;
	check_ratio(l, "| 1.23x |", "a ratio without an interval");
	l.ratio = NAN;
	check_ratio(l, "| no ratio |", "a row without a ratio");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char want[256];

		snprintf(want, sizeof want,
		    "The shares below a latency differ by up to 12.3%%, at %s "
		    "apart (Wasserstein).",
		    cases[i].want);
		t.hist = cases[i].hist;
		report_distance(&s, &t);
		check(&s, want, cases[i].hist);
	}
	t.hist = size;
	tap_str(shift_unit(&t, &by), "",
	    "a histogram that is not of times has no unit");
	tap_near(by, 1, 0, "its values are not scaled");
	report_number(&s, 1.23456789012345);
	check(&s, "1.23456789012", "a number is printed with 12 digits");
	report_number(&s, NAN);
	check(&s, "", "an unknown number is an empty text");
	str_free(&s);
}

int
main(void)
{
	struct row r = row("rps", 1);

	tap_str(metric_better_name(r.metric->better), "higher",
	    "more requests are better");
	r = row("p50_latency_ms", 1);
	tap_str(metric_better_name(r.metric->better), "lower",
	    "less latency is better");
	r = row("requests", 1);
	tap_str(metric_better_name(r.metric->better), "neither",
	    "no number of requests is better");
	changes();
	verdicts();
	reasons();
	counts();
	notes();
	orders();
	shifts();
	return tap_done();
}
