/* What the engine measured, as the sections of a run record. */
#include "tap.h"

#include "hist.h"
#include "json.h"
#include "metric.h"
#include "vkb-load/case/resultrecord.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/meter/watch.h"

#include <stdlib.h>

static struct json *
parse(const char *text)
{
	return json_parse(text, strlen(text), NULL, NULL);
}

static void
is_section(const struct json *run, const char *section, const char *want,
    const char *what)
{
	const struct json *got = json_get(run, section);
	char *text = got ? json_print(got) : NULL;

	tap_str(text, want, what);
	free(text);
}

/* All numbers are different, so that a mix-up of two is seen. */
static struct engine_result
whole(void)
{
	static struct engine_interval intervals[] = {
	    {1, 1, 500, .25, .75, 9, 0}, {2.5, 1.5, 300, .5, 1.25, 9, 0}};

	return (struct engine_result){.requests = 11,
	    .elapsed_s = 12,
	    .rps = 13,
	    .intervals = intervals,
	    .nintervals = 2,
	    .errors = {{.kind = "OOM", .count = 3},
		{.kind = "MOVED", .count = 4}},
	    .nerrors = 2,
	    .errors_total = 21,
	    .lost = 22,
	    .unanswered = 23,
	    .reconnects = 24,
	    .pushes = 25,
	    .hit_rate_percent = 26,
	    .offered_rps = 37,
	    .max_backlog = 38};
}

static struct watch_cost
cost_of(void)
{
	return (struct watch_cost){.client_cpu_us_per_req = 27,
	    .client_cycles_per_req = 28,
	    .client_busy_percent = 29,
	    .server_cpu_us_per_req = 30,
	    .server_cycles_per_req = 31,
	    .server_instructions_per_req = 32,
	    .server_busy_percent = 33,
	    .memory_mb = 36,
	    .bound = WATCH_CLIENT};
}

#define MACHINE "\"steal_percent\":35,\"foreign_cpu_percent\":34"
#define COSTS                                                               \
	"\"lost\":22,\"unanswered\":23,\"reconnects\":24,\"pushes\":25,"    \
	"\"hit_rate_percent\":26," MACHINE ",\"client_cpu_us_per_req\":27," \
	"\"client_cycles_per_req\":28,\"client_busy_percent\":29,"          \
	"\"server_cpu_us_per_req\":30,\"server_cycles_per_req\":31,"        \
	"\"server_instructions_per_req\":32,\"server_busy_percent\":33,"    \
	"\"memory_mb\":36"

/* Latencies of 1 to 1000 ms, and connects of half as long. */
static void
times(void)
{
	struct engine_result r = whole();
	struct watch_cost cost = cost_of();
	struct json *run = json_object(), *m;
	size_t n = 0;
	double want;

	r.latency = HIST_LATENCY();
	r.connect = HIST_LATENCY();
	for (int64_t ms = 1; ms <= 1000; ms++) {
		hist_add(r.latency, ms * 1000000, 1);
		hist_add(r.connect, ms * 500000, 1);
	}
	result_record_set(run, &r, &cost, false);
	m = json_get(run, "metrics");
	for (const struct metric *t = metric_table; t->name; t++) {
		if (!t->hist)
			continue;
		want = t->quantile == METRIC_MEAN ? 500.5
		    : t->quantile == 0            ? 1
						  : 1000 * t->quantile;
		if (strcmp(t->hist, "connect_ns") == 0)
			want /= 2;
		tap_near(json_get_num(m, t->name, NAN), want, .01, t->name);
		n++;
	}
	tap_ok(n >= 10, "latencies and connects have metrics");
	json_free(run);
	hist_free(r.latency);
	hist_free(r.connect);
}

static void
closed_loop(void)
{
	struct engine_result r = whole();
	struct watch_cost cost = cost_of();
	struct json *run = json_object();

	r.offered_rps = r.max_backlog = NAN;
	cost.sampled = parse("{\"cpu_peak_percent\":39}");
	cost.machine = parse("{" MACHINE "}");
	cost.samples = parse("{\"at_s\":[1]}");
	result_record_set(run, &r, &cost, false);
	is_section(run, "metrics",
	    "{\"rps\":13,\"requests\":11,\"elapsed_s\":12,\"errors\":21," COSTS
	    ",\"cpu_peak_percent\":39}",
	    "each number of the engine has its metric");
	is_section(run, "series",
	    "{\"at_s\":[1,2.5],\"rps\":[500,200],\"p50_latency_ms\":[0.25,0.5],"
	    "\"p99_latency_ms\":[0.75,1.25]}",
	    "the rate of an interval is its requests divided by its own "
	    "length");
	is_section(run, "errors", "{\"OOM\":3,\"MOVED\":4}",
	    "errors are counted by kind");
	is_section(run, "samples", "{\"at_s\":[1]}", "the samples are copied");
	tap_str(json_get_str(run, "bound"), "client", "the client was busy");
	tap_ok(!json_get(run, "hist"),
	    "a run without histograms has no section 'hist'");
	json_free(run);
	run = json_object();
	result_record_set(run, &r, &cost, true);
	is_section(run, "metrics",
	    "{\"rps\":13,\"requests\":11,\"elapsed_s\":12,\"errors\":21,"
	    "\"lost\":22,"
	    "\"unanswered\":23,\"reconnects\":24,\"pushes\":25,"
	    "\"hit_rate_percent\":26," MACHINE "}",
	    "a command of a mix has the metrics of the machine, and not the "
	    "cost of the whole load");
	tap_str(json_get_str(run, "bound"), "client", "and what limited it");
	tap_ok(!json_get(run, "samples"), "the samples are not repeated");
	watch_cost_free(&cost);
	json_free(run);
}

