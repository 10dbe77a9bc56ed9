#include "metric.h"
#include "err.h"
#include "hist.h"
#include "json.h"
#include "mem.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * Measured on a shared machine with two busy CPUs, 24 runs of one build: the
 * coefficient of variation of p99.9 was 50 to 90 %, so it shows only large
 * changes.
 */
#define P999_MARGIN .25

/* Twice as many slow requests, with what rare.h adds to both sides. */
#define RARE_MARGIN (1 / 3.)

/* Changes elsewhere in a server moved the counts of a command by up to .1 %. */
#define COUNT_MARGIN .003
#define SIMULATED_MARGIN .01 /* they depend on where code and data are */

#define LATENCY(q) .hist = "latency_ns", .quantile = (q)
#define CONNECT(q) .hist = "connect_ns", .quantile = (q)

const struct metric metric_table[] = {
    {"rps", "req/s", METRIC_HIGHER, .02, 2, .label = "throughput",
	.join = METRIC_SUM, .gate = true},
    {"rps_ratio", "x", METRIC_HIGHER, .02, 4, .label = "throughput ratio",
	.instead_of = "rps"},
    {"cpu_ratio", "x", METRIC_LOWER, .02, 4, .label = "CPU ratio",
	.instead_of = "server_cpu_us_per_req"},
    {"avg_latency_ratio", "x", METRIC_LOWER, .02, 4,
	.label = "mean latency ratio", .instead_of = "avg_latency_ms"},
    {"p50_latency_ratio", "x", METRIC_LOWER, .02, 4, .label = "p50 ratio",
	.instead_of = "p50_latency_ms"},
    {"p95_latency_ratio", "x", METRIC_LOWER, .05, 4, .label = "p95 ratio",
	.instead_of = "p95_latency_ms"},
    {"p99_latency_ratio", "x", METRIC_LOWER, .05, 4, .label = "p99 ratio",
	.instead_of = "p99_latency_ms"},
    {"p999_latency_ratio", "x", METRIC_LOWER, P999_MARGIN, 4,
	.label = "p99.9 ratio", .instead_of = "p999_latency_ms"},
    {"capacity_rps", "req/s", METRIC_HIGHER, .03, 2, .label = "capacity",
	.gate = true},
    /* What other benchmarks measure: Go, Google Benchmark, criterion, hyperfine
     * and pytest, JMH, and programs of any kind. */
    {"ns_per_op", "ns", METRIC_LOWER, .02, 3, .label = "time per operation",
	.gate = true},
    {"real_time_ns", "ns", METRIC_LOWER, .02, 3, .label = "time", .gate = true},
    {"time_ns", "ns", METRIC_LOWER, .02, 3, .label = "time", .gate = true},
    {"time_s", "s", METRIC_LOWER, .02, 6, .label = "time", .gate = true},
    {"process_instructions", "instr", METRIC_LOWER, COUNT_MARGIN, 0,
	.label = "instructions", .gate = true, .exact = true},
    {"ops_per_s", "ops/s", METRIC_HIGHER, .02, 3, .label = "throughput",
	.gate = true},
    {"smaller_is_better", "", METRIC_LOWER, .02, 6, .label = "value",
	.gate = true},
    {"bigger_is_better", "", METRIC_HIGHER, .02, 6, .label = "value",
	.gate = true},
    {"avg_latency_ms", "ms", METRIC_LOWER, .02, 3, LATENCY(METRIC_MEAN),
	.join = METRIC_AVERAGE},
    {"min_latency_ms", "ms", METRIC_LOWER, .10, 3, LATENCY(0)},
    {"p50_latency_ms", "ms", METRIC_LOWER, .02, 3, LATENCY(.5), .gate = true},
    {"p95_latency_ms", "ms", METRIC_LOWER, .05, 3, LATENCY(.95)},
    {"p99_latency_ms", "ms", METRIC_LOWER, .05, 3, LATENCY(.99), .gate = true},
    {"p999_latency_ms", "ms", METRIC_LOWER, P999_MARGIN, 3, .label = "p99.9",
	LATENCY(.999), .gate = true, .rare_margin = RARE_MARGIN},
    {"max_latency_ms", "ms", METRIC_LOWER, .25, 3, LATENCY(1)},
    {"requests", "", METRIC_NEITHER, .02, 0, .join = METRIC_SUM,
	.flat = "requests_done"},
    {"elapsed_s", "s", METRIC_NEITHER, .02, 3, .label = "elapsed time"},
    {"errors", "", METRIC_LOWER, .02, 0, .join = METRIC_SUM},
    {"lost", "", METRIC_LOWER, .02, 0, .join = METRIC_SUM},
    {"unanswered", "", METRIC_LOWER, .02, 0, .join = METRIC_SUM},
    {"reconnects", "", METRIC_LOWER, .02, 0, .join = METRIC_SUM},
    {"pushes", "", METRIC_NEITHER, .1, 0, .join = METRIC_SUM},
    {"connects", "", METRIC_NEITHER, .1, 0, .join = METRIC_SUM},
    {"connects_per_s", "/s", METRIC_HIGHER, .02, 2, .join = METRIC_SUM},
    {"p50_connect_ms", "ms", METRIC_LOWER, .05, 3, CONNECT(.5)},
    {"p99_connect_ms", "ms", METRIC_LOWER, .1, 3, CONNECT(.99)},
    {"max_connect_ms", "ms", METRIC_LOWER, .25, 3, CONNECT(1)},
    {"resumed", "", METRIC_NEITHER, .1, 0, .join = METRIC_SUM},
    {"idle_clients", "", METRIC_NEITHER, .02, .decimals = 0},
    {"hit_rate_percent", "%", METRIC_HIGHER, .02, 2, .join = METRIC_AVERAGE},
    {"keyspace_hits", "", METRIC_NEITHER, .02, .decimals = 0},
    {"keyspace_misses", "", METRIC_NEITHER, .02, .decimals = 0},
    {"evicted_keys", "", METRIC_NEITHER, .1, .decimals = 0},
    {"expired_keys", "", METRIC_NEITHER, .1, .decimals = 0},
    {"verify_checked", "", METRIC_NEITHER, .02, 0, .join = METRIC_SUM},
    {"verify_missing", "", METRIC_NEITHER, .02, 0, .join = METRIC_SUM},
    {"verify_errors", "", METRIC_LOWER, .02, 0, .join = METRIC_SUM},
    {"client_cpu_us_per_req", "us", METRIC_NEITHER, .05, 4,
	.join = METRIC_AVERAGE},
    {"server_cpu_us_per_req", "us", METRIC_LOWER, .02, 4,
	.label = "CPU per request", .join = METRIC_SHARED, .closed = true},
    {"client_cycles_per_req", "cycles", METRIC_NEITHER, .05, 1,
	.join = METRIC_AVERAGE},
    {"server_cycles_per_req", "cycles", METRIC_LOWER, .02, 1,
	.label = "cycles per request", .join = METRIC_SHARED, .gate = true},
    {"server_instructions_per_req", "instr", METRIC_LOWER, .02, 1,
	.label = "instructions per request", .join = METRIC_SHARED,
	.gate = true},
    {"instructions_per_req", "instr", METRIC_LOWER, COUNT_MARGIN, 4,
	.gate = true, .exact = true},
    {"allocations_per_req", "calls", METRIC_LOWER, COUNT_MARGIN, 4,
	.gate = true, .exact = true},
    {"unfreed_allocations_per_req", "calls", METRIC_LOWER, COUNT_MARGIN, 2,
	.gate = true, .exact = true},
    {"syscalls_per_req", "calls", METRIC_LOWER, COUNT_MARGIN, 4,
	.label = "system calls per request", .gate = true, .exact = true},
    {"l1_misses_per_req", "misses", METRIC_LOWER, SIMULATED_MARGIN, 4,
	.exact = true},
    {"ll_misses_per_req", "misses", METRIC_LOWER, SIMULATED_MARGIN, 4,
	.exact = true},
    {"branch_misses_per_req", "misses", METRIC_LOWER, SIMULATED_MARGIN, 4,
	.exact = true},
    {"client_busy_percent", "%", METRIC_NEITHER, .05, .decimals = 1},
    {"server_busy_percent", "%", METRIC_NEITHER, .05, .decimals = 1},
    {"foreign_cpu_percent", "%", METRIC_NEITHER, .05, .decimals = 1},
    {"steal_percent", "%", METRIC_NEITHER, .05, .decimals = 1},
    {"memory_mb", "MiB", METRIC_LOWER, .01, 1, .grows = true},
    {"used_memory_bytes", "B", METRIC_LOWER, .01, 0, .grows = true},
    {"bytes_per_key", "B", METRIC_LOWER, .02, 1, .gate = true, .grows = true,
	.exact_margin = COUNT_MARGIN},
    {"bytes_per_client", "B", METRIC_LOWER, COUNT_MARGIN, 1, .gate = true,
	.exact = true},
    {"stored_bytes_per_key", "B", METRIC_LOWER, .02, 1, .grows = true},
    {"payload_bytes_per_key", "B", METRIC_NEITHER, .02, .decimals = 1},
    {"memory_overhead_ratio", "", METRIC_LOWER, .02, 3, .grows = true},
    {"cpu_avg_percent", "%", METRIC_NEITHER, .05, .decimals = 1},
    {"cpu_peak_percent", "%", METRIC_NEITHER, .05, .decimals = 1},
    {"memory_peak_mb", "MiB", METRIC_LOWER, .01, 1, .grows = true},
    {"used_memory_peak_bytes", "B", METRIC_LOWER, .01, 0, .grows = true},
    {"mem_fragmentation_ratio", "", METRIC_LOWER, .02, .decimals = 2},
    {"server_voluntary_switches_per_s", "/s", METRIC_NEITHER, .1,
	.decimals = 0},
    {"server_involuntary_switches_per_s", "/s", METRIC_LOWER, .1,
	.decimals = 0},
    {"client_voluntary_switches_per_s", "/s", METRIC_NEITHER, .1,
	.decimals = 0},
    {"client_involuntary_switches_per_s", "/s", METRIC_NEITHER, .1,
	.decimals = 0},
    {"freq_mhz", "MHz", METRIC_NEITHER, .02, .decimals = 0},
    {"temperature_c", "C", METRIC_NEITHER, .1, .decimals = 1},
    {"thermal_throttles", "", METRIC_LOWER, .1, .decimals = 0},
    {"cgroup_throttled_percent", "%", METRIC_LOWER, .1, .decimals = 2},
    {"offered_rps", "req/s", METRIC_NEITHER, .02, 2, .join = METRIC_SUM},
    {"achieved_percent", "%", METRIC_HIGHER, .01, .decimals = 2},
    {"max_backlog", "", METRIC_NEITHER, .1, .decimals = 0}, {0}};

