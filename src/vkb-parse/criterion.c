/*
 * Parses criterion.rs. estimates.json is one run. In sample.json each sample is
 * a run; one process measured them all, so their spread does not include the
 * differences between processes. The name is in benchmark.json beside the file,
 * or in the path.
 */
#include "json.h"
#include "mem.h"
#include "parsers.h"
#include "runs.h"
#include "source.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool
is_sample_file(const struct json *j)
{
	return json_get(j, "iters") && json_get(j, "times");
}

bool
criterion_is(const struct json *j)
{
	return is_sample_file(j) || json_path(j, "mean.point_estimate");
}

/* Returns GROUP/NAME of target/criterion/GROUP/NAME/new/estimates.json. */
static char *
get_path_name(const char *file)
{
	const char *end = strrchr(file, '/'), *begin;

	end = end ? memrchr(file, '/', (size_t)(end - file)) : NULL;
	if (!end)
		return NULL;
	begin = strstr(file, "criterion/");
	begin = begin ? begin + strlen("criterion/") : file;
	begin = begin <= end ? begin : file;
	return mem_strn(begin, (size_t)(end - begin));
}

static char *
get_benchmark_name(const char *file)
{
	const char *slash = strrchr(file, '/');
	char *beside = slash
	    ? mem_printf("%.*s/benchmark.json", (int)(slash - file), file)
	    : mem_str("benchmark.json");
	struct source *s =
	    access(beside, R_OK) == 0 ? source_open(beside) : NULL;
	struct json *j = s ? source_parse_json(s) : NULL;
	const char *id = json_get_str(j, "full_id");
	char *name = id ? mem_str(id) : get_path_name(file);

	json_free(j);
	source_close(s);
	free(beside);
	return name;
}

static void
copy_estimate(
    struct json *m, const struct json *j, const char *of, const char *key)
{
	const struct json *e = json_get(j, of);

	if (e && json_type(e) == JSON_OBJECT)
		json_set(m, key, json_dup(json_get(e, "point_estimate")));
}

static int
parse_estimates(
    const struct json *j, const char *name, struct source *s, struct runs *runs)
{
	struct json *run = runs_new_run(name), *m = json_get(run, "metrics");

	/* criterion's typical time: the slope if there is one, or the mean */
	copy_estimate(m, j, "mean", "time_ns");
	copy_estimate(m, j, "slope", "time_ns");
	copy_estimate(m, j, "mean", "mean_ns");
	copy_estimate(m, j, "median", "median_ns");
	return runs_add(runs, run, source_where(s));
}

static int
parse_samples(
    const struct json *j, const char *name, struct source *s, struct runs *runs)
{
	const struct json *n = json_first(json_get(j, "iters"));
	const struct json *t = json_first(json_get(j, "times"));
	int rc = 0;

	if (json_len(json_get(j, "iters")) != json_len(json_get(j, "times")))
		return source_fail(s, "'iters' and 'times' differ in length");
	for (size_t i = 0; n; n = json_next(n), t = json_next(t), i++) {
		double iters = json_num(n, 0), ns = json_num(t, -1);
		const char *where =
		    source_set_part(s, mem_printf("times[%zu]", i));
		struct json *run;

		if (!(iters > 0 && ns >= 0)) {
			rc = source_fail(s,
			    "the time or its 'iters' is not a positive number");
			continue;
		}
		run = runs_new_run(name);
		json_set_num(json_get(run, "metrics"), "time_ns", ns / iters);
		rc |= runs_add(runs, run, where);
	}
	return rc;
}

int
criterion_parse_json(const struct json *j, struct source *s, struct runs *runs)
{
	char *name = get_benchmark_name(source_name(s));
	int rc;

	rc = (is_sample_file(j) ? parse_samples : parse_estimates)(
	    j, name, s, runs);
	free(name);
	return rc;
}
