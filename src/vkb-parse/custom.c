/*
 * Parses two formats for results of any program: github-action-benchmark's
 * [{"name":NAME,"unit":U,"value":V}, ...], which does not say whether smaller
 * is better, and Bencher's {NAME:{MEASURE:{"value":V}}}.
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

	return first && json_type(first) == JSON_OBJECT &&
	    is_number(json_get(json_first(first), "value")) &&
	    !regression_is(j);
}

/* Bencher's own measures, whose units it fixes. */
static const struct {
	const char *measure, *name, *unit;
} measures[] = {{"latency", "time", "ns"}, {"throughput", "", "ops/s"},
    {"build-time", "build_time", "s"}, {"file-size", "file_size", "bytes"}};

static int
parse_measure(struct json *run, const struct json *m, struct source *s)
{
	const char *name = json_key(m), *unit = "";
	double factor;
	char *key;
	int rc;

	if (!is_number(json_get(m, "value")))
		return source_fail(s, "'%s.value' is not a number", name);
	for (size_t i = 0; i < sizeof measures / sizeof *measures; i++)
		if (strcmp(json_key(m), measures[i].measure) == 0) {
			name = measures[i].name;
			unit = measures[i].unit;
		}
	key = units_key(name, unit, &factor);
	rc = runs_set_metric(run, key, json_get_num(m, "value", 0) * factor,
	    json_key(m), source_where(s));
	free(key);
	return rc;
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