const struct metric *
metric_find(const char *name)
{
	for (const struct metric *m = metric_table; m->name; m++)
		if (strcmp(m->name, name) == 0)
			return m;
	return NULL;
}

bool
metric_is_percentile(const struct metric *m, const char *hist)
{
	return m->hist && m->quantile > 0 && strcmp(m->hist, hist) == 0;
}

double
metric_tail(const char *name)
{
	const struct metric *m = metric_find(metric_base(name));

	return m && m->hist && m->quantile >= .9 ? 1 - m->quantile : 0;
}

double
metric_time(const struct metric *m, const struct hist *h)
{
	double ns = m->quantile == METRIC_MEAN ? hist_mean(h)
	    : m->quantile == 0                 ? (double)hist_min(h)
	    : m->quantile == 1                 ? (double)hist_max(h)
			       : (double)hist_quantile(h, m->quantile);

	return hist_count(h) ? ns / 1e6 : NAN;
}

void
metric_set_times(struct json *metrics, const char *name, const struct hist *h)
{
	for (const struct metric *m = metric_table; h && m->name; m++)
		if (m->hist && strcmp(m->hist, name) == 0)
			json_set_num(metrics, m->name, metric_time(m, h));
}

void
metric_write_label(struct str *s, const char *name)
{
	/* A unit stands behind the values. */
	static const char *const units[] = {"_latency_ms", "_ms", "_mb",
	    "_bytes", "_percent", "_mhz", "_c", NULL};
	const struct metric *m = metric_find(name);
	size_t n = strlen(name);

	str_add(s, "");
	if (!m || m->label) { /* options accept the name of an unknown one */
		str_add(s, m ? m->label : name);
		return;
	}
	for (size_t i = 0; units[i] && !str_ends(name, "_per_s"); i++)
		if (str_ends(name, units[i])) {
			n -= strlen(units[i]);
			break;
		}
	for (size_t i = 0; i < n; i++)
		str_addc(s, name[i] == '_' ? ' ' : name[i]);
	if (str_ends(name, "_per_req"))
		str_add(s, "uest");
}

