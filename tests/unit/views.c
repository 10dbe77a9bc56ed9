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

/* Checks the width of a table with this one cell. */
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
	is_as_wide("\xc3\xa4\xe2\x82\xac", 2,
	    "an umlaut and a euro sign take one column each");
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
	    "columns are aligned, lines have no trailing blanks, control "
	    "characters are escaped");
	str_clear(&s);
	table_print(t, &s, true);
	tap_ok(strstr(s.s,
		   "\033[31ma\\x1b"
		   "b\033[0m   2  x\n") != NULL,
	    "a colour does not change the columns");
	str_clear(&s);
	tap_ok(table_markdown(t, &s, 1000) == 2, "Markdown has both rows");
	tap_str(s.s,
	    "| name | n | |\n"
	    "|---|--:|---|\n"
	    "| \xc3\xa4 | 10 | |\n"
	    "| a&#92;x1bb | 2 | x |\n",
	    "Markdown columns are aligned, and cells cannot contain markup");
	tap_ok(table_markdown(t, &s, s.len + 50) == 1,
	    "a row that does not fit is left out");
	str_clear(&s);
	tap_ok(table_markdown(t, &s, 30) == 0 && s.len == 0,
	    "without a row there is no table");
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
	tap_str(s, "io 2", "settings that all cases have, if they are on");
	free(s);
	casename_free(c);
	for (size_t i = 0; i < 5; i++)
		json_free(j[i]);
}

/* The settings that all cases have, in words. */
static void
check_common(const char *config, const char *want, const char *what)
{
	struct json *j = parse(config);
	const struct json *one = j;
	struct casename *c = casename_new(&one, 1);
	char *s = casename_common(c);

	tap_str(s, want, what);
	free(s);
	casename_free(c);
	json_free(j);
}

static void
common(void)
{
	check_common("{\"command\":\"SET\",\"test_id\":\"x\",\"warmup_s\":3,"
		     "\"data_size\":64,\"clients\":50,\"keyspacelen\":1000,"
		     "\"duration_s\":5,\"pipeline\":10,\"io_threads\":4,"
		     "\"requests\":2000,\"benchmark_threads\":2}",
	    "50 clients, pipeline 10, 64-byte values, 1000 keys, 4 I/O "
	    "threads, 2000 requests, 5 s, 3 s of warm-up, 2 client threads",
	    "numbers have words");
	check_common("{\"clients\":1,\"data_size\":1,\"duration_s\":1,"
		     "\"io_threads\":1,\"warmup_s\":0}",
	    "1 client, 1-byte values, 1 I/O thread, 1 s",
	    "1 has a singular; settings that are 0 are left out");
	check_common("{\"tls_mode\":true,\"cluster_mode\":true,"
		     "\"reconnect\":false,\"resp3\":true,\"db\":0,"
		     "\"read_from\":\"replica\",\"idle_clients\":7}",
	    "cluster, db 0, idle clients 7, read from replica, resp3, TLS",
	    "other keys have their names");
}

static char *
flat(const char *text)
{
	struct json *j = parse(text), *run;
	char *s;

	tap_ok(flat_is(j), "a result of the Python tool is recognized");
	run = flat_to_run(j);
	tap_ok(record_check(run, "test") == 0, "it becomes a valid run");
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
	    "a failed result");
	free(s);
}

/* A command of n bytes that ends in a character of two bytes, and a test_id. */
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

/* Configurations other than those of the cases that have names. */
static void
differences(void)
{
	struct json *j[] = {parse("{\"command\":\"SET\",\"a\":1,\"b\":2}"),
	    parse("{\"command\":\"GET\",\"a\":1,\"b\":2}"),
	    parse("{\"command\":\"GET\",\"a\":1,\"b\":3}")};
	struct casename *c = casename_new((const struct json *const *)j, 2);
	char *s = casename_common(c);

	tap_str(s, "a 1, b 2",
	    "the settings that two cases have in common, sorted by name");
	free(s);
	casename_differs(c, j[2]);
	s = casename_common(c);
	tap_str(s, "a 1",
	    "a setting that a third case has with another value is left out");
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
	common();
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
