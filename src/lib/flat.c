#include "flat.h"
#include "clock.h"
#include "config.h"
#include "json.h"
#include "mem.h"
#include "metric.h"
#include "num.h"
#include "record.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

/* Some env_ keys have another name in a run. */
const struct flat_key flat_table[] = {
    {"timestamp", "subject", "time", .sql = "timestamp with time zone",
	.notnull = true},
    {"commit", "subject", "commit", .sql = "character varying(255)",
	.notnull = true},
    {"repository", "subject", "repository", .sql = "text"},
    {"command", "config", "command", .sql = "text", .notnull = true},
    {"data_size", "config", "data_size", .sql = "integer"},
    {"pipeline", "config", "pipeline", .sql = "integer"},
    {"clients", "config", "clients", .sql = "integer"},
    {"rps", "metrics", "rps", .sql = "numeric(15,6)"},
    {"avg_latency_ms", "metrics", "avg_latency_ms", .sql = "numeric(15,6)"},
    {"min_latency_ms", "metrics", "min_latency_ms", .sql = "numeric(15,6)"},
    {"p50_latency_ms", "metrics", "p50_latency_ms", .sql = "numeric(15,6)"},
    {"p95_latency_ms", "metrics", "p95_latency_ms", .sql = "numeric(15,6)"},
    {"p99_latency_ms", "metrics", "p99_latency_ms", .sql = "numeric(15,6)"},
    {"max_latency_ms", "metrics", "max_latency_ms", .sql = "numeric(15,6)"},
    {"cluster_mode", "config", "cluster_mode", .sql = "boolean"},
    {"tls", "config", "tls_mode", .sql = "boolean"},
    {"duration", "config", "duration_s", .sql = "integer"},
    {"requests", "config", "requests", .sql = "integer"},
    {"benchmark_mode", NULL, NULL, .sql = "character varying(50)"},
    {"io_threads", "config", "io_threads", .sql = "integer"},
    {"valkey_benchmark_threads", "config", "benchmark_threads",
	.sql = "integer"},
    {"warmup", "config", "warmup_s", .sql = "integer"},
    {"architecture", "env", "arch", .sql = "character varying(50)"},
    {"env_kernel_version", "env", "kernel", .sql = NULL},
    {"env_os", "env", "os", .sql = NULL},
    {"env_cpu_model", "env", "cpu_model", .sql = NULL},
    {"env_cpu_governor", "env", "governor", .sql = NULL},
    {"env_turbo_boost", "env", "turbo", .form = FLAT_SWITCH},
    {"env_idle_states", "env", "idle_states", .sql = NULL},
    {"env_aslr", "env", "aslr", .sql = NULL},
    {"env_thp", "env", "thp", .sql = NULL},
    {"env_numa_nodes", "env", "numa_nodes", .form = FLAT_DIGITS},
    {"env_cpu_freq_mhz_at_setup", "env", "cpu_freq_mhz_at_setup", .sql = NULL},
    {"env_server_cpu_range", "env", "server_cpus", .sql = NULL},
    {"env_client_cpu_range", "env", "client_cpus", .sql = NULL},
    {"env_benchmark_tool_version", "env", "benchmark_tool_version",
	.sql = NULL},
    {"status", NULL, NULL, .sql = "character varying(50)"},
    {"error", NULL, NULL, .sql = "text"},
    {"test_id", "config", "test_id", .sql = "character varying(50)",
	.module = true},
    {"test_phase", "config", "test_phase", .sql = "character varying(50)",
	.module = true},
    {"group", "config", "group", .sql = "integer", .module = true},
    {"scenario", "config", "scenario", .sql = "character varying(50)",
	.module = true},
    {"group_description", "about", "group_description",
	.sql = "character varying(500)", .module = true},
    {"scenario_description", "about", "scenario_description",
	.sql = "character varying(500)", .module = true},
    {"config_set", "config", "config_set", .sql = "jsonb", .module = true},
    {"config_name", "about", "config_name", .sql = "character varying(50)",
	.module = true},
    {"module_commit", "subject", "module_commit",
	.sql = "character varying(255)", .module = true},
    {"module_commit_timestamp", "subject", "module_time",
	.sql = "timestamp with time zone", .module = true},
    {"dataset", "config", "dataset", .sql = "text", .module = true}, {0}};

