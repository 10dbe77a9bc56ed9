/*
 * The rules by which a row is judged: table, policy and options, in this order;
 * rules and waivers that had no effect; names that no row has.
 */
#include "rows.h"

#include "err.h"
#include "json.h"
#include "mem.h"
#include "vkb-compare/part.h"

#include <stdlib.h>

static struct json *
parse(const char *s)
{
	return json_parse(s, strlen(s), NULL, NULL);
}

static struct margin
margin(const char *name, const char *text)
{
	struct margin m = {name, POLICY_NO_ANSWER};

	tap_ok(policy_parse_margin(text, &m.answer) == 0,
	    "the margin %s is valid", text);
	return m;
}

/* Two sides of one configuration, which have one part each with runs of one
 * metric. */
struct world {
	struct pairing pair;
	struct kase kases[2];
	struct part parts[2];
	struct part_metric metrics[2];
};

static void
begin(struct world *w, const char *config, const char *base, const char *other)
{
	const char *rest[] = {base, other};

	*w = (struct world){
	    .pair.name = {(char *)(size_t) "SET", (char *)(size_t) "SET"}};
	for (size_t j = 0; j < 2; j++) {
		w->parts[j].rest = parse(rest[j]);
		w->kases[j] = (struct kase){.config = parse(config),
		    .parts = &w->parts[j],
		    .nparts = 1};
		w->pair.side[j] = &w->kases[j];
	}
}

static void
end(struct world *w)
{
	for (size_t j = 0; j < 2; j++) {
		json_free((struct json *)(size_t)w->kases[j].config);
		json_free((struct json *)(size_t)w->parts[j].rest);
	}
}

static void
references(void)
{
	static const struct {
		const char *metric, *policy;
		enum reference_state state;
		bool shown, gate;
	} cases[] = {{"rps", "", REFERENCE_NONE, true, true},
	    {"rps_ratio", "", REFERENCE_NONE, false, false},
	    {"server_cpu_us_per_req", "", REFERENCE_NONE, true, true},
	    {"cpu_ratio", "", REFERENCE_NONE, false, false},
	    {"rps", "", REFERENCE_SAME, false, false},
	    {"rps_ratio", "", REFERENCE_SAME, true, true},
	    {"server_cpu_us_per_req", "", REFERENCE_SAME, false, false},
	    {"cpu_ratio", "", REFERENCE_SAME, true, true},
	    {"p99_latency_ms", "", REFERENCE_NONE, true, true},
	    {"p99_latency_ms", "", REFERENCE_SAME, false, false},
	    {"p99_latency_ratio", "", REFERENCE_SAME, true, true},
	    {"p95_latency_ratio", "", REFERENCE_SAME, false, false},
	    {"rps", "{\"metric\":\"rps\",\"class\":\"gate\"}", REFERENCE_SAME,
		true, false},
	    {"rps_ratio", "{\"metric\":\"rps\",\"class\":\"info\"}",
		REFERENCE_SAME, true, false},
	    {"p99_latency_ratio",
		"{\"metric\":\"!p99_latency_ms\",\"class\":\"info\"}",
		REFERENCE_SAME, true, true},
	    /* one side was measured before there was this ratio */
	    {"p50_latency_ms", "", REFERENCE_SAME, true, true},
	    {"rps", "", REFERENCE_OTHER, true, true},
	    {"rps_ratio", "{\"metric\":\"*\",\"class\":\"gate\"}",
		REFERENCE_OTHER, false, false},
	    {"rps", "", REFERENCE_ANY, true, true},
	    {"rps_ratio", "", REFERENCE_ANY, true, true}};
	struct part_metric ratios[2][4] = {
	    {{.name = (char *)(size_t) "cpu_ratio"},
		{.name = (char *)(size_t) "p50_latency_ratio"},
		{.name = (char *)(size_t) "p99_latency_ratio"},
		{.name = (char *)(size_t) "rps_ratio"}},
	    {{.name = (char *)(size_t) "cpu_ratio"},
		{.name = (char *)(size_t) "p99_latency_ratio"},
		{.name = (char *)(size_t) "rps_ratio"}}};
	struct metric of;
	struct world w;

	begin(&w, "{\"command\":\"SET\"}", "{\"n\":1}", "{\"n\":1}");
	for (size_t j = 0; j < 2; j++) {
		w.parts[j].metrics = ratios[j];
		w.parts[j].nmetrics = 4 - j;
	}
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text = mem_printf("{\"rules\":[%s]}", cases[i].policy);
		struct policy *policy = policy_new(parse(text), "f");
		const struct rules rules = {.policy = policy};
		struct row r = {.pair = &w.pair, .name = cases[i].metric};

		w.pair.reference = cases[i].state;
		tap_ok(rules_apply(&rules, &r, &of) == cases[i].shown,
		    "%s %s in state %d", cases[i].metric,
		    cases[i].shown ? "is shown" : "is not shown",
		    (int)cases[i].state);
		tap_ok(r.gate == cases[i].gate, "%s %s in state %d",
		    cases[i].metric,
		    cases[i].gate ? "is judged" : "is not judged",
		    (int)cases[i].state);
		policy_free(policy);
		free(text);
	}
	end(&w);
}

