#include "metric.h"
#include "json.h"
#include "str.h"

#include <string.h>
#include <strings.h>

/*
 * Measured on a shared machine with two busy CPUs, 24 runs of one build: the
 * coefficient of variation was 3 to 9 % for CPU per request, 50 to 90 % for
 * p99.9 and 29 to 40 % for rps. So p99.9 shows only large changes.
 */
#define P999_MARGIN .25
#define CPU_MARGIN .03

#define LATENCY(n, g, m, what)                                                 \
	{                                                                      \
		.name = n "_latency_ms", .unit = "ms", .better = METRIC_LOWER, \
		.gate = g, .margin = m, .decimals = 3, .help = what            \
	}

const struct metric metric_table[] = {
    {.name = "rps",
	.unit = "req/s",
	.better = METRIC_HIGHER,
	.gate = true,
	.margin = .02,
	.decimals = 2,
	.help = "requests answered per second"},
    LATENCY("avg", false, .02, "mean latency"),
    LATENCY("min", false, .10, "smallest latency"),
    LATENCY("p50", true, .02, "median latency"),
    LATENCY("p95", false, .05, "95th percentile of latency"),
    LATENCY("p99", true, .05, "99th percentile of latency"),
    {.name = "p999_latency_ms",
	.unit = "ms",
	.better = METRIC_LOWER,
	.bound = true,
	.margin = P999_MARGIN,
	.decimals = 3,
	.help = "99.9th percentile of latency"},
    LATENCY("max", false, .25, "largest latency"),
    {.name = "requests",
	.unit = "",
	.better = METRIC_NEITHER,
	.margin = .02,
	.flat = "requests_done",
	.help = "requests answered in the measured time"},
    {.name = "elapsed_s",
	.unit = "s",
	.better = METRIC_NEITHER,
	.margin = .02,
	.decimals = 3,
	.help = "measured time"},
    {.name = "errors",
	.unit = "",
	.better = METRIC_LOWER,
	.margin = .02,
	.help = "error replies and broken connections"},
    {.name = "lost",
	.unit = "",
	.better = METRIC_LOWER,
	.margin = .02,
	.help = "requests whose connection broke; they are sent again"},
    {.name = "unanswered",
	.unit = "",
	.better = METRIC_LOWER,
	.margin = .02,
	.help = "requests without a reply until the timeout or the end"},
    {.name = "reconnects",
	.unit = "",
	.better = METRIC_LOWER,
	.margin = .02,
	.help = "connections that broke and had to be opened again"},
    {.name = "pushes",
	.unit = "",
	.better = METRIC_NEITHER,
	.margin = .1,
	.help = "push messages that the load received (RESP3)"},
    {.name = "hit_rate_percent",
	.unit = "%",
	.better = METRIC_HIGHER,
	.margin = .02,
	.decimals = 2,
	.help = "reads that found something"},
    {.name = "client_cpu_us_per_req",
	.unit = "us",
	.better = METRIC_NEITHER,
	.margin = .05,
	.decimals = 4,
	.help = "CPU time of the load client per request"},
    {.name = "server_cpu_us_per_req",
	.unit = "us",
	.better = METRIC_LOWER,
	.bound = true,
	.margin = CPU_MARGIN,
	.decimals = 4,
	.help = "CPU time of the servers per request"},
    {.name = "client_cycles_per_req",
	.unit = "cycles",
	.better = METRIC_NEITHER,
	.margin = .05,
	.decimals = 1,
	.help = "CPU cycles of the load client per request"},
    {.name = "server_cycles_per_req",
	.unit = "cycles",
	.better = METRIC_LOWER,
	.gate = true,
	.margin = .02,
	.decimals = 1,
	.help = "CPU cycles of the servers per request"},
    {.name = "server_instructions_per_req",
	.unit = "instr",
	.better = METRIC_LOWER,
	.gate = true,
	.margin = .02,
	.decimals = 1,
	.help = "instructions of the servers per request"},
    {.name = "client_busy_percent",
	.unit = "%",
	.better = METRIC_NEITHER,
	.margin = .05,
	.decimals = 1,
	.help = "utilisation of the busiest client thread"},
    {.name = "server_busy_percent",
	.unit = "%",
	.better = METRIC_NEITHER,
	.margin = .05,
	.decimals = 1,
	.help = "utilisation of the busiest server thread"},
    {.name = "foreign_cpu_percent",
	.unit = "%",
	.better = METRIC_NEITHER,
	.margin = .05,
	.decimals = 1,
	.help = "CPU used by neither client nor servers, of all CPUs"},
    {.name = "steal_percent",
	.unit = "%",
	.better = METRIC_NEITHER,
	.margin = .05,
	.decimals = 1,
	.help = "CPU time taken by the hypervisor, of all CPUs"},
    {.name = "memory_mb",
	.unit = "MiB",
	.better = METRIC_LOWER,
	.grows = true,
	.margin = .01,
	.decimals = 1,
	.help = "resident memory of the servers at the end"},
    {.name = "used_memory_bytes",
	.unit = "B",
	.better = METRIC_LOWER,
	.grows = true,
	.margin = .01,
	.help = "used_memory of the servers at the end"},
    {.name = "bytes_per_key",
	.unit = "B",
	.better = METRIC_LOWER,
	.grows = true,
	.gate = true,
	.margin = .02,
	.decimals = 1,
	.help = "used_memory_dataset of the servers over their keys, from "
		"1,000 keys on"},
    {.name = "cpu_avg_percent",
	.unit = "%",
	.better = METRIC_NEITHER,
	.margin = .05,
	.decimals = 1,
	.help = "CPU of all servers over the run; 100 is one CPU"},
    {.name = "cpu_peak_percent",
	.unit = "%",
	.better = METRIC_NEITHER,
	.margin = .05,
	.decimals = 1,
	.help = "CPU of all servers in the busiest second; 100 is one CPU"},
    {.name = "memory_peak_mb",
	.unit = "MiB",
	.better = METRIC_LOWER,
	.grows = true,
	.margin = .01,
	.decimals = 1,
	.help = "most resident memory of the servers since their start"},
    {.name = "used_memory_peak_bytes",
	.unit = "B",
	.better = METRIC_LOWER,
	.grows = true,
	.margin = .01,
	.help = "used_memory_peak of the servers"},
    {.name = "mem_fragmentation_ratio",
	.unit = "",
	.better = METRIC_LOWER,
	.margin = .02,
	.decimals = 2,
	.help = "used_memory_rss over used_memory of the servers"},
    {.name = "server_voluntary_switches_per_s",
	.unit = "/s",
	.better = METRIC_NEITHER,
	.margin = .1,
	.help = "voluntary context switches of the servers"},
    {.name = "server_involuntary_switches_per_s",
	.unit = "/s",
	.better = METRIC_LOWER,
	.margin = .1,
	.help = "involuntary context switches of the servers"},
    {.name = "client_voluntary_switches_per_s",
	.unit = "/s",
	.better = METRIC_NEITHER,
	.margin = .1,
	.help = "voluntary context switches of the client"},
    {.name = "client_involuntary_switches_per_s",
	.unit = "/s",
	.better = METRIC_NEITHER,
	.margin = .1,
	.help = "involuntary context switches of the client"},
    {.name = "freq_mhz",
	.unit = "MHz",
	.better = METRIC_NEITHER,
	.margin = .02,
	.help = "mean frequency of the CPUs"},
    {.name = "temperature_c",
	.unit = "C",
	.better = METRIC_NEITHER,
	.margin = .1,
	.decimals = 1,
	.help = "hottest sensor of the CPU"},
    {.name = "thermal_throttles",
	.unit = "",
	.better = METRIC_LOWER,
	.margin = .1,
	.help = "times that CPUs were throttled because of heat"},
    {.name = "cgroup_throttled_percent",
	.unit = "%",
	.better = METRIC_LOWER,
	.margin = .1,
	.decimals = 2,
	.help = "time that the control group was throttled by its CPU limit"},
    {.name = "offered_rps",
	.unit = "req/s",
	.better = METRIC_NEITHER,
	.margin = .02,
	.decimals = 2,
	.help = "requests per second the schedule asked for (open loop)"},
    {.name = "max_backlog",
	.unit = "",
	.better = METRIC_NEITHER,
	.margin = .1,
	.help = "most requests due and not yet written (open loop)"},
    {0}};

