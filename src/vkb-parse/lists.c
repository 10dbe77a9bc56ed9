/*
 * Parses JSON files that are a list of benchmarks, by a table of where each
 * tool keeps what: of hyperfine and JMH each time is a run, of pytest-benchmark
 * each benchmark.
 */
#include "json.h"
#include "mem.h"
#include "parsers.h"
#include "runs.h"
#include "source.h"
#include "str.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Paths of the file and, below 'list', of an entry. NULL: there is no such. */
struct list {
	const char *list;     /* the entries; NULL: the file itself */
	const char *marks[2]; /* what the first entry has */
	const char *name, *params;
	const char *times, *value;  /* the times, or else what sums them up */
	const char *unit;           /* of them; NULL: seconds */
	const char *others;         /* {NAME: {"score", "scoreUnit"}} */
	const char *codes, *memory; /* of each time: exit status, bytes */
	struct runs_value of_entry[8], of_file[11];
};

static const struct list hyperfine = {.list = "results",
    .marks = {"command", "mean"},
    .name = "command",
    .params = "parameters",
    .times = "times",
    .codes = "exit_codes",
    .memory = "memory_usage_byte"};

static const struct list pytest = {.list = "benchmarks",
    .marks = {"fullname", "stats"},
    .name = "fullname",
    .params = "params",
    .value = "stats.median", /* of up to 100,000 rounds of one process */
    .of_entry = {{"group", "config", "group"},
	{"stats.mean", "metrics", "mean_s"}, {"stats.min", "metrics", "min_s"},
	{0}},
    .of_file = {{"machine_info.node", "env", "host"},
	{"machine_info.machine", "env", "arch"},
	{"machine_info.cpu.brand", "env", "cpu_model"},
	{"machine_info.cpu.brand_raw", "env", "cpu_model"},
	{"machine_info.python_version", "env", "python"},
	{"commit_info.id", "subject", "commit"},
	{"commit_info.time", "subject", "time"},
	{"commit_info.dirty", "subject", "dirty"},
	{"datetime", "run", "started"}, {0}}};

static const struct list jmh = {.marks = {"benchmark", "primaryMetric"},
    .name = "benchmark",
    .params = "params",
    .times = "primaryMetric.rawData",
    .value = "primaryMetric.score",
    .unit = "primaryMetric.scoreUnit",
    .others = "secondaryMetrics",
    .of_entry = {{"mode", "config", "mode"}, {"threads", "config", "threads"},
	{"vmName", "env", "vm"}, {"vmVersion", "env", "vm_version"}, {0}}};

static const struct json *
get_entries(const struct list *l, const struct json *j)
{
	j = l->list ? json_path(j, l->list) : j;
	return j && json_type(j) == JSON_ARRAY ? json_first(j) : NULL;
}

static bool
is_list(const struct list *l, const struct json *j)
{
	const struct json *first = get_entries(l, j);

	return json_get(first, l->marks[0]) && json_get(first, l->marks[1]);
}

/* Sets the status from the run's exit code; null means killed by a signal. */
static void
put_exit_code(struct json *run, const struct json *code)
{
	double v = json_num(code, -1);
	struct str s = {0};

	if (!code || v == 0)
		return;
	if (v < 0)
		str_add(&s, "the command was ended by a signal");
	else
		str_printf(&s, "the command exited with %.0f", v);
	json_set_str(run, "status", "failed");
	json_set_str(run, "error", s.s);
	str_free(&s);
}

/* Sets a metric. Returns -1 if it is not a number (error reported). */
static int
put_value(struct json *run, const char *name, const char *unit,
    const struct json *v, struct source *s)
{
	return v && json_type(v) == JSON_NUMBER
	    ? runs_set_value(
		  run, name, unit, json_num(v, 0), unit, source_where(s))
	    : source_fail(s, "a result is not a number");
}

/* Is it a rate? "MB/sec", "ops/ms" */
static bool
is_rate(const char *unit)
{
	double factor;
	char *key = units_key("", unit, &factor);
	bool is = str_ends(key, "per_s");

	free(key);
	return is;
}

/* Returns the mean of each list in 'times' or, if that has one list, a copy of
 * this: the iterations of a process differ less than processes. */
static struct json *
join_processes(const struct json *times)
{
	struct json *means = json_array();

	if (json_len(times) == 1 &&
	    json_type(json_first(times)) == JSON_ARRAY) {
		json_free(means);
		return json_dup(json_first(times));
	}
	for (const struct json *t = json_first(times); t; t = json_next(t)) {
		size_t n;
		double sum = 0, *v = json_numbers(t, &n);

		for (size_t i = 0; i < n; i++)
			sum += v[i];
		json_push(means,
		    isfinite(sum) && n ? json_number(sum / (double)n)
				       : json_null());
		free(v);
	}
	return means;
}

