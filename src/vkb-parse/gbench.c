/*
 * Parses Google Benchmark's JSON. Each entry is a run: with
 * --benchmark_repetitions=N there are N. Aggregates such as mean and median are
 * left out, since vkb-stats computes its own; one that has no other results is
 * an error.
 */
#include "err.h"
#include "json.h"
#include "mem.h"
#include "str.h"
#include "parsers.h"
#include "runs.h"
#include "source.h"

#include <stdlib.h>
#include <string.h>

bool
gbench_is(const struct json *j)
{
	const struct json *b = json_get(j, "benchmarks");
	const struct json *first = json_first(b);

	return b && json_type(b) == JSON_ARRAY &&
	    (json_get(j, "context") || json_get(first, "real_time")) &&
	    (!first || json_get(first, "name"));
}

/* Versions before 1.5 mark aggregates only by the end of their name. */
static bool
is_aggregate(const struct json *b, const struct json *list, const char *name)
{
	static const char *const ends[] = {
	    "_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS"};
	const char *other;
	size_t n;

	if (json_get(b, "aggregate_name"))
		return true;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		if (!str_ends(name, ends[i]))
			continue;
		n = strlen(name) - strlen(ends[i]);
		for (const struct json *o = json_first(list); o != b;
		     o = json_next(o)) {
			other = json_get_str(o, "name");
			if (other && strlen(other) == n &&
			    strncmp(other, name, n) == 0)
				return true;
		}
	}
	return false;
}

/* Does an entry that is not an aggregate have this name? */
static bool
has_results(const struct json *list, const char *name)
{
	for (const struct json *o = json_first(list); o; o = json_next(o)) {
		const char *other = json_get_str(o, "run_name");

		other = other ? other : json_get_str(o, "name");
		if (other && strcmp(other, name) == 0 &&
		    !json_get(o, "aggregate_name"))
			return true;
	}
	return false;
}

/* Reports, at the first of them, that a benchmark has nothing but aggregates.
 */
static int
check_aggregate(const struct json *b, const struct json *list, struct source *s)
{
	const char *name = json_get_str(b, "run_name");
	const struct json *first = json_first(list);

	if (!name || has_results(list, name))
		return 0;
	for (; first != b; first = json_next(first))
		if (json_get_str(first, "run_name") &&
		    strcmp(json_get_str(first, "run_name"), name) == 0)
			return 0;
	return source_fail(s,
	    "'%s' has only aggregates: run it without "
	    "--benchmark_report_aggregates_only, or ReportAggregatesOnly",
	    name);
}

static const struct runs_value context[] = {{"host_name", "env", "host"},
    {"num_cpus", "env", "cpus"}, {"mhz_per_cpu", "env", "cpu_mhz"},
    {"cpu_scaling_enabled", "env", "cpu_scaling"},
    {"library_build_type", "env", "benchmark_library"}, {0}};

static void
copy_context(struct json *run, const struct json *from)
{
	const char *date = json_get_str(from, "date");

	runs_copy(run, from, context);
	if (date && strlen(date) >= 19 && date[10] == 'T')
		json_set_str(json_get(run, "run"), "started", date);
}

/* Numbers of an entry that are not the user's counters. */
static const char known_keys[] =
    "iterations,real_time,cpu_time,repetitions,repetition_index,threads,"
    "family_index,per_family_instance_index";

static int
parse_gbench_metrics(struct json *run, const struct json *b, struct source *s)
{
	static const char *const times[] = {"real_time", "cpu_time"};
	struct json *m = json_get(run, "metrics");
	const char *unit = json_get_str(b, "time_unit");
	double ns;
	char *key;
	int rc = 0;

	unit = unit ? unit : "ns";
	ns = strcmp(unit, "ns") == 0  ? 1
	    : strcmp(unit, "us") == 0 ? 1e3
	    : strcmp(unit, "ms") == 0 ? 1e6
	    : strcmp(unit, "s") == 0  ? 1e9
				      : 0;
	if (ns == 0)
		return source_fail(
		    s, "'time_unit' is '%s', not one of ns, us, ms, s", unit);
	for (size_t i = 0; i < 2; i++) {
		const struct json *t = json_get(b, times[i]);

		if (!t || json_type(t) == JSON_NULL)
			continue;
		if (json_type(t) != JSON_NUMBER)
			return source_fail(s, "'%s' is not a number", times[i]);
		key = mem_printf("%s_ns", times[i]);
		json_set_num(m, key, json_num(t, 0) * ns);
		free(key);
	}
	for (const struct json *c = json_first(b); c; c = json_next(c)) {
		if (json_type(c) != JSON_NUMBER ||
		    str_has_part(known_keys, json_key(c), ','))
			continue;
		rc |= runs_set_value(run, json_key(c), "", json_num(c, 0),
		    json_key(c), source_where(s));
	}
	return rc;
}

static int
parse_gbench_entry(const struct json *b, const char *name,
    const struct json *ctx, struct source *s, struct runs *runs)
{
	struct json *run = runs_new_run(name);
	const char *why = json_get_str(b, "error_message");

	copy_context(run, ctx);
	why = why ? why : json_get_str(b, "skip_message");
	if (json_get_bool(b, "error_occurred", false) ||
	    json_get_bool(b, "skipped", false)) {
		json_set_str(run, "status", "failed");
		json_set_str(run, "error", why ? why : "no reason given");
	} else if (parse_gbench_metrics(run, b, s) < 0) {
		json_free(run);
		return -1;
	}
	return runs_add(runs, run, source_where(s));
}

int
gbench_parse_json(const struct json *j, struct source *s, struct runs *runs)
{
	const struct json *list = json_get(j, "benchmarks");
	const struct json *ctx = json_get(j, "context");
	size_t i = 0, aggregates = 0;
	int rc = 0;

	for (const struct json *b = json_first(list); b; b = json_next(b)) {
		const char *name = json_get_str(b, "name");

		source_set_part(s, mem_printf("benchmarks[%zu]", i++));
		if (!name)
			rc = source_fail(s, "'name' is missing");
		else if (is_aggregate(b, list, name)) {
			aggregates++;
			rc |= check_aggregate(b, list, s);
		} else
			rc |= parse_gbench_entry(b, name, ctx, s, runs);
	}
	if (rc == 0 && i == aggregates)
		rc = err_fail(aggregates
			? "%s: only aggregates: run the benchmark without "
			  "--benchmark_report_aggregates_only"
			: "%s: there are no results",
		    source_name(s));
	return rc;
}
