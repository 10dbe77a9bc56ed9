/* The sentence that sums up a comparison: what changed, and what to do next. */
#include "rows.h"

#include "json.h"

static struct json *plain; /* configuration without keys */

static void
say(const struct comparison *c, const char *want, const char *what)
{
	struct str s = {0};

	report_headline(&s, c);
	check(&s, want, what);
	str_free(&s);
}

static void
headlines(void)
{
	char set[] = "SET", get[] = "GET";
	struct kase none = {.config = plain};
	struct pairing pairs[] = {{.name = {set}, .side = {&none, &none}},
	    {.name = {get}, .side = {&none, &none}}};
	struct row rows[] = {row("rps", .95), row("p50_latency_ms", 1.5),
	    row("rps", .8), row("p50_latency_ms", 1.01)};
	struct canary canary = {.verdict = VERDICT_INSUFFICIENT};
	struct one_sided_gate one_sided[] = {{.side = 0}, {.side = 1}};
	struct comparison c = {.rows = rows, .nrows = 4};

	for (size_t i = 0; i < 4; i++)
		rows[i].pair = &pairs[i / 2];
	rows[1].gate = false;
	tap_ok(
	    verdict_foremost(c.count) == VERDICTS, "no rows have no outcome");
	c.nrows = 0;
	say(&c, "Nothing was judged.", "no rows");
	c.nrows = 4;
	for (size_t i = 0; i < 4; i++)
		rows[i].verdict = VERDICT_EQUIVALENT;
	c.count[VERDICT_EQUIVALENT] = 1;
	tap_ok(verdict_foremost(c.count) == VERDICT_EQUIVALENT,
	    "all are equivalent");
	say(&c, "No change: both cases.", "one row that is equivalent");
	c.count[VERDICT_EQUIVALENT] = 2;
	c.failed_runs = 1;
	c.unmatched[0] = 1;
	say(&c,
	    "No change: both cases. 1 run of the contender failed; the "
	    "contender lacks 1 case or metric.",
	    "failed runs and missing cases follow");
	c.one_sided = one_sided;
	c.one_sided_count = 2;
	c.unmatched[1] = 5;
	tap_ok(report_count_missing(&c) == 2,
	    "only results that the contender lacks are missing");
	c.one_sided_count = 0;
	c.failed_runs = 0;
	c.unmatched[0] = 0;
	c.canaries = &canary;
	c.ncanaries = 1;
	say(&c,
	    "Not to be relied on: a canary was not measured. No change: both "
	    "cases.",
	    "a canary that was not measured is the headline");
	canary.verdict = VERDICT_REGRESSION;
	say(&c, "Not to be relied on: a canary changed. No change: both cases.",
	    "a canary that changed is the headline");
	canary.ok = true;
	rows[0].verdict = rows[1].verdict = rows[2].verdict =
	    VERDICT_REGRESSION;
	c.count[VERDICT_REGRESSION] = 2;
	say(&c, "Worse: GET (20.0% slower), SET (5.0% slower).",
	    "the largest judged regression is named, the others are counted");
	c.count[VERDICT_REGRESSION] = 3;
	rows[3].verdict = VERDICT_IMPROVEMENT;
	rows[3].facts.ratio = NAN;
	c.count[VERDICT_IMPROVEMENT] = 1;
	say(&c, "Worse: GET (20.0% slower), SET (5.0% slower).",
	    "one more regression, and an improvement without a ratio");
	tap_ok(verdict_foremost(c.count) == VERDICT_REGRESSION,
	    "with regressions and improvements the outcome is a regression");
	rows[0].facts.ratio = .8;
	say(&c, "Worse: SET (20.0% slower), GET (20.0% slower).",
	    "of two equally large regressions the first is named");
	rows[0].facts.ratio = .95;
	rows[2].waived = true;
	c.count[VERDICT_REGRESSION] = 1;
	c.waived = 1;
	say(&c, "Worse: SET (5.0% slower). Waived: GET (20.0% slower).",
	    "a waived regression is named separately");
}