static void
margins(void)
{
	static const char text[] =
	    "{\"rules\":[{\"margin\":\"7%\"},"
	    "{\"metric\":\"p99_latency_ms\",\"margin\":\"-9%\"},"
	    "{\"metric\":\"p50_latency_ms\",\"margin\":\"auto\"},"
	    "{\"metric\":\"requests\",\"better\":\"lower\","
	    "\"assume\":\"exact\",\"waiver\":{\"reason\":\"r\","
	    "\"expires\":\"2026-11-21\"}}]}";
	static const struct {
		const char *what, *metric;
		size_t options;
		bool policy, automatic;
		double want;
		char sign;
		const char *from;
		enum metric_better better;
	} cases[] = {{"the table", "rps", 0, false, false, .02, '\0', "table",
			 METRIC_HIGHER},
	    {"a policy", "rps", 0, true, false, .07, '\0', "policy",
		METRIC_HIGHER},
	    {"a policy with a sign", "p99_latency_ms", 0, true, false, .09, '-',
		"policy", METRIC_HIGHER},
	    {"auto in a policy keeps the margin of the table", "p50_latency_ms",
		0, true, true, .02, '\0', "table", METRIC_LOWER},
	    {"an option for all metrics", "p99_latency_ms", 1, true, false, .03,
		'\0', "option", METRIC_HIGHER},
	    {"an option for all metrics replaces auto", "p50_latency_ms", 1,
		true, false, .03, '\0', "option", METRIC_LOWER},
	    {"an option for this metric", "rps", 2, true, false, .04, '\0',
		"option", METRIC_HIGHER},
	    {"an option for this metric comes before a later one for all",
		"rps", 3, true, false, .04, '\0', "option", METRIC_HIGHER},
	    {"the last option for all metrics", "p50_latency_ms", 3, false,
		false, .05, '\0', "option", METRIC_LOWER},
	    {"the last option for this metric", "rps", 4, false, false,
		1 - 1 / 1.1, '+', "option", METRIC_LOWER}};
	struct margin options[] = {margin(NULL, "3%"), margin("rps", "4%"),
	    margin(NULL, "5%"), margin("rps", "+10%")};
	struct policy *policy = policy_new(parse(text), "f");
	struct world w;
	struct metric of;
	struct row r;

	begin(&w, "{\"command\":\"SET\"}", "{\"n\":1}", "{\"n\":1}");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct rules rules = {.margins = options,
		    .nmargins = cases[i].options,
		    .policy = cases[i].policy ? policy : NULL,
		    .today = "2026-11-21"};

		/* A margin of the table is that of the metric. */
		r = (struct row){.pair = &w.pair, .name = cases[i].metric};
		tap_ok(rules_apply(&rules, &r, &of) && r.gate,
		    "%s: %s is judged", cases[i].what, cases[i].metric);
		tap_near(r.margin,
		    cases[i].from[0] == 't' ? r.metric->margin : cases[i].want,
		    1e-12, "the margin of this rule");
		tap_str(
		    r.margin_from, cases[i].from, "the source of the margin");
		tap_ok(r.margin_sign == cases[i].sign &&
			r.margin_auto == cases[i].automatic &&
			r.metric->better == cases[i].better,
		    "%s: sign and direction", cases[i].what);
		tap_ok(!r.exact && !r.waiver.reason,
		    "the row is not exact and not waived");
	}
	r = (struct row){.pair = &w.pair, .name = (char *)(size_t) "requests"};
	tap_ok(!rules_apply(
		   &(struct rules){.policy = policy, .today = "2026-11-22"}, &r,
		   &of),
	    "a metric that is not a gate is not shown");
	tap_ok(r.exact && r.waiver.expired && r.metric->better == METRIC_LOWER,
	    "its waiver has expired, and it is exact");
	policy_free(policy);
	end(&w);
}

