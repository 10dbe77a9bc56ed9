/*
 * Parses three formats for results of any program: github-action-benchmark's
 * [{"name":NAME,"unit":U,"value":V}, ...], which does not say whether smaller
 * is better, Bencher's {NAME:{MEASURE:{"value":V}}}, and {"timestamp":T,
 * "metrics":{NAME:{"value":V,"unit":U}}, "metadata":{...}}.
 */
#include "json.h"
#include "mem.h"
#include "metric.h"
#include "parsers.h"
#include "runs.h"
#include "source.h"
#include "str.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

static bool
is_number(const struct json *j)
{
	return j && json_type(j) == JSON_NUMBER;
}

static bool
is_null(const struct json *j)
{
	return j && json_type(j) == JSON_NULL;
}

bool
custom_is(const struct json *j)
{
	const struct json *first =
	    json_type(j) == JSON_ARRAY ? json_first(j) : NULL;

	return json_get_str(first, "name") && json_get_str(first, "unit") &&
	    is_number(json_get(first, "value"));
}

/*
 * Does this key of a unit say whether smaller is better? Not if its rate is of
 * anything but a kind of work or of cost: "failed requests/s", "hits/op".
 */
static bool
says_direction(const char *key, const struct metric *m)
{
	static const char costs[] =
	    "ns,us,ms,s,bytes,allocs,allocations,cycles,instructions,misses,"
	    "faults,errors,failures";
	const char *per = strstr(key, "_per_");
	char *counted;
	bool says = m->better != METRIC_NEITHER;

	if (!per || metric_find(key))
		return says;
	counted = mem_strn(key, (size_t)(per - key));
	says = says &&
	    (m->better == METRIC_HIGHER ? !strchr(counted, '_')
					: str_has_part(costs, counted, ','));
	free(counted);
	return says;
}

/*
 * Returns the key of a value in this unit: that of a metric that is judged and
 * has this direction, or else smaller_is_better or bigger_is_better, and then
 * 'unit' is configuration. NULL: neither is known. Caller frees.
 */
static char *
find_key(const char *unit, enum metric_better better, double *factor)
{
	char *named = units_key("value", unit, factor);
	char *key = units_key("", unit, factor);
	struct metric m = metric_guess(metric_find(key) ? key : named);

	if (better == METRIC_NEITHER && says_direction(key, &m))
		better = m.better;
	if (better != m.better || !m.gate) {
		free(key);
		*factor = 1;
		key = better == METRIC_NEITHER
		    ? NULL
		    : mem_printf("%s_is_better",
			  better == METRIC_LOWER ? "smaller" : "bigger");
	}
	free(named);
	return key;
}

static int
parse_custom_entry(const struct json *e, enum metric_better better,
    struct source *s, struct runs *runs)
{
	const char *name = json_get_str(e, "name");
	const char *unit = json_get_str(e, "unit");
	const struct json *v = json_get(e, "value");
	struct json *run;
	double factor;
	char *key;

	if (!name || !unit || !is_number(v))
		return source_fail(s, "'%s' is missing, or is not a %s",
		    !name       ? "name"
			: !unit ? "unit"
				: "value",
		    name && unit ? "number" : "text");
	key = find_key(unit, better, &factor);
	if (!key)
		return source_fail(s,
		    "the unit '%s' does not say whether smaller is better: use "
		    "--from smaller-is-better, or bigger-is-better",
		    unit);
	run = runs_new_run(name);
	if (!metric_find(key)->unit[0])
		json_set_str(json_get(run, "config"), "unit", unit);
	runs_set_metric(
	    run, key, json_num(v, 0) * factor, unit, source_where(s));
	free(key);
	return runs_add(runs, run, source_where(s));
}

static int
parse_custom(const struct json *j, enum metric_better better, struct source *s,
    struct runs *runs)
{
	size_t i = 0;
	int rc = 0;

	for (j = json_type(j) == JSON_ARRAY ? json_first(j) : NULL; j;
	     j = json_next(j)) {
		source_set_part(s, mem_printf("[%zu]", i++));
		rc |= parse_custom_entry(j, better, s, runs);
	}
	return i ? rc : source_fail(s, "there are no results");
}

int
custom_parse_json(const struct json *j, struct source *s, struct runs *runs)
{
	return parse_custom(j, METRIC_NEITHER, s, runs);
}

