#include "foreign.h"
#include "mem.h"
#include "str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The text of a tool has both marks. */
struct foreign {
	const char *tool, *marks[2];
	const char *todo;    /* for the user; NULL: there is a filter */
	const char *filter;  /* makes results of it: JSON, or a CSV of */
	const char *columns; /* these */
};

#define JSON_OF(list) "jq '[" list "]'"
#define ONE_VALUE(pattern, column, value) \
	"awk '" pattern " {print \"" column "\"; print " value "}'"
#define NAMED(column) "config.command=name," column "=" column
#define HYPERFINE "run it with --export-json FILE"
#define GBENCH "run it with --benchmark_format=json"
#define JMH "run it with -rf json"
#define BENCHSTAT "give vkb-parse what go test has printed"
#define BDN "run it with --exporters json"
#define ASV "give vkb-parse the results/MACHINE/COMMIT-ENVIRONMENT.json of it"
#define K6 "run it with --summary-export FILE"
#define VEGETA "let 'vegeta report -type json' read its results"
#define FIO "run it with --output-format json"
#define PROCESS "'vkb-run --time COMMAND' measures a process"

/* The first that matches is meant. A test runs each filter. */
static const struct foreign tools[] = {
    {"hyperfine", {"Benchmark ", "  Time ("}, HYPERFINE, 0, 0},
    {"hyperfine", {"| Command | Mean [", ""}, HYPERFINE, 0, 0},
    {"hyperfine", {"command,mean,stddev,median,user", ""}, HYPERFINE, 0, 0},
    {"Google Benchmark", {"Time             CPU   Iterations", ""}, GBENCH, 0,
	0},
    {"Google Benchmark", {"name,iterations,real_time,cpu_time", ""}, GBENCH, 0,
	0},
    {"pytest-benchmark", {"Name (time in ", "Rounds"},
	"run it with --benchmark-json FILE", 0, 0},
    {"JMH", {"# JMH version:", ""}, JMH, 0, 0},
    {"JMH", {"Mode  Cnt ", "Units"}, JMH, 0, 0},
    {"JMH", {"\"Benchmark\",\"Mode\",\"Threads\"", ""}, JMH, 0, 0},
    {"memtier_benchmark", {"Hits/sec", "KB/sec"},
	"run it with --json-out-file FILE", 0, 0},
    {"criterion", {" time:   [", ""},
	"give vkb-parse the folder target/criterion", 0, 0},
    {"cargo-criterion", {"\"reason\":\"benchmark-complete\"", ""}, 0,
	"jq -s '[.[] | select(.typical) | {name: .id, unit: .typical.unit, "
	"value: .typical.estimate}]'",
	0},
    {"libtest", {"test ", " ns/iter (+/- "}, 0,
	"awk -F ' [.][.][.] bench: *' 'BEGIN {print \"name;ns_per_op\"} "
	"sub(/ ns.iter.*/, \"\") && sub(/^test /, \"\") {gsub(/,/, \"\", $2); "
	"sub(/ *$/, \"\", $1); print $1 \";\" $2}'",
	NAMED("ns_per_op")},
    {"divan", {"fastest", "\342\224\202 slowest"}, PROCESS, 0, 0},
    {"benchstat", {"vs base", ""}, BENCHSTAT, 0, 0},
    {"benchstat", {"old time/op", "delta"}, BENCHSTAT, 0, 0},
    {"perf stat", {"Performance counter stats for", ""},
	"run it with -x\\; or -j", 0, 0},
    {"perf stat with decimal commas", {",msec,task-clock,", ""},
	"run it with LC_ALL=C, or with -x\\;", 0, 0},
    {"perf bench", {"# Running '", "Total time:"}, 0,
	ONE_VALUE("/Total time:/", "time_s", "$3"), "time_s=time_s"},
    {"perf bench", {"# function '", "\n"}, 0,
	"awk '/^# function/ {n = $3} /^[0-9.]+$/ {print h n \";\" $1; h = "
	"\"\"} BEGIN {h = \"name;bytes_per_s\\n\"}'",
	NAMED("bytes_per_s")},
    {"time", {"Elapsed (wall clock) time", "Maximum resident set"}, PROCESS, 0,
	0},
    {"time", {"real\t", "user\t"}, PROCESS, 0, 0},
    {"wrk", {"Thread Stats", "Requests/sec:"}, 0,
	ONE_VALUE("/^Requests.sec:/", "rps", "$2"), "rps=rps"},
    {"ab", {"This is ApacheBench", "Requests per second:"}, 0,
	ONE_VALUE("/^Requests per second:/", "rps", "$4"), "rps=rps"},
    {"ab", {"Percentage served,Time in ms", ""},
	"give vkb-parse what it prints without -e", 0, 0},
    {"hey or oha", {"Slowest:", "Requests/sec:"}, 0,
	ONE_VALUE("/Requests.sec:/", "rps", "$2"), "rps=rps"},
    {"hey", {"response-time,DNS+dialup", ""},
	"give vkb-parse what it prints without -o csv", 0, 0},
    {"oha", {"\"requestsPerSec\":", "\"latencyPercentiles\""}, 0,
	JSON_OF("{name: \"oha\", unit: \"req/s\", value: "
		".summary.requestsPerSec}, {name: \"oha p50\", unit: \"s\", "
		"value: .latencyPercentiles.p50}"),
	0},
    {"autocannon", {"Req/Bytes counts sampled", ""}, "run it with --json", 0,
	0},
    {"autocannon", {"\"sampleInt\":", "\"requests\":"}, 0,
	JSON_OF("{name: .url, unit: \"req/s\", value: .requests.average}, "
		"{name: (.url + \" p50\"), unit: \"ms\", value: .latency.p50}"),
	0},
    {"k6", {"\"type\":\"Point\"", "\"metric\":"}, K6, 0, 0},
    {"k6", {"http_req_duration", ": avg="}, K6, 0, 0},
    {"k6", {"\"http_req_duration\"", "\"http_reqs\""}, 0,
	"jq '.metrics | [{name: \"http_reqs\", unit: \"req/s\", value: "
	"(.http_reqs | .rate // .values.rate)}, {name: \"http_req_duration\", "
	"unit: \"ms\", value: (.http_req_duration | .med // .values.med)}]'",
	0},
    {"vegeta", {"Latencies     [min", ""}, VEGETA, 0, 0},
    {"vegeta", {"\"attack\":", "\"latency\":"}, VEGETA, 0, 0},
    {"vegeta", {"\"latencies\":", "\"50th\":"}, 0,
	JSON_OF("{name: \"throughput\", unit: \"req/s\", value: .throughput}, "
		"{name: \"p50\", unit: \"ns\", value: .latencies.\"50th\"}"),
	0},
    {"fio", {"Run status group", "bw="}, FIO, 0, 0},
    {"fio", {";fio-", ""}, FIO, 0, 0},
    {"fio", {"\"fio version\"", "\"jobs\""}, 0,
	JSON_OF(".jobs[] | .jobname as $n | {read, write} | to_entries[] | "
		"select(.value.iops > 0) | {name: ($n + \" \" + .key), unit: "
		"\"ops/s\", value: .value.iops}"),
	0},
    {"sysbench", {"sysbench ", "total number of events:"}, 0,
	"awk '/total time:/ {t = $3} /total number of events:/ {printf "
	"\"ops_per_s\\n%.3f\\n\", $5 / t}'",
	"ops_per_s=ops_per_s"},
    {"pgbench", {"transaction type:", "tps = "}, 0,
	"awk '/^tps = / {t = $3} END {print \"ops_per_s\"; print t}'",
	"ops_per_s=ops_per_s"},
    {"YCSB", {"[OVERALL], Throughput(ops/sec)", ""}, 0,
	"awk '/OVERALL.*Throughput/ {print \"ops_per_s\"; print $3}'",
	"ops_per_s=ops_per_s"},
    {"Catch2", {"benchmark name", "est run time"}, "run it with -r xml", 0, 0},
    {"Catch2", {"<BenchmarkResults", ""}, 0,
	"awk -F'\"' 'BEGIN {print \"name;time_ns\"} /<BenchmarkResults/ {n = "
	"$2} /<mean / {print n \";\" $2}'",
	NAMED("time_ns")},
    {"nanobench", {"\"median(elapsed)\"", ""}, 0,
	JSON_OF(".results[] | {name, unit: \"s/op\", value: "
		"(.\"median(elapsed)\" / .batch)}"),
	0},
    {"nanobench", {"err%", "benchmark"},
	"render its results with templates::json()", 0, 0},
    {"nanobench", {"\"title\";\"name\";\"unit\";\"batch\"", ""},
	"render its results with templates::json()", 0, 0},
    {"BenchmarkDotNet", {"\"BenchmarkDotNetVersion\"", ""}, 0,
	JSON_OF(".Benchmarks[] | {name: .FullName, unit: \"ns\", value: "
		".Statistics.Median}"),
	0},
    {"BenchmarkDotNet", {"BenchmarkDotNet v", ""}, BDN, 0, 0},
    {"BenchmarkDotNet", {"Method,Job,", "Mean"}, BDN, 0, 0},
    {"asv", {"\"commit_hash\"", "\"result_columns\""}, 0,
	JSON_OF(".results | to_entries[] | select(.value[0] | length == 1) | "
		"{name: .key, unit: \"s\", value: .value[0][0]}"),
	0},
    {"asv", {"For project commit ", ""}, ASV, 0, 0},
    {"asv", {"| Change ", "| Before ["}, ASV, 0, 0},
    {"vitest", {"\"benchmarks\":", "\"hz\":"}, 0,
	JSON_OF(".files[].groups[] | .fullName as $g | .benchmarks[] | {name: "
		"($g + \" > \" + .name), unit: \"ms\", value: .mean}"),
	0},
    {"vitest", {" BENCH ", " hz "}, "run it with --outputJson FILE", 0, 0},
    {"mitata", {"\"layout\":", "\"alias\":"}, 0,
	JSON_OF(".benchmarks[].runs[] | {name, unit: \"ns\", value: "
		".stats.p50}"),
	0},
    {"mitata", {"(min \342\200\246 max)", "p99"},
	"call run({format: \"json\"})", 0, 0},
    {"tinybench", {"Task name", "Latency avg"},
	"print JSON.stringify(bench.tasks.map(t => ({name: t.name, unit: "
	"\"ms\", value: t.result.latency.p50})))",
	0, 0},
    {"benchmark.js", {" x ", " ops/sec \302\261"}, 0,
	"awk -F ' x | ops.sec' 'BEGIN {print \"name;ops_per_s\"} / ops.sec / "
	"{gsub(/,/, \"\", $2); print $1 \";\" $2}'",
	NAMED("ops_per_s")},
    {"HdrHistogram", {"1/(1-Percentile)", ""},
	"give vkb-parse the interval log, of memtier_benchmark the .hgrm", 0,
	0},
};

