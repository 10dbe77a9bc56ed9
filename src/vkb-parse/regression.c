/*
 * Parses results of regression frameworks: {"timestamp":T, "metrics":{NAME:
 * {"value":V,"unit":U}}, "metadata":{...}}. A file is one run; a value's unit
 * becomes the end of its key.
 */
#include "err.h"
#include "json.h"
#include "str.h"
#include "parsers.h"
#include "runs.h"
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
    struct json *run, const struct json *m, const char *file)
{
	const struct json *v = json_get(m, "value");
	const char *unit = json_get_str(m, "unit");
	double factor;
	char *key;
	int rc;

	if (v && json_type(v) == JSON_NULL)
		return 0; /* unknown */
	if (!v || json_type(v) != JSON_NUMBER)
		return err_fail("%s: 'metrics.%s.value' is not a number", file,
		    json_key(m));
	key = units_key(json_key(m), unit ? unit : "", &factor);
	rc = runs_set_metric(
	    run, key, json_num(v, 0) * factor, json_key(m), file);
	free(key);
	return rc;
}

static void
copy_metadata(struct json *run, const struct json *from)
{
	for (const struct json *j = json_first(from); j; j = json_next(j)) {
		const char *key = json_key(j);

		if (json_type(j) == JSON_NULL)
			continue;
		if (strcmp(key, "git_commit") == 0 ||
		    strcmp(key, "commit") == 0)
			json_set(
			    json_get(run, "subject"), "commit", json_dup(j));
		else if (strcmp(key, "branch") == 0 ||
		    strcmp(key, "git_branch") == 0)
			json_set(json_get(run, "subject"), "ref", json_dup(j));
		else
			json_set(json_get(run, "env"), key, json_dup(j));
	}
}

int
regression_json(const struct json *j, const char *file, struct runs *runs)
{
	struct json *run = runs_new_run();
	int rc = 0;

	copy_metadata(run, json_get(j, "metadata"));
	json_set_str(
	    json_get(run, "run"), "started", json_get_str(j, "timestamp"));
	for (const struct json *m = json_first(json_get(j, "metrics")); m;
	     m = json_next(m))
		rc |= parse_regression_metric(run, m, file);
	return runs_add(runs, run, file) < 0 ? -1 : rc;
}