static void
copied(void)
{
	struct json *v[] = {parse("{\"subject\":{\"label\":\"a\","
				  "\"binary_sha256\":\"b\"},\"run\":{\"order\":"
				  "1,\"slices\":2},\"env\":{\"host\":\"c\"}}"),
	    parse("{\"subject\":{\"label\":\"a\"},\"run\":{\"order\":2},"
		  "\"env\":{}}")};

	result_record_copy_facts(v, 2);
	is_section(v[1], "subject", "{\"label\":\"a\",\"binary_sha256\":\"b\"}",
	    "all records of a run have the same subject");
	is_section(v[1], "run", "{\"order\":2,\"slices\":2}",
	    "what a record has is not replaced");
	is_section(v[1], "env", "{\"host\":\"c\"}",
	    "all records of a run have the same environment");
	json_free(v[0]);
	json_free(v[1]);
}

static void
open_loop(void)
{
	struct engine_result r = whole();
	struct watch_cost cost = cost_of();
	struct json *run = json_object();
	const struct json *hist;

	r.latency = HIST_LATENCY();
	r.service = HIST_LATENCY();
	hist_add(r.latency, 15000000, 1);
	hist_add(r.service, 2000, 2);
	cost.bound = WATCH_SERVER;
	result_record_set(run, &r, &cost, false);
	tap_near(json_get_num(json_get(run, "metrics"), "offered_rps", 0), 37,
	    0, "open loop has the offered rate");
	tap_near(json_get_num(json_get(run, "metrics"), "max_backlog", 0), 38,
	    0, "open loop has the largest backlog");
	/* Of 37 requests/s 13, and 15 of 12,000 ms later. */
	tap_near(json_get_num(json_get(run, "metrics"), "achieved_percent", 0),
	    100 * (13. / 37 + 15. / 12000), 1e-9,
	    "open loop has the share of its rate that was answered");
	hist = json_get(run, "hist");
	tap_ok(json_len(hist) == 2 &&
		strcmp(json_get_str(hist, "latency_ns"),
		    json_get_str(hist, "service_ns")) != 0,
	    "open loop has histograms of response and service times");
	tap_str(json_get_str(run, "bound"), "server", "the server was busy");
	json_free(run);
	hist_free(r.service);
	r.service = NULL;
	run = json_object();
	r.offered_rps = r.max_backlog = NAN;
	cost.bound = WATCH_NEITHER;
	result_record_set(run, &r, &cost, false);
	tap_ok(!json_get(json_get(run, "metrics"), "offered_rps") &&
		!json_get(json_get(run, "metrics"), "max_backlog"),
	    "closed loop has no offered rate and no backlog");
	tap_ok(json_len(json_get(run, "hist")) == 1,
	    "closed loop has one histogram");
	tap_str(json_get_str(run, "bound"), "neither", "neither side was busy");
	json_free(run);
	hist_free(r.latency);
}

/* Unknown values are absent, not zero. */
static void
unknown(void)
{
	struct engine_result r = whole();
	struct watch_cost cost = cost_of();
	struct engine_interval gap[] = {
	    {1, 1, 500, .25, .75, 9, 0}, {2, 1, 0, 0, 0, 0, 0}};
	struct json *run = json_object();
	const struct json *m;

	r.intervals = gap;
	r.nerrors = 0;
	r.errors_unknown = true;
	r.requests = 0;
	r.lost = NAN;
	result_record_set(run, &r, &cost, false);
	m = json_get(run, "metrics");
	tap_ok(!json_get(m, "requests"),
	    "0 requests at a rate above 0 are unknown");
	tap_ok(!json_get(m, "errors"), "the errors of such a run are unknown");
	tap_ok(!json_get(m, "lost"), "a value that is not a number is unknown");
	tap_ok(!json_get(run, "errors"),
	    "without errors there is no section 'errors'");
	is_section(run, "series", "{\"at_s\":[1,2],\"rps\":[500,0]}",
	    "if an interval has no requests, there is no column of "
	    "percentiles");
	json_free(run);
	gap[1].length_s = 0;
	run = json_object();
	r.rps = 0;
	result_record_set(run, &r, &cost, false);
	m = json_get(run, "metrics");
	tap_ok(json_get(m, "requests") && json_get_num(m, "requests", 1) == 0,
	    "0 requests at the rate 0 are known");
	is_section(run, "series", "{\"at_s\":[1,2]}",
	    "an interval without length gives no rate");
	json_free(run);
	r.nintervals = 0;
	run = json_object();
	result_record_set(run, &r, &cost, false);
	tap_ok(
	    !json_get(run, "series"), "without intervals there is no series");
	json_free(run);
}

