/* Names and units of metrics: of the table, guessed, and of other tools. */
#include "tap.h"

#include "counted.h"
#include "json.h"
#include "metric.h"
#include "record.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>

static void
units(void)
{
	static const struct {
		const char *name, *unit, *key;
		double factor;
	} of[] = {{"time", "us", "time_us", 1}, {"time", "ns", "time_ns", 1},
	    {"time", "msec", "time_ms", 1}, {"time", "seconds", "time_s", 1},
	    {"time", "min", "time_s", 60}, {"time", "minutes", "time_s", 60},
	    {"time", "h", "time_s", 3600}, {"time", "hours", "time_s", 3600},
	    {"size", "B", "size_bytes", 1}, {"size", "kB", "size_bytes", 1e3},
	    {"size", "KB", "size_bytes", 1e3},
	    {"size", "MB", "size_bytes", 1e6},
	    {"size", "GB", "size_bytes", 1e9},
	    {"size", "KiB", "size_bytes", 1024},
	    {"size", "MiB", "size_bytes", 1048576},
	    {"size", "GiB", "size_bytes", 1073741824},
	    {"io", "MB/s", "io_bytes_per_s", 1e6},
	    {"io", "GiB/min", "io_bytes_per_s", 1073741824. / 60},
	    {"alloc", "B/op", "alloc_bytes_per_op", 1},
	    {"ops", "ops/s", "ops_per_s", 1},
	    {"opsy", "ops/s", "opsy_ops_per_s", 1}, {"rps", "req/s", "rps", 1},
	    {"rps", "s", "rps_s", 1}, {"requests", "/s", "rps", 1},
	    {"qps", "", "rps", 1}, {"load", "TPS", "load_per_s", 1},
	    {"x y", "%", "x_y_percent", 1}, {"", "ms", "time_ns", 1e6},
	    {"ms", "ms", "time_ns", 1e6}, {"", "", "value", 1},
	    {"hits", "count", "hits", 1}, {"ratio", "x", "ratio", 1},
	    {"time_ms", "ms", "time_ms", 1}, {"items", "ms", "items_ms", 1},
	    {"bytes_per_second", "", "bytes_per_s", 1},
	    {"bytes_per_sec", "", "bytes_per_s", 1},
	    {"--a--b (c)", "", "a_b_c", 1}, {"a_ b", "", "a_b", 1},
	    {"a", "furlongs", "a_furlongs", 1},
	    {"", "ops/ms", "ops_per_s", 1e3}, {"", "us/op", "ns_per_op", 1e3},
	    {"", "s/iter", "ns_per_op", 1e9}, {"", "msec", "time_ns", 1e6},
	    {"", "s", "time_s", 1}, {"", "TPS", "ops_per_s", 1},
	    {"x", "ms", "x_ms", 1}};
	/* The name of a unit, and its other names, which mean the same. */
	static const char *const alike[][8] = {{"ns", "nsec", "nanoseconds"},
	    {"us", "usec", "\302\265s", "\316\274s", "microseconds"},
	    {"ms", "msec", "milliseconds"},
	    {"s", "sec", "secs", "second", "seconds"},
	    {"bytes", "B", "byte", "Bytes"}, {"percent", "%"},
	    {"per_s", "qps", "QPS", "tps", "TPS"}};
	double factor;
	char *key, want[40];

	for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
		for (size_t k = 0; k < 8 && alike[i][k]; k++) {
			key = units_key("x", alike[i][k], &factor);
			snprintf(want, sizeof want, "x_%s", alike[i][0]);
			tap_ok(strcmp(key, want) == 0 && factor == 1,
			    "x in %s is %s", alike[i][k], want);
			free(key);
		}
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		factor = NAN;
		key = units_key(of[i].name, of[i].unit, &factor);
		tap_ok(strcmp(key, of[i].key) == 0 &&
			fabs(factor / of[i].factor - 1) < 1e-12,
		    "'%s' in '%s' is %s, times %g: %s, times %g", of[i].name,
		    of[i].unit, of[i].key, of[i].factor, key, factor);
		free(key);
	}
}