const char *
metric_base(const char *name)
{
	const struct metric *m = metric_find(name);

	return m && m->instead_of ? m->instead_of : name;
}

const struct metric *
metric_ratio(const char *name)
{
	for (const struct metric *m = metric_table; m->name; m++)
		if (m->instead_of && strcmp(m->instead_of, name) == 0)
			return m;
	return NULL;
}

bool
metric_has_clock(const struct metric *m)
{
	const struct metric *of =
	    m->instead_of ? metric_find(m->instead_of) : m;

	return strcmp(of->unit, "ms") == 0;
}

bool
metric_has_rate(const struct json *config)
{
	const struct json *rate = json_get(config, "rate");

	return json_str(rate) || json_num(rate, 0) > 0;
}

const char *
metric_primary(const struct json *config)
{
	if (json_get(config, "slo"))
		return "capacity_rps";
	return metric_has_rate(config) ? "p99_latency_ms" : "rps";
}

bool
metric_is_time(const char *name, const struct json *config)
{
	return strcmp(metric_base(name), metric_primary(config)) == 0;
}

const char *
metric_better_name(enum metric_better better)
{
	static const char *const names[] = {
	    [METRIC_HIGHER] = "higher",
	    [METRIC_LOWER] = "lower",
	    [METRIC_NEITHER] = "neither",
	};

	return names[better];
}

