#include "formats.h"
#include "benchcsv.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "parsers.h"
#include "record.h"
#include "resultsdir.h"
#include "runs.h"
#include "source.h"
#include "str.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Recognizes what other tools print that vkb-parse does not read, and says
 * which of their options, or which filter, makes of it what is read.
 */

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

/* Returns what a user is to do, or NULL if the text is not known. 'head' is the
 * beginning of an input; colours in it do not matter. Caller frees. */
static char *
advise_foreign(const char *head)
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

#define HEAD 65536
#define CRITERION_DEPTH 8 /* GROUP/FUNCTION/VALUE/new, and above */

const struct format formats[] = {
    {"records", "run records of vkb", .lines = true, .is_text = records_is,
	.parse_text = records_parse_text},
    {"flat", "metrics.json of the Python tool", .is_json = records_is_flat,
	.parse_json = records_parse_flat},
    {"table", "rows of the tables of the Python tool, as CSV",
	.is_text = table_is, .parse_text = table_parse_text},
    {"valkey-csv", "valkey-benchmark --csv", .is_text = benchcsv_is,
	.parse_text = benchtext_parse_csv},
    {"valkey-text", "what valkey-benchmark prints", .is_text = benchtext_is,
	.parse_text = benchtext_parse_text},
    {"memtier", "memtier_benchmark --json-out-file", .is_json = memtier_is,
	.parse_json = memtier_parse_json},
    {"gbench", "Google Benchmark, JSON", .is_json = gbench_is,
	.parse_json = gbench_parse_json},
    {"criterion", "criterion, estimates.json or sample.json",
	.is_json = criterion_is, .parse_json = criterion_parse_json},
    {"hyperfine", "hyperfine --export-json", .is_json = lists_is_hyperfine,
	.parse_json = lists_parse_hyperfine},
    {"pytest", "pytest-benchmark --benchmark-json", .is_json = lists_is_pytest,
	.parse_json = lists_parse_pytest},
    {"jmh", "JMH -rf json", .is_json = lists_is_jmh,
	.parse_json = lists_parse_jmh},
    {"custom", "[{\"name\":NAME,\"unit\":U,\"value\":V}, ...]",
	.is_json = custom_is, .parse_json = custom_parse_json},
    {"smaller-is-better", "the same, with units of any kind",
	.parse_json = custom_parse_smaller},
    {"bigger-is-better", "the same, with units of any kind",
	.parse_json = custom_parse_bigger},
    {"bmf", "Bencher Metric Format", .is_json = custom_is_bmf,
	.parse_json = custom_parse_bmf},
    {"regression", "{\"metrics\":{NAME:{\"value\":V,\"unit\":U}}}",
	.is_json = custom_is_regression, .parse_json = custom_parse_regression},
    {"perf-stat", "perf stat -x, or -j", .lines = true, .is_text = perfstat_is,
	.parse_text = perfstat_parse_text},
    {"hdr-log", "HdrHistogram interval log", .is_text = hdrlog_is,
	.parse_text = hdrlog_parse_text},
    {"go-bench", "go test -bench, with or without -json", .maps = true,
	.lines = true, .is_text = gobench_is, .parse_text = gobench_parse_text},
    {"columns", "any CSV, with --columns", .maps = true,
	.parse_text = table_parse_columns},
    {0}};

/* Returns "records, flat, ...". Caller frees. */
static char *
list_names(void)
{
	struct str s = {0};

	for (const struct format *f = formats; f->name; f++)
		str_printf(&s, "%s%s", f == formats ? "" : ", ", f->name);
	return str_take(&s);
}

int
formats_find(const char *name, const struct format **f)
{
	char *names;

	*f = NULL;
	if (!name || strcmp(name, "auto") == 0)
		return 0;
	for (*f = formats; (*f)->name; ++*f)
		if (strcmp((*f)->name, name) == 0)
			return 0;
	names = list_names();
	err_say("option '--from': '%s' is not one of auto, %s", name, names);
	free(names);
	return -1;
}

