/* Tables, names of cases, and the flat form of the Python tool. */
#include "tap.h"

#include "casename.h"
#include "flat.h"
#include "json.h"
#include "record.h"
#include "str.h"
#include "table.h"

#include <stdlib.h>

static struct json *
parse(const char *s)
{
	struct json *j = json_parse(s, strlen(s), NULL, NULL);

	if (!j)
		abort();
	return j;
}

/* By the width of a table of this one cell. */
static void
is_as_wide(const char *text, size_t want, const char *what)
{
	struct table *t = table_new();

	table_column(t, "", TABLE_LEFT);
	table_cell(t, text);
	tap_ok(table_columns(t) == want, "%s", what);
	table_free(t);
}

static void
tables(void)
{
	struct table *t = table_new();
	struct str s = {0};

	is_as_wide("abc", 3, "three letters take three columns");
	is_as_wide("\xc3\xa4\xe2\x82\xac", 2, "umlaut and euro take one each");
	is_as_wide("\xe6\xbc\xa2\xf0\x9f\x98\x80", 4,
	    "wide letters take two columns each");
	is_as_wide("e\xcc\x81", 1, "a combining accent takes none");
	table_column(t, "name", TABLE_LEFT);
	table_column(t, "n", TABLE_RIGHT);
	table_column(t, "", TABLE_LEFT);
	table_print(t, &s, false);
	tap_ok(!s.len, "no rows, no table");
	table_cell(t, "\xc3\xa4");
	table_cell(t, "10");
	table_cell(t, "");
	table_cell(t, "a\033b");
	table_style(t, "31");
	table_cell(t, "2");
	table_cell(t, "x");
	table_print(t, &s, false);
	tap_str(s.s,
	    "name     n\n"
	    "\xc3\xa4       10\n"
	    "a\\x1b"
	    "b   2  x\n",
	    "columns, no blanks at the end, nothing raw");
	str_clear(&s);
	table_print(t, &s, true);
	tap_ok(strstr(s.s,
		   "\033[31ma\\x1b"
		   "b\033[0m   2  x\n") != NULL,
	    "a colour does not move the columns");
	table_free(t);
	str_free(&s);
}

static void
names(void)
{
	struct json *j[] = {
	    parse(
		"{\"command\":\"SET\",\"pipeline\":1,\"tls\":false,\"io\":2}"),
	    parse(
		"{\"command\":\"SET\",\"pipeline\":10,\"tls\":false,\"io\":2}"),
	    parse("{\"command\":\"GET\",\"pipeline\":1,\"tls\":false,\"io\":2,"
		  "\"set\":{\"b\":1,\"a\":\"x\"}}"),
	    parse(
		"{\"command\":\"GET\",\"pipeline\":1,\"tls\":false,\"io\":2}"),
	    parse("{\"other\":1,\"tls\":false,\"io\":2}")};
	static const char *const want[] = {"SET P1", "SET P10",
	    "GET P1 set={\"a\":\"x\",\"b\":1}", "GET P1", "case"};
	struct casename *c = casename_new((const struct json *const *)j, 5);
	char *s;

	for (size_t i = 0; i < 5; i++) {
		s = casename_of(c, j[i]);
		tap_str(s, want[i], "a name");
		free(s);
	}
	s = casename_common(c);
	tap_str(s, "io=2", "what all have in common, if it is on");
	free(s);
	casename_free(c);
	for (size_t i = 0; i < 5; i++)
		json_free(j[i]);
}

static char *
flat(const char *text)
{
	struct json *j = parse(text), *run;
	char *s;

	tap_ok(flat_is(j), "a result of the Python tool");
	run = flat_to_run(j);
	tap_ok(record_check(run, "test") == 0, "becomes a good run");
	s = json_print(run);
	json_free(run);
	return s;
}