bool
metric_is_family(const char *name)
{
	size_t n;

	if (str_starts(name, "cmd_"))
		return true;
	if (!str_starts(name, "cpu"))
		return false;
	n = strspn(name + 3, "0123456789");
	return n && strcmp(name + 3 + n, "_busy_percent") == 0;
}

/*
 * Is it the rate of some work, so that more is better? The word before its end
 * says what is counted: "set_requests_per_s". Errors, and what is unknown, do
 * not count as work.
 */
static bool
is_work_rate(const char *name)
{
	static const char work[] =
	    "bits,bytes,calls,commands,docs,documents,elements,files,flops,"
	    "frames,inserts,items,iter,iterations,iters,jobs,keys,lines,"
	    "lookups,"
	    "messages,msgs,op,operations,ops,packets,pages,queries,records,req,"
	    "reqs,requests,rows,samples,tasks,throughput,tokens,transactions";
	static const char *const lost[] = {"abort", "cancel", "drop", "error",
	    "evict", "failed", "failure", "lost", "miss", "reject", "retries",
	    "retry", "throttl", "timeout"};
	size_t n = strlen(name);
	struct str word = {0};
	bool is;

	for (size_t i = 0; i < sizeof lost / sizeof *lost; i++)
		if (strcasestr(name, lost[i]))
			return false;
	n -= str_ends(name, "_per_s") ? strlen("_per_s") : 0;
	while (n && name[n - 1] != '_')
		n--;
	for (const char *p = name + n; *p && *p != '_'; p++)
		str_addc(&word, *p);
	is = word.len &&
	    (str_has_part(work, word.s, ',') ||
		/* thousands of them: "Kops" */
		(strchr("kKMG", *word.s) &&
		    str_has_part(work, word.s + 1, ',')) ||
		str_ends(word.s, "rps"));
	str_free(&word);
	return is;
}

struct metric
metric_guess(const char *name)
{
	static const struct {
		const char *suffix, *unit;
		enum metric_better better;
	} units[] = {{"rps", "req/s", METRIC_HIGHER},
	    {"_per_s", "/s", METRIC_HIGHER}, {"_ms", "ms", METRIC_LOWER},
	    {"_us", "us", METRIC_LOWER}, {"_ns", "ns", METRIC_LOWER},
	    {"_s", "s", METRIC_LOWER}, {"_bytes", "B", METRIC_LOWER},
	    {"_mb", "MiB", METRIC_LOWER}, {"_per_req", "", METRIC_LOWER},
	    {"_per_op", "", METRIC_LOWER}, {"us_per_call", "us", METRIC_LOWER},
	    {"failed_calls", "", METRIC_LOWER},
	    {"rejected_calls", "", METRIC_LOWER},
	    {"_percent", "%", METRIC_NEITHER},
	    {"cycles", "cycles", METRIC_LOWER},
	    {"instructions", "instr", METRIC_LOWER},
	    {"misses", "", METRIC_LOWER}, {"faults", "", METRIC_LOWER}};
	const struct metric *known = metric_find(name);
	struct metric m = {.name = name,
	    .unit = "",
	    .better = METRIC_NEITHER,
	    .margin = .02,
	    .decimals = 6};

	if (known)
		return *known;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (str_ends(name, units[i].suffix)) {
			m.unit = units[i].unit;
			if (units[i].better != METRIC_HIGHER ||
			    is_work_rate(name))
				m.better = units[i].better;
			break;
		}
	return m;
}

