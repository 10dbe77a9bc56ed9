/*
 * Parses results of regression frameworks: {"timestamp":T, "metrics":{NAME:
 * {"value":V,"unit":U}}, "metadata":{...}}. A file is one run; a value's unit
 * becomes the end of its key.
 */
#include "json.h"
#include "parsers.h"
#include "runs.h"
#include "source.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

bool
regression_is(const struct json *j)
{
	const struct json *m = json_get(j, "metrics");

	return m && json_type(m) == JSON_OBJECT && json_first(m) &&
	    json_get(json_first(m), "value");
}

static int
parse_regression_metric(
    struct json *run, const struct json *m, struct source *s)
{
	const struct json *v = json_get(m, "value");
	const char *unit = json_get_str(m, "unit");
	double factor;
	char *key;
	int rc;

	if (v && json_type(v) == JSON_NULL)
		return 0; /* unknown */
	if (!v || json_type(v) != JSON_NUMBER)
		return source_fail(
		    s, "'metrics.%s.value' is not a number", json_key(m));
	key = units_key(json_key(m), unit ? unit : "", &factor);
	rc = runs_set_metric(
	    run, key, json_num(v, 0) * factor, json_key(m), source_where(s));
	free(key);
	return rc;
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
		if (json_type(j) != JSON_NULL)
			json_set(json_get(run, section), key, json_dup(j));
	}
}

int
regression_parse_json(const struct json *j, struct source *s, struct runs *runs)
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
		rc |= parse_regression_metric(run, m, s);
	return runs_add(runs, run, source_where(s)) < 0 ? -1 : rc;
}