/*
 * Returns the only format of the JSON value or, if that is NULL, of the text
 * that begins with 'head'. NULL if there is none or many (error reported).
 */
static const struct format *
detect_format(struct source *s, const char *head, const struct json *j)
{
	const struct format *found = NULL;
	size_t n = strcspn(head, "\r\n");
	char *advice;

	for (const struct format *f = formats; f->name; f++) {
		if (j ? !f->is_json || !f->is_json(j)
		      : !f->is_text || !f->is_text(head))
			continue;
		if (found) {
			source_fail(s,
			    "the format may be %s or %s; choose with --from",
			    found->name, f->name);
			return NULL;
		}
		found = f;
	}
	if (found)
		return found;
	advice = advise_foreign(head);
	if (advice)
		source_fail(s, "%s", advice);
	else
		source_fail(s,
		    "unknown format: the input begins with '%.*s'\n"
		    "'vkb help parse' lists the formats; any CSV is read "
		    "with --columns",
		    (int)(n < 40 ? n : 40), head);
	free(advice);
	return NULL;
}

/* Writes all of the input, unless it is NULL, as a record. */
static int
write_raw_record(struct source *s, const struct format *f, const char *all,
    size_t n, struct runs *runs)
{
	return all ? runs_write_record(
			 runs, record_raw(f->name, source_name(s), all, n))
		   : 0;
}

/* Reads one of the JSON values of an input. Returns 0 or -1. */
static int
read_json_value(struct source *s, const struct format *f, const char *head,
    const char *all, size_t n, struct runs *runs)
{
	struct json *j = source_parse_json(s);
	int rc = -1;

	if (j && !f)
		f = detect_format(s, head, j);
	if (j && f && write_raw_record(s, f, all, n, runs) == 0)
		rc = !f->is_json || f->is_json(j)
		    ? f->parse_json(j, s, runs)
		    : source_fail(s,
			  "the input is not in the format "
			  "'%s' (%s)",
			  f->name, f->what);
	json_free(j);
	return rc;
}

/* Reads JSON values, of which 'cat' may have joined those of several files. */
static int
read_json_format(struct source *s, const struct format *f, const char *head,
    const char *all, size_t n, struct runs *runs)
{
	int rc = read_json_value(s, f, head, all, n, runs);

	while (rc == 0 && source_has_more(s))
		rc = read_json_value(s, f, head, NULL, 0, runs);
	return rc;
}

static int
read_text_format(struct source *s, const struct format *f, const char *all,
    size_t n, struct runs *runs)
{
	size_t before = runs_count(runs);

	if (write_raw_record(s, f, all, n, runs) < 0 ||
	    f->parse_text(s, runs) < 0)
		return -1;
	if (runs_count(runs) == before && f->parse_text != records_parse_text)
		return err_fail("%s: there are no results", source_name(s));
	return 0;
}

/* Does JSON begin here? Lists of results have objects; "[OVERALL]" is text. */
static bool
begins_json(const char *p)
{
	if (*p == '[')
		p += 1 + strspn(p + 1, " \t\r\n");
	else
		return *p == '{';
	return *p == '{' || *p == ']' || !*p;
}

static int
read_source(
    struct source *s, const struct format *f, bool raw, struct runs *runs)
{
	size_t n, columns = runs_columns(runs)->n;
	const char *p = source_peek(s, raw ? SIZE_MAX : HEAD, &n);
	char *all, *head;
	int rc = -1;

	if (!p)
		return -1;
	if (!n && (!f || f->parse_json))
		return source_fail(s, "the input is empty");
	all = raw ? mem_strn(p, n) : NULL;
	head = mem_strn(p, n < HEAD ? n : HEAD);
	p = head + (str_starts(head, "\xef\xbb\xbf") ? 3 : 0);
	p += strspn(p, " \t\r\n");
	for (const struct format *l = formats; !f && l->name; l++)
		if (l->lines && *p == '{' && l->is_text(p))
			f = l;
	if (columns && f && !f->maps) {
		source_fail(
		    s, "--columns does not apply to the format '%s'", f->name);
	} else if (f ? !!f->parse_json : !columns && begins_json(p)) {
		rc = read_json_format(s, f, p, all, n, runs);
	} else {
		if (!f && columns)
			formats_find(
			    gobench_is(p) ? "go-bench" : "columns", &f);
		if (!f)
			f = detect_format(s, p, NULL);
		if (f)
			rc = read_text_format(s, f, all, n, runs);
	}
	free(all);
	free(head);
	return rc;
}