/* Names that valkey-benchmark gives to commands; others keep theirs. */
static const char *const command_titles[][2] = {
    {"LRANGE_100", "LRANGE_100 (first 100 elements)"},
    {"LRANGE_300", "LRANGE_300 (first 300 elements)"},
    {"LRANGE_500", "LRANGE_500 (first 500 elements)"},
    {"LRANGE_600", "LRANGE_600 (first 600 elements)"},
    {"MSET", "MSET (10 keys)"},
    {"MGET", "MGET (10 keys)"},
};

/* Returns true if the table has the key of a section of a run. */
static bool
has_flat_key(const char *section, const char *key)
{
	/* Compares the first characters first, since most keys differ there. */
	for (const struct flat_key *k = flat_table; k->flat; k++)
		if (k->key && *k->key == *key && strcmp(k->key, key) == 0 &&
		    strcmp(k->section, section) == 0)
			return true;
	return false;
}

/* Returns the metric with this name in the flat form, or NULL if unknown. */
static const struct metric *
find_flat_metric(const char *flat)
{
	for (const struct metric *m = metric_table; m->name; m++)
		if (strcmp(m->flat ? m->flat : m->name, flat) == 0)
			return m;
	return NULL;
}

/* Reads a value; 'v' is taken, the result is the caller's. */
static struct json *
read_form(enum flat_form form, struct json *v)
{
	const char *s = json_str(v);
	struct json *j = NULL;
	double n;

	if (s && form == FLAT_SWITCH && strcmp(s, "enabled") == 0)
		j = json_boolean(true);
	else if (s && form == FLAT_SWITCH && strcmp(s, "disabled") == 0)
		j = json_boolean(false);
	else if (s && form == FLAT_DIGITS && num_real(s, &n) == 0)
		j = json_number(n);
	if (!j)
		return v;
	json_free(v);
	return j;
}

/* Writes a value; the result is the caller's. */
static struct json *
write_form(enum flat_form form, const struct json *v)
{
	struct json *j;
	char *text;

	if (form == FLAT_SWITCH && json_type(v) == JSON_BOOL)
		return json_string(
		    json_bool(v, false) ? "enabled" : "disabled");
	if (form != FLAT_DIGITS || json_type(v) != JSON_NUMBER)
		return json_dup(v);
	text = json_print(v);
	j = json_string(text);
	free(text);
	return j;
}

/*
 * Returns the name under which valkey-benchmark prints the results of a
 * command, "MSET (10 keys)" for MSET; borrowed, may be 'command'.
 */
static const char *
find_title(const char *command)
{
	for (size_t i = 0; i < sizeof command_titles / sizeof *command_titles;
	     i++)
		if (strcmp(command_titles[i][0], command) == 0)
			return command_titles[i][1];
	return command;
}

/* Returns "owner/name" of a GitHub repository, given by its URL or that name;
 * NULL for any other. The caller frees it. */
static char *
shorten_repository(const char *s)
{
	static const char *const prefixes[] = {
	    "https://github.com/", "git@github.com:", "ssh://git@github.com/"};
	char *name;
	size_t n;

	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (str_starts(s, prefixes[i]))
			s += strlen(prefixes[i]);
	n = strlen(s) - (str_ends(s, ".git") ? 4 : 0);
	name = mem_strn(s, n);
	s = strchr(name, '/');
	if (s && s > name && s[1] && !strchr(s + 1, '/') &&
	    !strpbrk(name, ":@ ") && *name != '.')
		return name;
	free(name);
	return NULL;
}

/* Compares the first characters first, since most names differ there. */
static inline bool
is_same(const char *x, const char *y)
{
	return *x == *y && strcmp(x, y) == 0;
}

/* Returns the record that such an object holds, or NULL. */
static struct json *
find_record(const struct json *obj)
{
	struct json *run = json_get(obj, FLAT_RECORD);

	return run && record_is(run, "run") ? run : NULL;
}

bool
flat_is(const struct json *obj)
{
	if (json_get(obj, "type"))
		return false;
	return find_record(obj) ||
	    (json_get(obj, "command") &&
		(json_get(obj, "rps") || json_get(obj, "status")));
}