/*
 * Sets the results of JMH beside the main one, in the i-th of n runs. They have
 * times of each run, too; without these their only score, which belongs to
 * all runs, is left out if there are many. Rates have directions of their own.
 */
static int
put_others(struct json *run, const struct json *others, size_t i, size_t n,
    struct source *s)
{
	int rc = 0;

	for (const struct json *o = json_first(others); o; o = json_next(o)) {
		const char *unit = json_get_str(o, "scoreUnit");
		struct json *times = join_processes(json_get(o, "rawData"));
		const struct json *v =
		    json_len(times) == n ? json_at(times, i) : NULL;

		if (!v && n == 1)
			v = json_get(o, "score");
		if (unit && !is_rate(unit) && (v || n == 1))
			rc |= put_value(run, json_key(o), unit, v, s);
		json_free(times);
	}
	return rc;
}

static void
put_parameters(struct json *config, const struct json *from)
{
	for (const struct json *p = json_first(from); p; p = json_next(p))
		if (json_str(p))
			json_set(
			    config, json_key(p), runs_parse_value(json_str(p)));
		else if (json_type(p) < JSON_STRING &&
		    json_type(p) != JSON_NULL)
			json_set(config, json_key(p), json_dup(p));
}

static struct json *
make_run(
    const struct list *l, const struct json *file, const struct json *entry)
{
	struct json *run = runs_new_run(NULL),
		    *config = json_get(run, "config");

	runs_copy(run, file, l->of_file);
	runs_copy(run, entry, l->of_entry);
	if (!json_path(run, "subject.commit"))
		json_set(run, "subject", json_object());
	put_parameters(config, json_get(entry, l->params));
	json_set_str(config, "command", json_get_str(entry, l->name));
	return run;
}

static int
parse_entry(const struct list *l, const struct json *file,
    const struct json *entry, struct source *s, struct runs *runs)
{
	const struct json *all = l->times ? json_path(entry, l->times) : NULL;
	const struct json *first = json_first(all), *t, *code, *memory;
	const char *unit = l->unit ? json_str(json_path(entry, l->unit)) : "s";
	const struct json *others =
	    l->others ? json_get(entry, l->others) : NULL;
	struct json *means = NULL;
	size_t i = 0, n;
	int rc = 0;

	if (!json_get_str(entry, l->name))
		return source_fail(s, "'%s' is missing", l->name);
	if (!unit)
		return source_fail(s, "'%s' is missing", l->unit);
	if (source_check_object(s, l->params, json_get(entry, l->params)) < 0 ||
	    source_check_object(s, l->others, others) < 0)
		return -1;
	if (first && json_type(first) == JSON_ARRAY)
		first = json_first(means = join_processes(all));
	if (!first && l->value) {
		first = json_path(entry, l->value);
		all = NULL; /* a single value has no list to continue */
	}
	if (!first) {
		json_free(means);
		return source_fail(
		    s, "'%s' is missing", l->value ? l->value : l->times);
	}
	n = all ? json_len(means ? means : all) : 1;
	code = l->codes ? json_first(json_get(entry, l->codes)) : NULL;
	memory = l->memory ? json_first(json_get(entry, l->memory)) : NULL;
	for (t = first; t; t = all ? json_next(t) : NULL) {
		struct json *run = make_run(l, file, entry);

		if (put_value(run, "", unit, t, s) < 0 ||
		    put_others(run, others, i++, n, s) < 0) {
			json_free(run);
			rc = -1;
		} else {
			if (memory && json_type(memory) == JSON_NUMBER)
				put_value(run, "memory", "bytes", memory, s);
			put_exit_code(run, code);
			rc |= runs_add(runs, run, source_where(s));
		}
		code = code ? json_next(code) : NULL;
		memory = memory ? json_next(memory) : NULL;
	}
	json_free(means);
	return rc;
}

static int
parse_list(const struct list *l, const struct json *file, struct source *s,
    struct runs *runs)
{
	size_t i = 0;
	int rc = 0;

	for (const struct json *e = get_entries(l, file); e; e = json_next(e)) {
		source_set_part(
		    s, mem_printf("%s[%zu]", l->list ? l->list : "", i++));
		rc |= parse_entry(l, file, e, s, runs);
	}
	return rc;
}

bool
lists_is_hyperfine(const struct json *j)
{
	return is_list(&hyperfine, j);
}

int
lists_parse_hyperfine(const struct json *j, struct source *s, struct runs *runs)
{
	return parse_list(&hyperfine, j, s, runs);
}

bool
lists_is_pytest(const struct json *j)
{
	return is_list(&pytest, j);
}

int
lists_parse_pytest(const struct json *j, struct source *s, struct runs *runs)
{
	return parse_list(&pytest, j, s, runs);
}

bool
lists_is_jmh(const struct json *j)
{
	return is_list(&jmh, j);
}

int
lists_parse_jmh(const struct json *j, struct source *s, struct runs *runs)
{
	return parse_list(&jmh, j, s, runs);
}
