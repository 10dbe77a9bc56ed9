#include "flatkeys.h"
#include "json.h"
#include "mem.h"
#include "metric.h"
#include "num.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

/* Some env_ keys have another name in a run. */
const struct flatkeys_key flatkeys_table[] = {
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
    {"env_turbo_boost", "env", "turbo", .form = FLATKEYS_SWITCH},
    {"env_idle_states", "env", "idle_states", .sql = NULL},
    {"env_aslr", "env", "aslr", .sql = NULL},
    {"env_thp", "env", "thp", .sql = NULL},
    {"env_numa_nodes", "env", "numa_nodes", .form = FLATKEYS_DIGITS},
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

bool
flatkeys_has(const char *section, const char *key)
{
	/* Compares the first characters first, since most keys differ there. */
	for (const struct flatkeys_key *k = flatkeys_table; k->flat; k++)
		if (k->key && *k->key == *key && strcmp(k->key, key) == 0 &&
		    strcmp(k->section, section) == 0)
			return true;
	return false;
}

const struct metric *
flatkeys_metric(const char *flat)
{
	for (const struct metric *m = metric_table; m->name; m++)
		if (strcmp(m->flat ? m->flat : m->name, flat) == 0)
			return m;
	return NULL;
}

struct json *
flatkeys_read(enum flatkeys_form form, struct json *v)
{
	const char *s = json_str(v);
	struct json *j = NULL;
	double n;

	if (s && form == FLATKEYS_SWITCH && strcmp(s, "enabled") == 0)
		j = json_boolean(true);
	else if (s && form == FLATKEYS_SWITCH && strcmp(s, "disabled") == 0)
		j = json_boolean(false);
	else if (s && form == FLATKEYS_DIGITS && num_real(s, &n) == 0)
		j = json_number(n);
	if (!j)
		return v;
	json_free(v);
	return j;
}

struct json *
flatkeys_write(enum flatkeys_form form, const struct json *v)
{
	struct json *j;
	char *text;

	if (form == FLATKEYS_SWITCH && json_type(v) == JSON_BOOL)
		return json_string(
		    json_bool(v, false) ? "enabled" : "disabled");
	if (form != FLATKEYS_DIGITS || json_type(v) != JSON_NUMBER)
		return json_dup(v);
	text = json_print(v);
	j = json_string(text);
	free(text);
	return j;
}

const char *
flatkeys_title(const char *command)
{
	for (size_t i = 0; i < sizeof command_titles / sizeof *command_titles;
	     i++)
		if (strcmp(command_titles[i][0], command) == 0)
			return command_titles[i][1];
	return command;
}

char *
flatkeys_repository(const char *s)
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