static void
classes(void)
{
	static const char timed[] = "{\"command\":\"SET\",\"duration_s\":5}";
	static const char counted[] = "{\"command\":\"SET\",\"requests\":5}";
	static const char rated[] = "{\"command\":\"SET\",\"rate\":5}";
	static const char searched[] =
	    "{\"command\":\"SET\",\"slo\":{\"p99_latency_ms\":1}}";
	static const char memory[] = "used_memory_bytes",
			  cpu[] = "server_cpu_us_per_req";
	static const struct {
		const char *what, *config, *rest[2];
		size_t runs[2]; /* that have the metric */
		const char *metric, *metrics, *class;
		bool shown, gate, keys_differ;
	} cases[] = {{"throughput", timed, {"{}", "{}"}, {3, 3}, "rps", NULL,
			 NULL, true, true, false},
	    {"throughput with class info in a policy", timed, {"{}", "{}"},
		{3, 3}, "rps", NULL, "info", true, false, false},
	    {"a count", timed, {"{}", "{}"}, {3, 3}, "requests", NULL, NULL,
		false, false, false},
	    {"all metrics", timed, {"{}", "{}"}, {3, 3}, "requests", "all",
		NULL, true, false, false},
	    {"CPU", counted, {"{}", "{}"}, {3, 3}, cpu, NULL, NULL, true, true,
		false},
	    {"CPU at a rate", rated, {"{}", "{}"}, {3, 3}, cpu, "all", NULL,
		true, false, false},
	    {"CPU where the rate is searched", searched, {"{}", "{}"}, {3, 3},
		cpu, "all", NULL, true, false, false},
	    {"memory, a number of writes", counted, {"{}", "{}"}, {3, 3},
		memory, memory, NULL, true, true, false},
	    {"memory, a duration of writes", timed, {"{}", "{}"}, {3, 3},
		memory, memory, NULL, true, false, true},
	    {"memory, a duration of writes, class gate in a policy", timed,
		{"{}", "{}"}, {3, 3}, memory, memory, "gate", true, true, true},
	    {"memory, a duration of writes, class info in a policy", timed,
		{"{}", "{}"}, {3, 3}, memory, memory, "info", true, false,
		true}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct rules rules = {.metrics = cases[i].metrics};
		struct row r = {.name = cases[i].metric};
		struct metric of;
		struct world w;
		char text[100];
		double v[9] = {0};

		snprintf(text, sizeof text,
		    "{\"rules\":[{\"metric\":\"%s\",\"class\":\"%s\"}]}",
		    cases[i].metric, cases[i].class ? cases[i].class : "");
		if (cases[i].class)
			rules.policy = policy_new(parse(text), "f");
		begin(&w, cases[i].config, cases[i].rest[0], cases[i].rest[1]);
		for (size_t j = 0; j < 2; j++) {
			w.metrics[j] = (struct part_metric){.name = r.name,
			    .runs = {.v = v, .n = cases[i].runs[j]}};
			w.parts[j].metrics = &w.metrics[j];
			w.parts[j].nmetrics = cases[i].runs[j] > 0;
		}
		r.pair = &w.pair;
		tap_ok(rules_apply(&rules, &r, &of) == cases[i].shown, "%s: %s",
		    cases[i].what, cases[i].shown ? "shown" : "not shown");
		tap_ok(r.gate == cases[i].gate, "%s: %s", cases[i].what,
		    cases[i].gate ? "judged" : "not judged");
		tap_ok(r.keys_differ == cases[i].keys_differ,
		    "%s: do the keys differ?", cases[i].what);
		policy_free(rules.policy);
		end(&w);
	}
}

/* Bytes per key are exact if two or more counted runs of each side agree.
 * Measured runs may agree by chance. */