/* What formats_read needs for each file of a folder. */
struct folder_reader {
	const struct format *f;
	bool raw;
	struct runs *runs;
	struct json *unread; /* errors of folders that could not be read */
};

static int
read_results_file(void *arg, const char *path, const char *ref)
{
	const struct folder_reader *r = arg;
	int rc;

	runs_set_ref(r->runs, ref);
	rc = formats_read(path, r->f, r->raw, r->runs);
	runs_set_ref(r->runs, NULL);
	return rc;
}

static int
may_be_folder(const struct dirent *e)
{
	return e->d_name[0] != '.' &&
	    (e->d_type == DT_DIR || e->d_type == DT_UNKNOWN);
}

/* Is it a folder? Some file systems say it only when they are asked. */
static bool
is_folder(const struct dirent *e, const char *path)
{
	struct stat st;

	return e->d_type == DT_DIR ||
	    (lstat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

/* Reads the best file of a benchmark's newest samples. False: there is none. */
static bool
read_newest(struct folder_reader *r, const char *dir, int *rc)
{
	static const char *const files[] = {"sample", "estimates"};
	bool read = false;

	for (size_t i = 0; !read && i < 2; i++) {
		char *file = mem_printf("%s/%s.json", dir, files[i]);

		read = access(file, F_OK) == 0 ||
		    (errno != ENOENT && errno != ENOTDIR);
		if (read)
			*rc |= formats_read(file, r->f, r->raw, r->runs);
		free(file);
	}
	return read;
}

/* Reads criterion's .../new/sample.json, or estimates.json, below a folder.
 * Returns how many there are; *rc is -1 after an error. */
static size_t
read_criterion(struct folder_reader *r, const char *dir, int depth, int *rc)
{
	struct dirent **all = NULL;
	int n = depth ? scandir(dir, &all, may_be_folder, alphasort) : 0;
	size_t found = 0;

	/* of the first folder resultsdir_each says it */
	if (n < 0 && depth < CRITERION_DEPTH) {
		char *why =
		    mem_printf("cannot read '%s': %s", dir, strerror(errno));

		json_push(r->unread, json_string(why));
		free(why);
	}
	for (int i = 0; i < n; i++) {
		bool is_new = strcmp(all[i]->d_name, "new") == 0;
		char *path = mem_printf("%s/%s", dir, all[i]->d_name);

		if (is_new && read_newest(r, path, rc))
			found++;
		else if (is_folder(all[i], path))
			found += read_criterion(r, path, depth - 1, rc);
		free(path);
		free(all[i]);
	}
	free(all);
	return found;
}

/* A folder that cannot be read matters to criterion's, which may lack a
 * benchmark, and where nothing was found; a folder of results may have others.
 */
int
formats_read_folder(
    const char *dir, const struct format *f, bool raw, struct runs *runs)
{
	struct folder_reader r = {f, raw, runs, json_array()};
	int rc = 0;

	if (read_criterion(&r, dir, CRITERION_DEPTH, &rc) == 0)
		rc = resultsdir_each(dir, read_results_file, &r);
	else if (json_first(r.unread))
		rc = -1;
	for (const struct json *u = rc < 0 ? json_first(r.unread) : NULL; u;
	     u = json_next(u))
		err_say("%s", json_str(u));
	json_free(r.unread);
	return rc;
}

int
formats_read(
    const char *file, const struct format *f, bool raw, struct runs *runs)
{
	struct source *s = source_open(file);
	int rc = s ? read_source(s, f, raw, runs) : -1;

	source_close(s);
	return rc;
}