static void
guesses(void)
{
	static const struct {
		const char *name, *unit;
		enum metric_better better;
	} of[] = {{"set_rps", "req/s", METRIC_HIGHER},
	    {"x_requests_per_s", "/s", METRIC_HIGHER},
	    {"bytes_per_s", "/s", METRIC_HIGHER},
	    {"Kops_per_s", "/s", METRIC_HIGHER},
	    {"x_per_s", "/s", METRIC_NEITHER},
	    {"K_per_s", "/s", METRIC_NEITHER},
	    {"ms_per_s", "/s", METRIC_NEITHER},
	    {"errors_per_s", "/s", METRIC_NEITHER},
	    {"failed_requests_per_s", "/s", METRIC_NEITHER},
	    {"failed_rps", "req/s", METRIC_NEITHER},
	    {"default_rps", "req/s", METRIC_HIGHER},
	    {"x_ms", "ms", METRIC_LOWER}, {"x_us", "us", METRIC_LOWER},
	    {"x_ns", "ns", METRIC_LOWER}, {"x_s", "s", METRIC_LOWER},
	    {"x_bytes", "B", METRIC_LOWER}, {"x_mb", "MiB", METRIC_LOWER},
	    {"x_per_req", "", METRIC_LOWER}, {"x_per_op", "", METRIC_LOWER},
	    {"x_percent", "%", METRIC_NEITHER},
	    {"x_cycles", "cycles", METRIC_LOWER},
	    {"x_instructions", "instr", METRIC_LOWER},
	    {"cache_misses", "", METRIC_LOWER},
	    {"page_faults", "", METRIC_LOWER}, {"x", "", METRIC_NEITHER}};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct metric m = metric_guess(of[i].name);

		tap_ok(strcmp(m.unit, of[i].unit) == 0 &&
			m.better == of[i].better && m.margin == .02 &&
			m.decimals == 6 && !m.gate && !m.closed,
		    "%s is guessed by its end", of[i].name);
	}
	tap_ok(metric_guess("p99_latency_ms").margin == .05,
	    "a metric of the table has its class from there");
	tap_ok(metric_is_family("cpu0_busy_percent") &&
		metric_is_family("cpu127_busy_percent"),
	    "names of the load of a core");
	tap_ok(!metric_is_family("cpu_busy_percent") &&
		!metric_is_family("cpu1_busy") &&
		!metric_is_family("cpu1_busy_percents") &&
		!metric_is_family("xcpu1_busy_percent"),
	    "names that are not the load of a core");
}

/* Which rows of the table grow with the keys. */
static void
table(void)
{
	static const char grows[] =
	    ",memory_mb,used_memory_bytes,bytes_per_key,"
	    "memory_peak_mb,used_memory_peak_bytes,"
	    "stored_bytes_per_key,memory_overhead_ratio,";
	char name[64];

	for (const struct metric *m = metric_table; m->name; m++) {
		snprintf(name, sizeof name, ",%s,", m->name);
		tap_ok(m->grows == (strstr(grows, name) != NULL),
		    "%s: whether it grows with the keys", m->name);
	}
}

/* What --metrics NAMES and a policy make of a metric: whether it is shown,
 * and\n * whether it is judged. */
static void
wanted(void)
{
	static const struct {
		const char *what, *name;
		int policy, shown, gate;
	} of[] = {{NULL, "rps", -1, 1, 1}, {NULL, "rps", 0, 1, 0},
	    {NULL, "requests", -1, 0, 0}, {NULL, "requests", 0, 0, 0},
	    {NULL, "requests", 1, 1, 1}, {"all", "requests", -1, 1, 0},
	    {"all", "rps", -1, 1, 1}, {"latency", "rps", -1, 0, 1},
	    {"latency", "avg_latency_ms", -1, 1, 0},
	    {"latency", "p50_latency_ms", -1, 1, 1},
	    {"avg_latency_ms,requests", "avg_latency_ms", -1, 1, 1},
	    {"avg_latency_ms,requests", "requests", -1, 1, 0},
	    {"avg_latency_ms,requests", "requests", 1, 1, 1},
	    {"avg_latency_ms,requests", "avg_latency_ms", 0, 1, 0},
	    {"rps2,rp,xrps", "rps", -1, 0, 1}, {"a,,rps", "rps", -1, 1, 1}};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct metric m = metric_guess(of[i].name);
		bool gate,
		    shown =
			metric_is_shown(of[i].what, &m, of[i].policy, &gate);

		tap_ok(shown == of[i].shown && (!shown || gate == of[i].gate),
		    "--metrics %s, policy %d: %s is %s",
		    of[i].what ? of[i].what : "(none)", of[i].policy,
		    of[i].name,
		    !of[i].shown     ? "left out"
			: of[i].gate ? "judged"
				     : "shown");
	}
}

