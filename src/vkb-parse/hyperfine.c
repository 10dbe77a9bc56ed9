/* Parses hyperfine's JSON: each entry of "times" is a run of the command. */
#include "json.h"
#include "mem.h"
#include "str.h"
#include "parsers.h"
#include "runs.h"
#include "source.h"

bool
hyperfine_is(const struct json *j)
{
	const struct json *r = json_get(j, "results");

	return r && json_type(r) == JSON_ARRAY &&
	    json_get(json_first(r), "command") &&
	    json_get(json_first(r), "mean");
}

static void
copy_parameters(struct json *config, const struct json *from)
{
	const char *s;

	for (const struct json *p = json_first(from); p; p = json_next(p)) {
		s = json_str(p);
		json_set(
		    config, json_key(p), s ? runs_parse_value(s) : json_dup(p));
	}
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

static int
parse_hyperfine_result(
    const struct json *r, struct source *s, struct runs *runs)
{
	const struct json *t = json_first(json_get(r, "times"));
	const struct json *code = json_first(json_get(r, "exit_codes"));
	const struct json *memory =
	    json_first(json_get(r, "memory_usage_byte"));
	const char *command = json_get_str(r, "command");
	int rc = 0;

	if (!command)
		return source_fail(s, "'command' is missing");
	if (!t)
		return source_fail(s, "'times' is missing");
	for (; t; t = json_next(t)) {
		struct json *run = runs_new_run(NULL),
			    *m = json_get(run, "metrics");

		copy_parameters(
		    json_get(run, "config"), json_get(r, "parameters"));
		json_set_str(json_get(run, "config"), "command", command);
		if (json_type(t) != JSON_NUMBER) {
			rc = source_fail(s, "one of 'times' is not a number");
			json_free(run);
		} else {
			json_set_num(m, "time_s", json_num(t, 0));
			if (memory && json_type(memory) == JSON_NUMBER)
				json_set_num(
				    m, "memory_bytes", json_num(memory, 0));
			put_exit_code(run, code);
			rc |= runs_add(runs, run, source_where(s));
		}
		code = code ? json_next(code) : NULL;
		memory = memory ? json_next(memory) : NULL;
	}
	return rc;
}

int
hyperfine_parse_json(const struct json *j, struct source *s, struct runs *runs)
{
	size_t i = 0;
	int rc = 0;

	for (j = json_first(json_get(j, "results")); j; j = json_next(j)) {
		source_set_part(s, mem_printf("results[%zu]", i++));
		rc |= parse_hyperfine_result(j, s, runs);
	}
	return rc;
}