int
custom_parse_smaller(const struct json *j, struct source *s, struct runs *runs)
{
	return parse_custom(j, METRIC_LOWER, s, runs);
}

int
custom_parse_bigger(const struct json *j, struct source *s, struct runs *runs)
{
	return parse_custom(j, METRIC_HIGHER, s, runs);
}

bool
custom_is_bmf(const struct json *j)
{
	const struct json *first =
	    json_type(j) == JSON_OBJECT ? json_first(j) : NULL;

	if (!first || json_type(first) != JSON_OBJECT ||
	    !is_number(json_get(json_first(first), "value")) ||
	    custom_is_regression(j))
		return false;
	/* other tools have objects with and without a value beside another */
	for (const struct json *m = json_first(first); m; m = json_next(m))
		if (!json_get(m, "value"))
			return false;
	return true;
}

/* Bencher's own measures, whose units it fixes. */
static const struct {
	const char *measure, *name, *unit;
} measures[] = {{"latency", "time", "ns"}, {"throughput", "", "ops/s"},
    {"build-time", "build_time", "s"}, {"file-size", "file_size", "bytes"}};

/* Sets a metric from {"value":V}, which messages call PREFIX.NAME.value. */
static int
set_measure(struct json *run, const struct json *m, const char *name,
    const char *unit, const char *prefix, struct source *s)
{
	const struct json *v = json_get(m, "value");

	return is_number(v) ? runs_set_value(run, name, unit, json_num(v, 0),
				  json_key(m), source_where(s))
			    : source_fail(s, "'%s%s.value' is not a number",
				  prefix, json_key(m));
}

static int
parse_measure(struct json *run, const struct json *m, struct source *s)
{
	for (size_t i = 0; i < sizeof measures / sizeof *measures; i++)
		if (strcmp(json_key(m), measures[i].measure) == 0)
			return set_measure(
			    run, m, measures[i].name, measures[i].unit, "", s);
	return set_measure(run, m, json_key(m), "", "", s);
}

int
custom_parse_bmf(const struct json *j, struct source *s, struct runs *runs)
{
	int rc = 0;

	for (j = json_first(j); j; j = json_next(j)) {
		struct json *run;

		source_set_part(s, mem_printf("%s", json_key(j)));
		if (source_check_object(s, json_key(j), j) < 0) {
			rc = -1;
			continue;
		}
		run = runs_new_run(json_key(j));
		for (const struct json *m = json_first(j); m; m = json_next(m))
			rc |= parse_measure(run, m, s);
		rc |= runs_add(runs, run, source_where(s));
	}
	return rc;
}

/* --- results of regression frameworks: a file is one run */

bool
custom_is_regression(const struct json *j)
{
	const struct json *m = json_get(j, "metrics");

	m = m && json_type(m) == JSON_OBJECT ? json_first(m) : NULL;
	return m && json_get(m, "value") &&
	    (json_get(m, "unit") || json_get(j, "metadata"));
}

/* Copies what names the subject; the rest belongs to the environment. */
static void
copy_metadata(struct json *run, const struct json *from)
{
	static const char *const known[][2] = {{"git_commit", "commit"},
	    {"commit", "commit"}, {"branch", "ref"}, {"git_branch", "ref"}};

	for (const struct json *j = json_first(from); j; j = json_next(j)) {
		const char *section = "env", *key = json_key(j);

		for (size_t i = 0; i < sizeof known / sizeof *known; i++)
			if (strcmp(json_key(j), known[i][0]) == 0) {
				section = "subject";
				key = known[i][1];
			}
		if (!is_null(j))
			json_set(json_get(run, section), key, json_dup(j));
	}
}

int
custom_parse_regression(
    const struct json *j, struct source *s, struct runs *runs)
{
	const struct json *metadata = json_get(j, "metadata");
	struct json *run = runs_new_run(NULL);
	int rc = source_check_object(s, "metadata", metadata);

	if (rc == 0)
		copy_metadata(run, metadata);
	json_set_str(
	    json_get(run, "run"), "started", json_get_str(j, "timestamp"));
	for (const struct json *m = json_first(json_get(j, "metrics")); m;
	     m = json_next(m))
		if (!is_null(json_get(m, "value"))) /* unknown */
			rc |= set_measure(run, m, json_key(m),
			    json_get_str(m, "unit") ? json_get_str(m, "unit")
						    : "",
			    "metrics.", s);
	return runs_add(runs, run, source_where(s)) < 0 ? -1 : rc;
}