double
metric_achieved_percent(const struct metric_achieved *a)
{
	double share = a->rps / a->offered_rps + a->lag_s / a->elapsed_s;

	return a->offered_rps > 0 ? 100 * (share > 1 ? 1 : share) : NAN;
}

void
metric_set_achieved(struct json *metrics)
{
	double v = metric_achieved_percent(
	    &(struct metric_achieved){json_get_num(metrics, "rps", NAN),
		json_get_num(metrics, "offered_rps", NAN),
		json_get_num(metrics, "min_latency_ms", NAN) / 1e3,
		json_get_num(metrics, "elapsed_s", NAN)});

	json_del(metrics, "achieved_percent");
	json_set_num(metrics, "achieved_percent", v);
}

bool
metric_follows_rate(const char *name, size_t n)
{
	static const char end[] = "_latency_ms";
	size_t k = sizeof end - 1;

	return n >= k && memcmp(name + n - k, end, k) == 0;
}

double
metric_foreign_weight(const struct metric *m)
{
	static const char *const times[] = {"req/s", "us", "cycles"};

	if (m->instead_of)
		return strcmp(m->instead_of, "server_cpu_us_per_req") == 0 ? .03
									   : .1;
	if (strcmp(m->unit, "ms") == 0)
		return strncmp(m->name, "p99", 3) == 0 ||
			strncmp(m->name, "max", 3) == 0
		    ? 2
		    : 1;
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		if (strcmp(m->unit, times[i]) == 0)
			return 1;
	return 0;
}

bool
metric_is_closed(const struct json *config)
{
	return !metric_has_rate(config) && !json_get(config, "slo");
}

bool
metric_is_gate(const struct metric *m, const struct json *config)
{
	if (m->instead_of)
		m = metric_find(m->instead_of);
	return m->closed ? metric_is_closed(config) : m->gate;
}

/* Does the command only read? The command of a named test, such as LRANGE_100,
 * ends at the '_'; a mixed scenario, or a list of commands, may write. */
static bool
only_reads(const struct json *config)
{
	static const char *const readers[] = {"GET", "MGET", "EXISTS", "STRLEN",
	    "PING", "ECHO", "TTL", "TYPE", "LRANGE", "LINDEX", "LLEN", "HGET",
	    "HMGET", "HGETALL", "HEXISTS", "HLEN", "SISMEMBER", "SMEMBERS",
	    "SCARD", "SRANDMEMBER", "ZSCORE", "ZRANGE", "ZRANK", "ZCARD",
	    "ZCOUNT", "XRANGE", "XLEN", "FT.SEARCH", "FT.AGGREGATE", NULL};
	const char *command = json_get_str(config, "command");
	size_t n = command ? strcspn(command, " _") : 0;

	if (!command || strchr(command, ';') || json_get(config, "commands"))
		return false;
	for (size_t i = 0; readers[i]; i++)
		if (strlen(readers[i]) == n &&
		    strncasecmp(command, readers[i], n) == 0)
			return true;
	return false;
}

bool
metric_keys_differ(const struct json *config)
{
	return json_get(config, "duration_s") &&
	    !json_get(config, "requests") && !only_reads(config);
}

bool
metric_is_shown(
    const char *what, const struct metric *m, int policy, bool *gate)
{
	bool shown = true;

	*gate = m->gate;
	if (!what)
		shown = m->gate || policy == 1;
	else if (strcmp(what, "latency") == 0)
		shown = str_ends(metric_base(m->name), "_latency_ms");
	else if (strcmp(what, "all") != 0) {
		shown = str_has_part(what, m->name, ',') ||
		    (m->instead_of && str_has_part(what, m->instead_of, ','));
		*gate = m->better != METRIC_NEITHER;
	}
	if (policy >= 0)
		*gate = policy;
	return shown;
}

int
metric_check_names(const char *what, const char *lack,
    bool (*has)(const void *arg, const char *name), const void *arg)
{
	int rc = 0;

	if (!what || strcmp(what, "all") == 0 || strcmp(what, "latency") == 0)
		return 0;
	for (size_t n; *what; what += n + (what[n] == ',')) {
		char *name;

		n = strcspn(what, ",");
		name = mem_strn(what, n);
		if (!has(arg, name))
			rc = err_fail(
			    "option '--metrics': %s has '%s'", lack, name);
		free(name);
	}
	return rc;
}