static void
results(void)
{
	struct json *j = parse("{\"type\":\"run\",\"command\":\"SET\","
			       "\"rps\":1}");
	char *s;

	tap_ok(!flat_is(j), "a record is not a flat result");
	json_free(j);
	s = flat("{\"command\":\"LRANGE\",\"rps\":7.5}");
	tap_ok(strstr(s, "\"LRANGE\"") != NULL,
	    "LRANGE, whose numbers were those of LPUSH, is not LRANGE_100");
	free(s);
	s = flat("{\"timestamp\":\"2026-01-10T12:00:00+00:00\",\"commit\":"
		 "\"3f2a\",\"repository\":null,\"command\":\"MSET (10 keys)\","
		 "\"rps\":7.5,\"p99_latency_ms\":2,\"requests\":1000,"
		 "\"tls\":false,\"warmup\":0,\"duration\":3,"
		 "\"valkey_benchmark_threads\":2,\"benchmark_mode\":\"d\","
		 "\"architecture\":\"arm64\",\"env_os\":\"x\","
		 "\"config_set\":{}}");
	tap_str(s,
	    "{\"type\":\"run\",\"v\":1,\"subject\":{\"time\":"
	    "\"2026-01-10T12:00:00Z\",\"commit\":\"3f2a\"},\"config\":{"
	    "\"command\":\"MSET\",\"requests\":1000,\"tls_mode\":false,"
	    "\"warmup_s\":0,\"duration_s\":3,\"benchmark_threads\":2},"
	    "\"run\":{},\"env\":{\"arch\":\"arm64\",\"os\":\"x\"},"
	    "\"metrics\":{\"rps\":7.5,\"p99_latency_ms\":2},"
	    "\"status\":\"ok\",\"flat\":{\"said\":{\"timestamp\":"
	    "\"2026-01-10T12:00:00+00:00\",\"benchmark_mode\":"
	    "\"d\",\"config_set\":{}}}}",
	    "each key is in its section");
	free(s);
	s = flat("{\"command\":\"SET\",\"status\":\"failed\",\"error\":\"b\","
		 "\"config_set\":{\"a\":1}}");
	tap_str(s,
	    "{\"type\":\"run\",\"v\":1,\"subject\":{},\"config\":{\"command\":"
	    "\"SET\",\"config_set\":{\"a\":1}},\"run\":{},\"env\":{},"
	    "\"metrics\":{},\"status\":\"failed\",\"error\":\"b\"}",
	    "a failed one");
	free(s);
}

/* A command of n bytes, the last of them a character of two; and a test_id. */
static void
name_length(const char *id, size_t n, size_t kept)
{
	struct json *config = json_object();
	const struct json *configs[] = {config};
	struct casename *c;
	char command[128], want[160], *name;

	memset(command, 'x', n);
	command[n] = '\0';
	memcpy(command + n - 2, "\303\251", 2);
	json_set_str(config, "command", command);
	if (id)
		json_set_str(config, "test_id", id);
	c = casename_new(configs, 1);
	name = casename_of(c, config);
	snprintf(want, sizeof want, "%s%s%.*s%s", id ? id : "", id ? " " : "",
	    (int)kept, command, kept < n ? "..." : "");
	tap_str(name, want, "a long command is cut between characters");
	free(name);
	casename_free(c);
	json_free(config);
}

/* Configurations that are not among those that names come from. */
static void
differences(void)
{
	struct json *j[] = {parse("{\"command\":\"SET\",\"a\":1,\"b\":2}"),
	    parse("{\"command\":\"GET\",\"a\":1,\"b\":2}"),
	    parse("{\"command\":\"GET\",\"a\":1,\"b\":3}")};
	struct casename *c = casename_new((const struct json *const *)j, 2);
	char *s = casename_common(c);

	tap_str(s, "a=1, b=2", "keys that two cases share, by name");
	free(s);
	casename_differs(c, j[2]);
	s = casename_common(c);
	tap_str(s, "a=1", "without one that a third case has otherwise");
	free(s);
	casename_free(c);
	for (size_t i = 0; i < 3; i++)
		json_free(j[i]);
}

int
main(void)
{
	tables();
	names();
	name_length(NULL, 96, 96);
	name_length(NULL, 97, 95);
	name_length(NULL, 98, 96);
	name_length("id", 45, 45);
	name_length("id", 46, 44);
	name_length("id", 47, 45);
	differences();
	results();
	return tap_done();
}