char *
flat_command(const char *title)
{
	static const char word[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	size_t n = strspn(title, word);
	const char *rest = title + n;

	if (n && str_ends(rest, ")") &&
	    (str_starts(rest, " (first ") || str_starts(rest, " (needed to ") ||
		(str_starts(rest, " (") && str_ends(rest, " keys)"))))
		return mem_strn(title, n);
	return mem_str(title);
}

static void
simplify_command(struct json *config)
{
	const char *s = json_get_str(config, "command");
	char *name;

	if (!s)
		return;
	name = flat_command(s);
	json_set_str(config, "command", name);
	free(name);
}

static void
put_value(
    struct json *run, const char *section, const char *key, struct json *value)
{
	enum json_type type = json_type(value);

	/* null or an empty config_set: nothing was set */
	if (type == JSON_NULL || (type == JSON_OBJECT && !json_first(value))) {
		json_free(value);
		return;
	}
	if (!json_get(run, section))
		json_set(run, section, json_object());
	json_set(json_get(run, section), key, value);
}

static void
place_value(struct json *run, const char *name, struct json *v)
{
	const struct metric *m = find_flat_metric(name);

	if (metric_is_family(name)) {
		put_value(run, "metrics", name, v);
		return;
	}
	for (const struct flat_key *k = flat_table; k->flat; k++) {
		if (strcmp(k->flat, name) != 0)
			continue;
		if (k->section)
			put_value(
			    run, k->section, k->key, read_form(k->form, v));
		else if (strcmp(name, "status") == 0 ||
		    strcmp(name, "error") == 0)
			json_set(run, name, v);
		else
			json_free(v);
		return;
	}
	if (m)
		put_value(run, "metrics", m->name, v);
	else if (str_starts(name, "env_"))
		put_value(run, "env", name + 4, v);
	else
		put_value(run, "config", name, v);
}

const char *
flat_metric(const char *name)
{
	const struct metric *m = metric_find(name);

	return m && m->flat ? m->flat : name;
}

static void
add_remaining(struct json *obj, const struct json *run, const char *section,
    const char *prefix)
{
	bool metrics = strcmp(section, "metrics") == 0;
	struct str name = {0};

	for (const struct json *j = json_first(json_get(run, section)); j;
	     j = json_next(j)) {
		if (has_flat_key(section, json_key(j)))
			continue;
		str_clear(&name);
		str_printf(&name, "%s%s", prefix,
		    metrics ? flat_metric(json_key(j)) : json_key(j));
		if (!json_get(obj, name.s))
			json_set(obj, name.s, json_dup(j));
	}
	str_free(&name);
}

static struct json *
make_title(const struct json *run)
{
	const char *command = json_str(json_path(run, "config.command"));
	const char *said = json_str(json_path(run, "flat.said.command"));
	bool same;
	char *name;

	if (said && command) {
		name = flat_command(said);
		same = strcmp(name, command) == 0;
		free(name);
		if (same)
			return json_string(said);
	}
	return command ? json_string(find_title(command)) : NULL;
}

/* Returns what the flat form calls the commit: any name of the subject. The
 * commit of a work tree with changes ends in "+dirty". NULL: no name. */
static struct json *
name_commit(const struct json *run)
{
	static const char *const keys[] = {
	    "commit", "ref", "label", "server_version"};
	const struct json *subject = json_get(run, "subject"), *j;
	const char *commit = json_get_str(subject, "commit");
	struct json *name;
	char *text;

	/* The ref is that of the module; an installed server has none. */
	if (!commit && json_path(subject, "build.server"))
		return json_dup(json_get(subject, "server_version"));
	if (commit && json_get_bool(subject, "dirty", false)) {
		text = mem_printf("%s+dirty", commit);
		name = json_string(text);
		free(text);
		return name;
	}
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if ((j = json_get(subject, keys[i])))
			return json_dup(j);
	return NULL;
}

static struct json *
make_status(const struct json *run, bool scenario)
{
	const char *status = json_get_str(run, "status");

	if (status && strcmp(status, "ok") != 0)
		return json_string(status);
	return scenario ? json_string("success") : NULL;
}

/* Returns the time as it was read unless it differs from the record's. */
static struct json *
choose_time(const struct json *said, const struct json *now)
{
	char utc[CLOCK_ISO];

	if (!json_str(said) || !json_str(now) ||
	    clock_utc(utc, json_str(said)) < 0)
		return json_dup(said);
	return json_dup(strcmp(utc, json_str(now)) == 0 ? said : now);
}

/* Returns the value of a key of the flat form; NULL: absent. */
static struct json *
make_value(const struct json *run, const struct flat_key *p)
{
	const struct json *config = json_get(run, "config");
	struct json *j = json_get(
	    json_get(run, p->section ? p->section : ""), p->key ? p->key : "");
	const char *status = json_get_str(run, "status");
	bool failed = status && strcmp(status, "failed") == 0;
	bool scenario = json_get(config, "test_id") != NULL;
	char *repository;

	if (is_same(p->flat, "commit"))
		return name_commit(run);
	if (is_same(p->flat, "repository") && json_str(j)) {
		repository = shorten_repository(json_str(j));
		j = repository ? json_string(repository) : NULL;
		free(repository);
		return j ? j : failed ? NULL : json_null();
	}
	if (j && !is_same(p->flat, "command"))
		return write_form(p->form, j);
	if (is_same(p->flat, "command"))
		return make_title(run);
	if (is_same(p->flat, "timestamp"))
		return json_dup(json_path(run, "run.started"));
	if (is_same(p->flat, "repository"))
		return failed ? NULL : json_null();
	if (is_same(p->flat, "config_set"))
		return scenario ? json_object() : NULL;
	if (is_same(p->flat, "status"))
		return make_status(run, scenario);
	if (is_same(p->flat, "error"))
		return json_dup(json_get(run, "error"));
	if (!is_same(p->flat, "benchmark_mode") || failed)
		return NULL;
	return json_string(json_get(config, "duration_s") ? "duration"
		: json_get(config, "requests")            ? "requests"
							  : "unknown");
}

/* Returns a value of the file that the Python tool does not write, or NULL. */
static const struct json *
find_odd_value(const struct json *run, const char *name)
{
	const struct metric *m = find_flat_metric(name);
	const struct json *j = json_get(json_get(run, "config"), name);

	if (!j)
		j = json_get(json_get(run, "metrics"), m ? m->name : name);
	if (!j && str_starts(name, "env_"))
		j = json_get(json_get(run, "env"), name + 4);
	return j;
}

/* Returns the keys of the Python tool and others of the file that was read. */
static struct json *
write_keys(const struct json *run)
{
	const struct json *kept = json_get(run, "flat"), *j, *now;
	const struct json *said = json_get(kept, "said");
	struct json *obj = json_object();

	for (const struct flat_key *k = flat_table; k->flat; k++) {
		const char *name = k->flat;

		if (!json_get(said, name) || is_same(name, "command"))
			json_set(obj, name, make_value(run, k));
		else if (is_same(name, "timestamp") ||
		    is_same(name, "module_commit_timestamp"))
			json_set(obj, name,
			    choose_time(json_get(said, name),
				json_get(json_get(run, k->section), k->key)));
		else
			json_set(obj, name, json_dup(json_get(said, name)));
	}
	for (j = json_first(said); j; j = json_next(j))
		if (!json_get(obj, json_key(j))) {
			now = find_odd_value(run, json_key(j));
			json_set(obj, json_key(j), json_dup(now ? now : j));
		}
	for (j = json_first(json_get(kept, "unsaid")); j; j = json_next(j))
		json_del(obj, json_str(j));
	for (j = json_first(json_get(kept, "null")); j; j = json_next(j))
		json_set(obj, json_str(j), json_null());
	return obj;
}

struct json *
flat_from_run(const struct json *run, bool whole)
{
	struct json *obj = write_keys(run);

	if (whole)
		json_set(obj, FLAT_RECORD, json_dup(run));
	return obj;
}

struct json *
flat_columns(const struct json *run)
{
	struct json *obj = write_keys(run);

	for (const struct flat_key *k = flat_table; k->flat; k++)
		if (k->form == FLAT_DIGITS && json_get(obj, k->flat))
			json_set(obj, k->flat,
			    read_form(
				FLAT_DIGITS, json_dup(json_get(obj, k->flat))));
	add_remaining(obj, run, "env", "env_");
	add_remaining(obj, run, "config", "");
	add_remaining(obj, run, "metrics", "");
	return obj;
}

/* Returns true if vkb-load measures this metric. */
static bool
is_measured(const char *metric)
{
	return metric_find(metric) || metric_is_family(metric);
}

struct json *
flat_identity(const struct json *run)
{
	const struct json *metrics = json_get(run, "metrics"), *j;
	bool complete =
	    json_get(metrics, "rps") && json_get(metrics, "avg_latency_ms");
	struct json *bare = json_dup(run), *obj;

	json_del(bare, "flat");
	json_del(bare, "env");
	obj = write_keys(bare);
	for (j = json_first(json_get(run, "config")); j; j = json_next(j))
		/* What only vkb-load records tells cases apart, but never two
		 * runs of one file that are equal otherwise. */
		if (!has_flat_key("config", json_key(j)) &&
		    !config_find_identity(json_key(j)))
			json_set(obj, json_key(j), json_dup(j));
	for (j = json_first(metrics); j; j = json_next(j))
		if (!has_flat_key("metrics", json_key(j)) &&
		    !(complete && is_measured(json_key(j))))
			json_set(obj, json_key(j), json_dup(j));
	json_free(bare);
	return obj;
}

/* Keeps in the run what write_keys would not write again. */
static void
keep_differences(struct json *run, const struct json *obj)
{
	struct json *again = write_keys(run), *kept = json_object();
	struct json *said = json_object(), *unsaid = json_array(),
		    *nulls = json_array();
	const struct json *j;

	for (j = json_first(obj); j; j = json_next(j)) {
		if (json_equal(j, json_get(again, json_key(j))))
			continue;
		if (json_type(j) == JSON_NULL)
			json_push(nulls, json_string(json_key(j)));
		else
			json_set(said, json_key(j), json_dup(j));
	}
	for (j = json_first(again); j; j = json_next(j))
		if (!json_get(obj, json_key(j)))
			json_push(unsaid, json_string(json_key(j)));
	json_set_filled(kept, "said", said);
	json_set_filled(kept, "unsaid", unsaid);
	json_set_filled(kept, "null", nulls);
	json_set_filled(run, "flat", kept);
	json_free(again);
}

/* Converts a time to UTC; git writes it in the zone of the committer. */
static void
convert_to_utc(struct json *subject, const char *key)
{
	const char *time = json_get_str(subject, key);
	char utc[CLOCK_ISO];

	if (time && clock_utc(utc, time) == 0)
		json_set_str(subject, key, utc);
}

struct json *
flat_to_run(struct json *obj)
{
	struct json *run = record_new("run"), *orig, *v;
	const char *status;
	struct str key = {0};

	if (find_record(obj)) {
		json_free(run);
		run = json_detach(obj, FLAT_RECORD);
		json_free(obj);
		return run;
	}
	orig = json_dup(obj);
	json_set(run, "subject", json_object());
	json_set(run, "config", json_object());
	json_set(run, "run", json_object());
	json_set(run, "env", json_object());
	json_set(run, "metrics", json_object());
	while ((v = json_first(obj))) {
		str_clear(&key);
		str_add(&key, json_key(v));
		place_value(run, key.s, json_detach(obj, key.s));
	}
	simplify_command(json_get(run, "config"));
	convert_to_utc(json_get(run, "subject"), "time");
	convert_to_utc(json_get(run, "subject"), "module_time");
	status = json_get_str(run, "status");
	json_set_str(run, "status",
	    !status || strcmp(status, "success") == 0 ? "ok" : status);
	keep_differences(run, orig);
	str_free(&key);
	json_free(orig);
	json_free(obj);
	return run;
}

/* --- rows of tables */

/* Columns that describe the row, not the run. */
static const char *const row_columns[] = {"id", "created_at", "test_type",
    "vkb_session", "vkb_case", "vkb_subject", "vkb_index"};

struct json *
flat_row_to_run(struct json *row)
{
	const struct json *next;

	for (size_t i = 0; i < sizeof row_columns / sizeof *row_columns; i++)
		json_del(row, row_columns[i]);
	for (const struct json *j = json_first(row); j; j = next) {
		next = json_next(j);
		if (json_type(j) == JSON_NULL)
			json_del(row, json_key(j));
	}
	return flat_to_run(row);
}

/* Is the column a text, even if that looks like a number? */
static bool
is_text_column(const char *column)
{
	const struct flat_key *k = flat_table;

	while (k->flat && strcmp(k->flat, column) != 0)
		k++;
	if (!k->flat)
		return false;
	if (k->section && strcmp(k->section, "env") == 0)
		return strcmp(k->flat, "env_cpu_freq_mhz_at_setup") != 0;
	return k->sql &&
	    (str_starts(k->sql, "text") || str_starts(k->sql, "character") ||
		str_starts(k->sql, "timestamp"));
}

struct json *
flat_parse_column(const char *column, const char *text)
{
	struct json *j = NULL;
	double v;

	if (!*text)
		return NULL;
	if (is_text_column(column))
		return json_string(text);
	if (strcmp(text, "t") == 0 || strcmp(text, "f") == 0)
		return json_boolean(*text == 't');
	if (num_real(text, &v) == 0)
		return json_number(v);
	if (*text == '{' || *text == '[')
		j = json_parse(text, strlen(text), NULL, NULL);
	return j ? j : json_string(text);
}