const struct metric *
metric_find(const char *name)
{
	for (const struct metric *m = metric_table; m->name; m++)
		if (strcmp(m->name, name) == 0)
			return m;
	return NULL;
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
metric_is_core(const char *name)
{
	size_t n;

	if (!str_starts(name, "cpu"))
		return false;
	n = strspn(name + 3, "0123456789");
	return n && strcmp(name + 3 + n, "_busy_percent") == 0;
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
	    {"_per_op", "", METRIC_LOWER}, {"_percent", "%", METRIC_NEITHER},
	    {"cycles", "cycles", METRIC_LOWER},
	    {"instructions", "instr", METRIC_LOWER},
	    {"misses", "", METRIC_LOWER}, {"faults", "", METRIC_LOWER}};
	const struct metric *known = metric_find(name);
	struct metric m = {.name = name,
	    .unit = "",
	    .better = METRIC_NEITHER,
	    .margin = .02,
	    .decimals = 6,
	    .help = ""};

	if (known)
		return *known;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (str_ends(name, units[i].suffix)) {
			m.unit = units[i].unit;
			m.better = units[i].better;
			break;
		}
	return m;
}

bool
metric_server_bound(
    const struct json *config, double runs, double server, double client)
{
	return !(json_get_num(config, "rate", 0) > 0) && client <= 0 &&
	    2 * server > runs;
}

/* Does the command only read? The command of a named test, such as LRANGE_100,
 * ends at the '_'; a mixed scenario may write. */
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

	if (!command || json_get(config, "commands"))
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

static bool
is_in_list(const char *names, const char *name)
{
	size_t n = strlen(name);

	for (const char *s = names; *s;) {
		size_t len = strcspn(s, ",");

		if (len == n && strncmp(s, name, n) == 0)
			return true;
		s += len + (s[len] == ',');
	}
	return false;
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
		shown = str_ends(m->name, "_latency_ms");
	else if (strcmp(what, "all") != 0) {
		shown = is_in_list(what, m->name);
		*gate = m->better != METRIC_NEITHER;
	}
	if (policy >= 0)
		*gate = policy;
	return shown;
}