static void
together(void)
{
	struct json *v[] = {
	    parse("{\"rps\":1,\"requests\":2,\"errors\":3,\"lost\":4,"
		  "\"unanswered\":5,\"reconnects\":6,\"pushes\":7,"
		  "\"p99_latency_ms\":8,\"elapsed_s\":9,\"memory_mb\":10}"),
	    parse("{\"rps\":10,\"requests\":20,\"errors\":30,\"lost\":40,"
		  "\"unanswered\":50,\"reconnects\":60,\"pushes\":70,"
		  "\"p99_latency_ms\":80,\"elapsed_s\":8,\"memory_mb\":10,"
		  "\"max_backlog\":5}")};
	const struct json *list[] = {v[0], v[1]};
	struct json *all = result_record_merge(list, 2), *run = json_object();

	json_set(run, "all", all);
	is_section(run, "all",
	    "{\"rps\":11,\"requests\":22,\"errors\":33,\"lost\":44,"
	    "\"unanswered\":55,\"reconnects\":66,\"pushes\":77,"
	    "\"p99_latency_ms\":80,\"elapsed_s\":9,\"memory_mb\":10,"
	    "\"max_backlog\":5}",
	    "counts and rates are summed, latencies are the maximum");
	json_set(run, "one", result_record_merge(list, 1));
	is_section(run, "one",
	    "{\"rps\":1,\"requests\":2,\"errors\":3,\"lost\":4,"
	    "\"unanswered\":5,\"reconnects\":6,\"pushes\":7,"
	    "\"p99_latency_ms\":8,\"elapsed_s\":9,\"memory_mb\":10}",
	    "a single record is not changed");
	json_set(run, "none", result_record_merge(list, 0));
	is_section(run, "none", "{}", "no records give an empty object");
	json_free(run);
	json_free(v[0]);
	json_free(v[1]);
}

static void
beside_reference(void)
{
	struct json *run = parse("{\"config\":{},\"env\":{\"cpus\":2},"
				 "\"metrics\":{\"rps\":30,"
				 "\"server_cpu_us_per_req\":5,"
				 "\"p50_latency_ms\":1}}");
	struct json *reference =
	    parse("{\"subject\":{\"server_version\":\"8\","
		  "\"binary_sha256\":\"ab\",\"label\":\"r\"},"
		  "\"metrics\":{\"rps\":20,\"server_cpu_us_per_req\":4,"
		  "\"p50_latency_ms\":2}}");
	struct json *facts = result_record_describe_reference(reference);
	struct json *lost = json_dup(run), *rate = json_dup(run);

	result_record_set_reference(run, facts, reference);
	is_section(run, "metrics",
	    "{\"rps\":30,\"server_cpu_us_per_req\":5,\"p50_latency_ms\":1,"
	    "\"rps_ratio\":1.5,\"cpu_ratio\":1.25,"
	    "\"p50_latency_ratio\":0.5}",
	    "a run has its ratios to the run of the reference");
	is_section(run, "env",
	    "{\"cpus\":2,\"reference_sha256\":\"ab\","
	    "\"reference_version\":\"8\"}",
	    "the environment of a run names the reference");
	result_record_set_reference(lost, facts, NULL);
	is_section(lost, "metrics",
	    "{\"rps\":30,\"server_cpu_us_per_req\":5,\"p50_latency_ms\":1}",
	    "a run without one of the reference has no ratios");
	is_section(lost, "env",
	    "{\"cpus\":2,\"reference_sha256\":\"ab\","
	    "\"reference_version\":\"8\"}",
	    "but names the reference of its session");
	json_set_num(json_get(rate, "config"), "rate", 10);
	result_record_set_reference(rate, facts, reference);
	is_section(
	    rate, "env", "{\"cpus\":2}", "a run with a rate has no reference");
	json_free(run);
	json_free(lost);
	json_free(rate);
	json_free(reference);
	json_free(facts);
}

int
main(void)
{
	beside_reference();
	times();
	closed_loop();
	copied();
	open_loop();
	unknown();
	together();
	return tap_done();
}