/* Returns the text without escape sequences that set colours. Caller frees. */
static char *
remove_colours(const char *text)
{
	char *s = mem_str(text), *to = s;

	for (const char *p = s; *p; p++) {
		if (p[0] == '\033' && p[1] == '[') {
			p += 2;
			while (*p && !isalpha((unsigned char)*p))
				p++;
			if (!*p)
				break;
			continue;
		}
		*to++ = *p;
	}
	*to = '\0';
	return s;
}

char *
foreign_advise(const char *head)
{
	char *text = remove_colours(head), *advice = NULL;

	if (str_starts(head, "\xff\xfe") || str_starts(head, "\xfe\xff"))
		advice = mem_str("the text is UTF-16: 'iconv -f utf-16 -t "
				 "utf-8' makes of it what is read");
	for (size_t i = 0; !advice && i < sizeof tools / sizeof *tools; i++) {
		const struct foreign *t = &tools[i];

		if (!strstr(text, t->marks[0]) || !strstr(text, t->marks[1]))
			continue;
		advice = t->todo
		    ? mem_printf(
			  "this output of %s is not read: %s", t->tool, t->todo)
		    : mem_printf("this output of %s is not read, but what "
				 "this filter makes of it%s%s:\n%s",
			  t->tool, t->columns ? ", with -c " : "",
			  t->columns ? t->columns : "", t->filter);
	}
	free(text);
	return advice;
}