/* Cases in which the faster build ends with more keys. */
static void
keys(void)
{
	static const struct {
		const char *config;
		bool differ;
	} of[] = {{"\"command\":\"SET\"", true}, {"\"command\":\"GET\"", false},
	    {"\"command\":\"get key\"", false},
	    {"\"command\":\"LRANGE_100\"", false},
	    {"\"command\":\"GET k ; INCR c\"", true},
	    {"\"command\":\"GETSET\"", true}, {"\"command\":\"GE\"", true},
	    {"\"command\":\"FT.SEARCH idx\"", false},
	    {"\"command\":\"GET\",\"requests\":5", false},
	    {"\"command\":\"SET\",\"requests\":5", false},
	    {"\"commands\":[\"SET\"]", true}, {"\"test_id\":\"x\"", true},
	    {"\"command\":\"GET\",\"commands\":[\"GET\",\"SET\"]", true}};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		char text[128];
		struct json *config;

		snprintf(
		    text, sizeof text, "{\"duration_s\":3,%s}", of[i].config);
		config = json_parse(text, strlen(text), NULL, NULL);
		tap_ok(metric_keys_differ(config) == of[i].differ,
		    "%s: the number of keys %s", text,
		    of[i].differ ? "depends on the speed" : "is the same");
		json_free(config);
		snprintf(text, sizeof text, "{%s}", of[i].config);
		config = json_parse(text, strlen(text), NULL, NULL);
		tap_ok(!metric_keys_differ(config),
		    "%s: without a duration the number of keys is the same",
		    text);
		json_free(config);
	}
}

/* Loads that wait for replies. */
static void
closed(void)
{
	struct json *none = json_object(), *rate = json_object();

	json_set_num(rate, "rate", 100);
	tap_ok(metric_is_closed(none), "the load has no rate");
	tap_ok(!metric_is_closed(rate), "the load has a rate");
	json_set_num(rate, "rate", 0);
	tap_ok(metric_is_closed(rate), "a rate of 0 means no rate");
	json_free(none);
	json_free(rate);
}

/* What was sent of what was due, and what of the time was lost before. */
static void
achieved(void)
{
	static const struct {
		struct metric_achieved of;
		double want;
	} rows[] = {{{90, 100, 0, 2}, 90}, {{90, 100, .1, 2}, 95},
	    {{120, 100, 0, 2}, 100}, {{0, 100, 0, 2}, 0},
	    {{90, 100, NAN, 2}, NAN}, {{90, NAN, 0, 2}, NAN},
	    {{90, 0, 0, 2}, NAN}};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		double v = metric_achieved_percent(&rows[i].of);

		tap_ok(isnan(rows[i].want) ? isnan(v)
					   : fabs(v - rows[i].want) < 1e-9,
		    "%g of %g requests per second: %g %%", rows[i].of.rps,
		    rows[i].of.offered_rps, rows[i].want);
	}
}

/* vkb-detect counts the values of each ratio in an array of so many. */
static void
ratios(void)
{
	size_t n = 0;

	for (const struct metric *m = metric_table; m->name; m++)
		n += m->instead_of != NULL;
	tap_ok(n == METRIC_RATIOS, "METRIC_RATIOS is the number of ratios");
}

/* Values and counts of the same runs. */
static void
counts(void)
{
	const double v[] = {NAN, 5, 7}, of[] = {3, NAN, 4};

	tap_ok(!counted_any(v, of, 2), "no run has both a value and a count");
	tap_ok(counted_any(v, of, 3), "one has");
}

/* Which parts of a load are records. */
static void
parts(void)
{
	static const struct {
		const char *i, *n;
		bool good;
	} of[] = {{"1", "1", true}, {"2", "3", true}, {"3", "3", true},
	    {"0", "3", false}, {"4", "3", false}, {"1.5", "3", false},
	    {"1", "2.5", false}, {"1", "0", false}, {"1", "1000001", false}};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		char text[200];
		struct json *rec;

		snprintf(text, sizeof text,
		    "{\"type\":\"part\",\"v\":1,\"subject\":{},\"config\":{},"
		    "\"run\":{\"session\":\"s\",\"index\":1,\"part\":{\"i\":%s,"
		    "\"n\":%s}},\"metrics\":{},\"status\":\"ok\"}",
		    of[i].i, of[i].n);
		rec = json_parse(text, strlen(text), NULL, NULL);
		tap_ok((record_check(rec, "test") == 0) == of[i].good,
		    "part %s of %s", of[i].i, of[i].n);
		json_free(rec);
	}
}

int
main(void)
{
	counts();
	parts();
	units();
	ratios();
	guesses();
	table();
	wanted();
	keys();
	closed();
	achieved();
	return tap_done();
}
