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
    {"timestamp", "subject", "time", FLATKEYS_PLAIN},
    {"commit", "subject", "commit", FLATKEYS_PLAIN},
    {"repository", "subject", "repository", FLATKEYS_PLAIN},
    {"command", "config", "command", FLATKEYS_PLAIN},
    {"data_size", "config", "data_size", FLATKEYS_PLAIN},
    {"pipeline", "config", "pipeline", FLATKEYS_PLAIN},
    {"clients", "config", "clients", FLATKEYS_PLAIN},
    {"rps", "metrics", "rps", FLATKEYS_PLAIN},
    {"avg_latency_ms", "metrics", "avg_latency_ms", FLATKEYS_PLAIN},
    {"min_latency_ms", "metrics", "min_latency_ms", FLATKEYS_PLAIN},
    {"p50_latency_ms", "metrics", "p50_latency_ms", FLATKEYS_PLAIN},
    {"p95_latency_ms", "metrics", "p95_latency_ms", FLATKEYS_PLAIN},
    {"p99_latency_ms", "metrics", "p99_latency_ms", FLATKEYS_PLAIN},
    {"max_latency_ms", "metrics", "max_latency_ms", FLATKEYS_PLAIN},
    {"cluster_mode", "config", "cluster_mode", FLATKEYS_PLAIN},
    {"tls", "config", "tls_mode", FLATKEYS_PLAIN},
    {"duration", "config", "duration_s", FLATKEYS_PLAIN},
    {"requests", "config", "requests", FLATKEYS_PLAIN},
    {"benchmark_mode", NULL, NULL, FLATKEYS_PLAIN},
    {"io_threads", "config", "io_threads", FLATKEYS_PLAIN},
    {"valkey_benchmark_threads", "config", "benchmark_threads", FLATKEYS_PLAIN},
    {"warmup", "config", "warmup_s", FLATKEYS_PLAIN},
    {"architecture", "env", "arch", FLATKEYS_PLAIN},
    {"env_kernel_version", "env", "kernel", FLATKEYS_PLAIN},
    {"env_os", "env", "os", FLATKEYS_PLAIN},
    {"env_cpu_model", "env", "cpu_model", FLATKEYS_PLAIN},
    {"env_cpu_governor", "env", "governor", FLATKEYS_PLAIN},
    {"env_turbo_boost", "env", "turbo", FLATKEYS_SWITCH},
    {"env_idle_states", "env", "idle_states", FLATKEYS_PLAIN},
    {"env_aslr", "env", "aslr", FLATKEYS_PLAIN},
    {"env_thp", "env", "thp", FLATKEYS_PLAIN},
    {"env_numa_nodes", "env", "numa_nodes", FLATKEYS_DIGITS},
    {"env_cpu_freq_mhz_at_setup", "env", "cpu_freq_mhz_at_setup",
	FLATKEYS_PLAIN},
    {"env_server_cpu_range", "env", "server_cpus", FLATKEYS_PLAIN},
    {"env_client_cpu_range", "env", "client_cpus", FLATKEYS_PLAIN},
    {"env_benchmark_tool_version", "env", "benchmark_tool_version",
	FLATKEYS_PLAIN},
    {"status", NULL, NULL, FLATKEYS_PLAIN},
    {"error", NULL, NULL, FLATKEYS_PLAIN},
    {"test_id", "config", "test_id", FLATKEYS_PLAIN},
    {"test_phase", "config", "test_phase", FLATKEYS_PLAIN},
    {"group", "config", "group", FLATKEYS_PLAIN},
    {"scenario", "config", "scenario", FLATKEYS_PLAIN},
    {"group_description", "about", "group_description", FLATKEYS_PLAIN},
    {"scenario_description", "about", "scenario_description", FLATKEYS_PLAIN},
    {"config_set", "config", "config_set", FLATKEYS_PLAIN},
    {"config_name", "about", "config_name", FLATKEYS_PLAIN},
    {"module_commit", "subject", "module_commit", FLATKEYS_PLAIN},
    {"module_commit_timestamp", "subject", "module_time", FLATKEYS_PLAIN},
    {"dataset", "config", "dataset", FLATKEYS_PLAIN},
    {NULL, NULL, NULL, FLATKEYS_PLAIN}};

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