static void
exactness(void)
{
	static char count[] = "instructions_per_req";
	static struct {
		const char *what, *metric;
		double v[2][3];
		size_t n[2];
		bool exact;
		size_t measured; /* on each side */
	} cases[] = {{"two counted runs a side that agree", "bytes_per_key",
			 {{5, 5}, {6, 6}}, {2, 2}, true, 0},
	    {"two measured runs a side that agree", "bytes_per_key",
		{{5, 5}, {6, 6}}, {2, 2}, false, 2},
	    {"one measured and two counted runs", "bytes_per_key",
		{{5, 5, 5}, {6, 6, 6}}, {3, 3}, false, 1},
	    {"one run against two", "bytes_per_key", {{5}, {6, 6}}, {1, 2},
		true, 0},
	    {"two runs against one", "bytes_per_key", {{5, 5}, {6}}, {2, 1},
		true, 0},
	    {"one run against one", "bytes_per_key", {{5}, {6}}, {1, 1}, true,
		0},
	    {"a third run that differs", "bytes_per_key",
		{{5, 5, 5}, {6, 6, 7}}, {3, 3}, false, 0},
	    {"runs of one side only", "bytes_per_key", {{5, 5}}, {2, 0}, false,
		0},
	    {"another metric of memory", "memory_mb", {{5, 5}, {6, 6}}, {2, 2},
		false, 0}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct row r = {.name = cases[i].metric};
		struct metric of;
		struct part_metric both[2][2];
		struct world w;

		begin(&w, "{\"duration_s\":5}", "{}", "{}");
		for (size_t j = 0; j < 2; j++) {
			size_t n = cases[i].n[j];
			size_t counted = n ? n - cases[i].measured : 0;

			both[j][0] = (struct part_metric){.name = r.name,
			    .runs = {.v = cases[i].v[j], .n = n},
			    .counted = counted && counted == n};
			both[j][1] = (struct part_metric){.name = count,
			    .runs = {.v = cases[i].v[j], .n = counted}};
			w.parts[j].metrics = both[j];
			w.parts[j].nmetrics = !n ? 0 : counted ? 2 : 1;
		}
		r.pair = &w.pair;
		rules_apply(&(struct rules){0}, &r, &of);
		tap_ok(r.exact == cases[i].exact &&
			r.keys_differ == !cases[i].exact,
		    "%s: %s", cases[i].what,
		    cases[i].exact ? "exact" : "not exact");
		if (cases[i].metric[0] == 'b')
			tap_near(r.margin, cases[i].exact ? .003 : .02, 1e-12,
			    "the margin");
		end(&w);
	}
}

/* Servers of counted runs have other keys than those of measured runs. */
static void
counted_sides(void)
{
	double v[2] = {5, 5};

	for (unsigned i = 0; i < 4; i++) { /* bit j: side j was counted */
		struct part_metric metrics[2][2];
		struct row r = {.name = "bytes_per_key"};
		struct metric of;
		struct world w;
		bool same = i == 0 || i == 3;

		begin(&w, "{\"requests\":5}", "{}", "{}");
		for (size_t j = 0; j < 2; j++) {
			metrics[j][0] = (struct part_metric){.name = r.name,
			    .runs = {.v = v, .n = 2},
			    .counted = i >> j & 1};
			metrics[j][1] = (struct part_metric){
			    .name = (char *)(size_t) "instructions_per_req",
			    .runs = {.v = v, .n = 2}};
			w.parts[j].metrics = metrics[j];
			w.parts[j].nmetrics = 1 + (i >> j & 1);
		}
		r.pair = &w.pair;
		rules_apply(&(struct rules){0}, &r, &of);
		tap_ok(r.exact == (i == 3) && r.gate == same &&
			r.loads_differ == !same,
		    "sides counted: %u", i);
		end(&w);
	}
}