/* Unclear rows: what would decide them. */
static void
advice(void)
{
	char set[] = "SET";
	struct kase none = {.config = plain};
	struct pairing pairs[] = {{.name = {set}, .side = {&none, &none}},
	    {.name = {set}, .side = {&none, &none}}};
	struct row rows[] = {row("rps", 1), row("p50_latency_ms", 1),
	    row("rps", 1), row("p50_latency_ms", 1)};
	struct metric_facts metric = {.name = rows[0].name};
	struct comparison c = {.rows = rows, .nrows = 4};

	for (size_t i = 0; i < 4; i++) {
		rows[i].pair = &pairs[i / 2];
		rows[i].facts.paired = true;
		rows[i].minutes = (double[]){2, 3, .5, .25}[i];
		rows[i].needed = (size_t[]){20, 10, 12, 8}[i];
	}
	c.count[VERDICT_INCONCLUSIVE] = 3;
	c.count[VERDICT_INSUFFICIENT] = 1;
	c.count[VERDICT_EQUIVALENT] = 5;
	rows[1].verdict = VERDICT_INSUFFICIENT;
	say(&c,
	    "No slowdown found. Undecided: both cases (runs vary). 12 more "
	    "runs (2 min) would decide 2 results; 2 more runs are needed to "
	    "judge 1 result.",
	    "the most rounds of all rows, the longest time of each case "
	    "summed; rows with too few runs are counted separately");
	rows[1].facts.paired = false;
	rows[1].facts.n = 9;
	rows[1].needed = 9;
	say(&c,
	    "No slowdown found. Undecided: both cases (runs vary). 12 more "
	    "runs (2 min) would decide 2 results; 1 more run is needed to "
	    "judge 1 result.",
	    "one run is singular");
	rows[0].facts.m = 6;
	rows[0].facts.n = 7;
	rows[1].needed = 8;
	rows[2].facts.paired = false;
	rows[2].minutes = NAN;
	say(&c,
	    "No slowdown found. Undecided: both cases (runs vary). 14 more "
	    "runs (2 min) would decide throughput of SET.",
	    "a row that is not paired needs no rounds");
	rows[0].needed = 0;
	rows[2].needed = 9;
	say(&c, "No slowdown found. Undecided: both cases (runs vary).",
	    "a row without an advice is not counted");
	rows[0].needed = 101;
	say(&c,
	    "No slowdown found. Undecided: both cases (runs vary). 95 more "
	    "runs (2 min) would decide throughput of SET.",
	    "paired rows beside others");
	rows[2].gate = false;
	c.count[VERDICT_INSUFFICIENT] = c.count[VERDICT_EQUIVALENT] = 0;
	c.count[VERDICT_INCONCLUSIVE] = 1;
	say(&c,
	    "No slowdown found. Undecided: both cases (runs vary). 95 more "
	    "runs (2 min) would decide throughput of SET.",
	    "rows that are only shown are not counted");
	c.count[VERDICT_EQUIVALENT] = 2;
	c.count[VERDICT_INCONCLUSIVE] = 3;
	say(&c,
	    "No slowdown found. Undecided: both cases (runs vary). 95 more "
	    "runs (2 min) would decide throughput of SET.",
	    "several unclear results");
	c.count[VERDICT_EQUIVALENT] = 1;
	c.count[VERDICT_INCONCLUSIVE] = 1;
	say(&c,
	    "No slowdown found. Undecided: both cases (runs vary). 95 more "
	    "runs (2 min) would decide throughput of SET.",
	    "one unclear result of two");
	rows[0].needed = rows[1].needed = 0;
	rows[0].facts.paired = false;
	rows[0].of = &metric;
	metric.model.rho = .4;
	say(&c,
	    "No slowdown found. Undecided: both cases (runs vary). "
	    "Neighbouring runs resemble each other, so more runs add little "
	    "information; vkb-ab measures both sides interleaved.",
	    "autocorrelated runs");
	rows[1].verdict = VERDICT_LIKELY_REGRESSION;
	rows[3].verdict = VERDICT_EQUIVALENT;
	say(&c,
	    "Likely worse: SET (p50 0.00% lower). No change: 1 case. "
	    "Neighbouring runs resemble each other, so more runs add little "
	    "information; vkb-ab measures both sides interleaved.",
	    "beside a likely change");
}

int
main(void)
{
	plain = json_object();
	headlines();
	advice();
	json_free(plain);
	return tap_done();
}