/* What a report lists about four rows with waivers. */
static void
test_rule_issues(void)
{
	static const char text[] = "{\"rules\":["
				   "{\"metric\":\"rps\",\"margin\":\"1%\"},"
				   "{\"metric\":\"nowhere\",\"margin\":\"1%\"},"
				   "{\"metric\":\"no\",\"class\":\"info\"}]}";
	enum { N = 7 };
	static const struct {
		enum verdict verdict;
		bool waived, expired;
		const char *waiver, *what;
	} of[N] = {{VERDICT_REGRESSION, true, false, "used", NULL},
	    {VERDICT_REGRESSION, false, false, "small", "exceeded"},
	    {VERDICT_LIKELY_REGRESSION, false, false, "likely", "exceeded"},
	    {VERDICT_IMPROVEMENT, false, false, "better", "unused"},
	    {VERDICT_REGRESSION, false, true, "old", "expired"},
	    {VERDICT_EQUIVALENT, true, true, "ended", "expired"},
	    {VERDICT_REGRESSION, true, false, "both", "exceeded"}};
	struct rules rules = {.policy = policy_new(parse(text), "f")};
	struct row rows[2][N + 2];
	struct comparison c[2] = {
	    {.rows = rows[0], .nrows = N}, {.rows = rows[1], .nrows = 2}};
	struct policy_answer a;
	size_t at = 0;

	for (size_t i = 0; i < N; i++) {
		rows[0][i] = row("rps", 1);
		rows[0][i].verdict = of[i].verdict;
		rows[0][i].waived = of[i].waived;
		rows[0][i].waiver =
		    (struct policy_waiver){.reason = of[i].waiver,
			.expires = "2026-12-31",
			.rule = of[i].waiver,
			.expired = of[i].expired};
	}
	rows[1][0] = row("rps", 1); /* no waiver */
	rows[1][1] = rows[0][N - 1];
	rows[1][1].waived = false;
	policy_find_answer(rules.policy, NULL, "x", "rps", "2026-11-21", &a);
	rules_add_issues(&rules, c, 2);
	for (size_t i = 0; i < N; i++) {
		const struct rule_issue *l = &c[0].rule_issues[at];

		if (!of[i].what)
			continue;
		if (!tap_ok(at++ < c[0].nrule_issues,
			"the waiver '%s' is listed", of[i].waiver))
			break;
		tap_str(l->what, of[i].what, "why");
		tap_str(l->reason, of[i].waiver, "the reason of the waiver");
		tap_str(l->rule, of[i].waiver, "the rule of the waiver");
		tap_str(l->expires, "2026-12-31", "the end of the waiver");
	}
	if (tap_ok(c[0].nrule_issues == at + 2 && c[1].nrule_issues == 0,
		"two rules were not used; only the first comparison lists "
		"them")) {
		tap_str(c[0].rule_issues[at].rule, "f: rules[1]",
		    "the first unused rule");
		tap_str(c[0].rule_issues[at].what, "unused",
		    "it is listed as unused");
		tap_ok(!c[0].rule_issues[at].reason &&
			!c[0].rule_issues[at].expires,
		    "it has no waiver");
		tap_str(c[0].rule_issues[at + 1].rule, "f: rules[2]",
		    "the second unused rule");
	}
	c[0].nrule_issues = 0;
	rules_add_issues(&rules, c, 0);
	tap_ok(c[0].nrule_issues == 0,
	    "without comparisons there are no issues of rules");
	policy_free(rules.policy);
	rules.policy = NULL;
	rules_add_issues(&rules, c, 2);
	tap_ok(c[0].nrule_issues == 0,
	    "without a policy there are no issues of rules");
	free(c[0].rule_issues);
}

static void
checked_names(void)
{
	static const struct {
		const char *metrics, *margin, *error; /* NULL: all is well */
	} cases[] = {{NULL, NULL, NULL}, {"all", NULL, NULL},
	    {"latency", NULL, NULL}, {"rps", NULL, NULL},
	    {"rps,own_metric,one_sided", NULL, NULL},
	    {"rps,latency", NULL,
		"option '--metrics': no case that is on both sides has "
		"'latency'"},
	    {"nope,rps", NULL,
		"option '--metrics': no case that is on both sides has 'nope'"},
	    {NULL, "own_metric", NULL}, {NULL, "p50_latency_ms", NULL},
	    {NULL, "one_sided", NULL},
	    {NULL, "nope", "option '--margin': no metric is called 'nope'"}};
	struct row rows[] = {row("rps", 1), row("own_metric", 1)};
	struct one_sided_gate one_sided = {
	    .name = (char *)(size_t) "one_sided"};
	struct comparison c[] = {{0},
	    {.rows = rows,
		.nrows = 2,
		.one_sided = &one_sided,
		.one_sided_count = 1}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct margin m[] = {margin(NULL, "1%"), margin("rps", "1%")};
		const struct rules rules = {
		    .metrics = cases[i].metrics, .margins = m, .nmargins = 2};
		const char *error = cases[i].error;

		if (cases[i].margin)
			m[1].name = cases[i].margin;
		tap_ok(rules_check_names(&rules, c, 2) == (error ? -1 : 0),
		    "metrics %s, a margin of %s: %s",
		    cases[i].metrics ? cases[i].metrics : "of the gates",
		    m[1].name, error ? "refused" : "accepted");
		if (error)
			tap_str(err_last(), error, "the message");
	}
}

static void
waived(void)
{
	struct row r = row("rps", .92);

	r.waiver = (struct policy_waiver){.reason = "r", .limit = .1};
	tap_ok(
	    rules_is_waived(&r), "a waiver of 10 %% covers a change of 8 %%");
	r.facts.ratio = .88;
	tap_ok(!rules_is_waived(&r),
	    "a waiver of 10 %% does not cover a change of 12 %%");
}

int
main(void)
{
	references();
	margins();
	classes();
	exactness();
	counted_sides();
	test_rule_issues();
	checked_names();
	waived();
	return tap_done();
}
