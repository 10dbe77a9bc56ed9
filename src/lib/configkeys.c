#include "config.h"
#include "json.h"
#include "mem.h"
#include "opt.h"
#include "redact.h"
#include "str.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BIG 9007199254740991.0

const struct config_key config_keys[] = {
    /* the configuration itself */
    {"config", "commands", .rule = CONFIG_TEXTS},
    {"config", "mix", .rule = CONFIG_MIXES},
    {"config", "mix_order", .rule = CONFIG_CHOICE, .inner = "random|turn",
	.identity = "mix_order"},
    {"config", "populate_with", .rule = CONFIG_TEXT,
	.identity = "populate_with"},
    {"config", "data_sizes", .rule = CONFIG_WHOLES, 1, 1 << 29},
    {"config", "pipelines", .rule = CONFIG_WHOLES, 1, 1e6},
    {"config", "clients", .rule = CONFIG_WHOLES, 1, 1e6},
    {"config", "keyspacelen", .rule = CONFIG_WHOLES, 1, 999999999999},
    {"config", "keys", .rule = CONFIG_KEYSPECS},
    {"config", "values", .rule = CONFIG_VALUESPECS},
    {"config", "ttl", .rule = CONFIG_TTLS},
    {"config", "replay", .rule = CONFIG_TEXT},
    {"config", "replay_speed", .rule = CONFIG_SPEED},
    {"config", "requests", .rule = CONFIG_WHOLES, 1, BIG},
    {"config", "duration", .rule = CONFIG_SECONDS, 0, 1e7},
    {"config", "warmup", .rule = CONFIG_SECONDS, -1, 1e7},
    {"config", "cluster_mode", .rule = CONFIG_MODES},
    {"config", "tls_mode", .rule = CONFIG_MODES},
    {"config", "io-threads", .rule = CONFIG_AXIS, 1, 1024},
    {"config", "benchmark-threads", .rule = CONFIG_WHOLE, 1, 1024,
	.identity = "benchmark_threads", .absent = 1},
    {"config", "resp3", .rule = CONFIG_BOOL, .identity = "resp3"},
    {"config", "reconnect", .rule = CONFIG_WHOLE, 1, BIG,
	.identity = "reconnect"},
    {"config", "storm", .rule = CONFIG_SECONDS, 0, 1e7, .identity = "storm_s"},
    {"config", "idle_clients", .rule = CONFIG_WHOLE, 1, 1e6,
	.identity = "idle_clients"},
    {"config", "db", .rule = CONFIG_WHOLE, 0, 1e6, .identity = "db"},
    {"config", "tracking", .rule = CONFIG_CHOICE, .inner = "on|bcast",
	.identity = "tracking"},
    {"config", "read_from", .rule = CONFIG_CHOICE, .inner = "primary|replica",
	.identity = "read_from"},
    {"config", "tls_ciphers", .rule = CONFIG_TEXT, .identity = "tls_ciphers"},
    {"config", "tls_ciphersuites", .rule = CONFIG_TEXT,
	.identity = "tls_ciphersuites"},
    {"config", "tls_protocol", .rule = CONFIG_CHOICE,
	.inner = "TLSv1.2|TLSv1.3", .identity = "tls_protocol"},
    {"config", "tls_resumption", .rule = CONFIG_BOOL,
	.identity = "tls_resumption"},
    {"config", "verify", .rule = CONFIG_BOOL, .identity = "verify"},
    {"config", "rate", .rule = CONFIG_RATES, 0, 1e9},
    {"config", "slo", .rule = CONFIG_SLO},
    {"config", "arrivals", .rule = CONFIG_CHOICE, .inner = "constant|poisson"},
    {"config", "latency", .rule = CONFIG_CHOICE,
	.inner = "request|batch-first-byte", .identity = "latency"},
    {"config", "sequential", .rule = CONFIG_BOOL, .identity = "sequential"},
    {"config", "seed", .rule = CONFIG_SEED, 0, UINT32_MAX},
    {"config", "count", .rule = CONFIG_BOOL},
    {"config", "timeout", .rule = CONFIG_SECONDS, 0, 1e7},
    {"config", "max_lost", .rule = CONFIG_WHOLE, 0, BIG},
    {"config", "max_errors_percent", .rule = CONFIG_SECONDS, -1, 100},
    {"config", "placement", .rule = CONFIG_CHOICE, .inner = "auto|none"},
    {"config", "reference", .rule = CONFIG_TEXT},
    {"config", "server_cpu_range", .rule = CONFIG_CPUS},
    {"config", "client_cpu_range", .rule = CONFIG_CPUS},
    {"config", "cpu_allocation", .rule = CONFIG_OBJECT,
	.inner = "cpu_allocation"},
    {"config", "cluster_nodes", .rule = CONFIG_WHOLE, 1, 1000},
    {"config", "cluster_replicas", .rule = CONFIG_WHOLE, 0, 100},
    {"config", "cluster_ports", .rule = CONFIG_WHOLES, 1, 65535},
    {"config", "cluster_cpu_ranges", .rule = CONFIG_CPUSETS},
    {"config", "cluster_config_dir", .rule = CONFIG_TEXT},
    {"config", "bind_ip", .rule = CONFIG_TEXT},
    {"config", "port", .rule = CONFIG_WHOLE, 1, 65535},
    {"config", "unixsocket", .rule = CONFIG_BOOL, .identity = "unixsocket"},
    {"config", "aslr", .rule = CONFIG_BOOL},
    {"config", "rdb", .rule = CONFIG_TEXT},
    {"config", "modules", .rule = CONFIG_OBJECTS, -1, 0, .inner = "module"},
    {"config", "module_startup_args", .rule = CONFIG_TEXT},
    {"config", "config_sets", .rule = CONFIG_SETTINGS_SETS},
    {"config", "custom-server-configs", .rule = CONFIG_SETTINGS,
	.identity = "server_config"},
    {"config", "custom-server-config-file", .rule = CONFIG_TEXT,
	.identity = "server_config_file"},
    {"config", "profiling_sets", .rule = CONFIG_OBJECTS, .inner = "profiling"},
    {"config", "monitoring", .rule = CONFIG_OBJECT, .inner = "monitoring"},
    {"config", "dataset_generation", .rule = CONFIG_OBJECT, .inner = "any"},
    {"config", "query_generation", .rule = CONFIG_OBJECT, .inner = "any"},
    {"config", "test_groups", .rule = CONFIG_OBJECTS, .inner = "group"},
    {"config", "scenarios", .rule = CONFIG_OBJECTS, .inner = "scenario"},
    {"config", "test_name", .rule = CONFIG_TEXT},
    {"config", "description", .rule = CONFIG_TEXT},
    {"config", "socket_timeout", .rule = CONFIG_SECONDS, 0, 1e7},

    {"cpu_allocation", "cores_per_server", .rule = CONFIG_WHOLE, 1, 1024},
    {"cpu_allocation", "cores_per_client", .rule = CONFIG_WHOLE, 1, 1024},
    {"cpu_allocation", "servers", .rule = CONFIG_CPUSETS},
    {"cpu_allocation", "clients", .rule = CONFIG_CPUSETS},

    {"profiling", "enabled", .rule = CONFIG_BOOL},
    {"profiling", "sampling_freq", .rule = CONFIG_WHOLE, 1, 100000},
    {"profiling", "mode", .rule = CONFIG_CHOICE,
	.inner = "cpu|wall|wall-time|offcpu"},
    {"profiling", "delays", .rule = CONFIG_OBJECT, .inner = "delays"},

    {"delays", "write", .rule = CONFIG_OBJECT, .inner = "delay"},
    {"delays", "read", .rule = CONFIG_OBJECT, .inner = "delay"},
    {"delays", "ingestion", .rule = CONFIG_OBJECT, .inner = "delay"},
    {"delays", "search", .rule = CONFIG_OBJECT, .inner = "delay"},

    {"delay", "delay", .rule = CONFIG_SECONDS, -1, 864000},
    {"delay", "duration", .rule = CONFIG_SECONDS, 0, 864000},

    {"monitoring", "cpu_enabled", .rule = CONFIG_BOOL},
    {"monitoring", "per_cpu_enabled", .rule = CONFIG_BOOL},

    {"module", "path", .rule = CONFIG_TEXT},
    {"module", "startup_args", .rule = CONFIG_TEXTS, -1, 0},

    {"group", "group", .rule = CONFIG_ANY},
    {"group", "description", .rule = CONFIG_TEXT},
    {"group", "iterations", .rule = CONFIG_WHOLE, 1, 1e6},
    {"group", "scenarios", .rule = CONFIG_OBJECTS, .inner = "scenario"},

    {"scenario", "id", .rule = CONFIG_TEXT},
    {"scenario", "type", .rule = CONFIG_TEXT},
    {"scenario", "description", .rule = CONFIG_TEXT},
    {"scenario", "test", .rule = CONFIG_TEXT},
    {"scenario", "command", .rule = CONFIG_TEXT},
    {"scenario", "mix", .rule = CONFIG_MIX},
    {"scenario", "mix_order", .rule = CONFIG_CHOICE, .inner = "random|turn",
	.identity = "mix_order"},
    {"scenario", "setup_commands", .rule = CONFIG_TEXTS, -1, 0},
    {"scenario", "teardown_commands", .rule = CONFIG_TEXTS, -1, 0},
    {"scenario", "flush_before", .rule = CONFIG_BOOL,
	.identity = "flush_before"},
    {"scenario", "restart_before", .rule = CONFIG_BOOL,
	.identity = "restart_before"},
    {"scenario", "populate_with", .rule = CONFIG_TEXT},
    {"scenario", "dataset", .rule = CONFIG_TEXT},
    {"scenario", "xml_root_element", .rule = CONFIG_TEXT,
	.identity = "xml_root_element"},
    {"scenario", "maxdocs", .rule = CONFIG_WHOLE, 1, BIG,
	.identity = "maxdocs"},
    {"scenario", "clients", .rule = CONFIG_WHOLE, 1, 1e6, .identity = "clients",
	.absent = 1},
    {"scenario", "pipeline", .rule = CONFIG_WHOLE, 1, 1e6,
	.identity = "pipeline", .absent = 1},
    {"scenario", "duration", .rule = CONFIG_SECONDS, 0, 1e7},
    {"scenario", "requests", .rule = CONFIG_WHOLE, 1, BIG},
    {"scenario", "warmup", .rule = CONFIG_SECONDS, -1, 1e7},
    {"scenario", "warmup_inline", .rule = CONFIG_SECONDS, -1, 1e7},
    {"scenario", "warmup_writes_only", .rule = CONFIG_BOOL},
    {"scenario", "sequential", .rule = CONFIG_BOOL, .identity = "sequential"},
    {"scenario", "keys", .rule = CONFIG_KEYSPEC, .identity = "keys"},
    {"scenario", "values", .rule = CONFIG_VALUESPEC, .identity = "values"},
    {"scenario", "ttl", .rule = CONFIG_TTL, .identity = "ttl"},
    {"scenario", "seed", .rule = CONFIG_SEED, 0, UINT32_MAX},
    {"scenario", "data_size", .rule = CONFIG_WHOLE, 1, 1 << 29,
	.identity = "data_size", .absent = 100},
    {"scenario", "keyspacelen", .rule = CONFIG_WHOLE, 1, 999999999999},
    {"scenario", "rate", .rule = CONFIG_RATES, 0, 1e9},
    {"scenario", "slo", .rule = CONFIG_SLO},
    {"scenario", "options", .rule = CONFIG_SUFFIXES},
    {"scenario", "on_iterations", .rule = CONFIG_WHOLES, 1, 1e6},
    {"scenario", "cluster_execution", .rule = CONFIG_CHOICE,
	.inner = "single|parallel"},
    {"scenario", "parallel_clients", .rule = CONFIG_WHOLE, 1, 1e6,
	.identity = "parallel_clients"},
    {"scenario", "profiling", .rule = CONFIG_OBJECT, .inner = "profiling"},
    {"scenario", "writes", .rule = CONFIG_OBJECTS, .inner = "part"},
    {"scenario", "reads", .rule = CONFIG_OBJECTS, .inner = "part"},

    {"part", "id", .rule = CONFIG_TEXT}, {"part", "test", .rule = CONFIG_TEXT},
    {"part", "description", .rule = CONFIG_TEXT},
    {"part", "command", .rule = CONFIG_TEXT},
    {"part", "dataset", .rule = CONFIG_TEXT},
    {"part", "xml_root_element", .rule = CONFIG_TEXT},
    {"part", "maxdocs", .rule = CONFIG_WHOLE, 1, BIG},
    {"part", "clients", .rule = CONFIG_WHOLE, 1, 1e6},
    {"part", "pipeline", .rule = CONFIG_WHOLE, 1, 1e6},
    {"part", "duration", .rule = CONFIG_SECONDS, 0, 1e7},
    {"part", "requests", .rule = CONFIG_WHOLE, 1, BIG},
    {"part", "warmup", .rule = CONFIG_SECONDS, -1, 1e7},
    {"part", "sequential", .rule = CONFIG_BOOL},
    {"part", "keys", .rule = CONFIG_KEYSPEC},
    {"part", "values", .rule = CONFIG_VALUESPEC},
    {"part", "ttl", .rule = CONFIG_TTL},
    {"part", "seed", .rule = CONFIG_SEED, 0, UINT32_MAX},
    {"part", "data_size", .rule = CONFIG_WHOLE, 1, 1 << 29},
    {"part", "cluster_execution", .rule = CONFIG_CHOICE,
	.inner = "single|parallel"},
    {"part", "parallel_clients", .rule = CONFIG_WHOLE, 1, 1e6}, {0}};

const struct config_key *
config_find(const char *section, const char *name)
{
	for (const struct config_key *k = config_keys; k->name; k++)
		if (strcmp(k->section, section) == 0 &&
		    strcmp(k->name, name) == 0)
			return k;
	return NULL;
}

/* "one of a, b" */
static void
list_choices(const char *choices, char buf[CONFIG_WORDS])
{
	size_t n = (size_t)snprintf(buf, CONFIG_WORDS, "one of ");

	for (const char *s = choices; *s && n < CONFIG_WORDS - 3; s++)
		if (*s == '|') {
			buf[n++] = ',';
			buf[n++] = ' ';
		} else
			buf[n++] = *s;
	buf[n] = '\0';
}

const char *
config_format_rule(const struct config_key *k, char buf[CONFIG_WORDS])
{
	/* The second is for lists that may be empty and numbers from 0. */
	static const char *const words[][2] = {[CONFIG_ANY] = {"anything"},
	    [CONFIG_TEXT] = {"a non-blank string"},
	    [CONFIG_TEXTS] = {"a non-empty list of non-blank strings",
		"a list of non-blank strings"},
	    [CONFIG_BOOL] = {"true or false"},
	    [CONFIG_MODES] = {"true or false, or a list of them"},
	    [CONFIG_WHOLE] = {"a positive integer", "an integer >= 0"},
	    [CONFIG_WHOLES] = {"a list of positive integers",
		"a list of integers >= 0"},
	    [CONFIG_AXIS] = {"a positive integer or a list of positive "
			     "integers",
		"an integer or a list of them"},
	    [CONFIG_SECONDS] = {"a positive number", "a number >= 0"},
	    [CONFIG_RATES] = {"a positive number, a ramp such as "
			      "\"1000-50000\" or \"1000-50000/5\", or a list "
			      "of them"},
	    [CONFIG_SEED] = {"true, false or a 32-bit integer"},
	    [CONFIG_KEYSPEC] = {"a distribution such as \"zipf:0.99\""},
	    [CONFIG_KEYSPECS] = {"a distribution such as \"zipf:0.99\", or a "
				 "list of them"},
	    [CONFIG_VALUESPEC] = {"sizes such as \"64-1024 random\""},
	    [CONFIG_VALUESPECS] = {"sizes such as \"64-1024 random\", or a "
				   "list of them"},
	    [CONFIG_TTL] = {"seconds such as \"60\" or \"10-60\""},
	    [CONFIG_TTLS] = {"seconds such as \"60\" or \"10-60\", or a list "
			     "of them"},
	    [CONFIG_MIX] = {"commands and weights such as \"GET 90, SET "
			    "10\""},
	    [CONFIG_MIXES] = {"commands and weights such as \"GET 90, SET "
			      "10\", or a list of them"},
	    [CONFIG_SLO] = {"a limit of the latency such as \"p99<=1ms\""},
	    [CONFIG_SPEED] = {"a number from 0.000001 to 1000000 or "
			      "\"closed\""},
	    [CONFIG_CPUS] = {"a CPU list such as \"0-3,8\""},
	    [CONFIG_CPUSETS] = {"a non-empty list of CPU lists"},
	    [CONFIG_SETTINGS] = {"an object of strings, numbers and lists of "
				 "strings"},
	    [CONFIG_SETTINGS_SETS] = {"a non-empty list of objects of strings "
				      "and numbers"},
	    [CONFIG_SUFFIXES] = {"an object of strings"},
	    [CONFIG_OBJECT] = {"an object"},
	    [CONFIG_OBJECTS] = {
		"a non-empty list of objects", "a list of objects"}};
	bool integer = k->rule == CONFIG_WHOLE || k->rule == CONFIG_WHOLES ||
	    k->rule == CONFIG_AXIS;
	bool zero = k->min < 0 || (integer && k->min == 0);

	if (k->rule == CONFIG_CHOICE)
		list_choices(k->inner, buf);
	else if (k->rule == CONFIG_SECONDS && zero && k->max == 100)
		snprintf(
		    buf, CONFIG_WORDS, "a number from 0 to %g", (double)k->max);
	else
		snprintf(buf, CONFIG_WORDS, "%s%s",
		    words[k->rule][zero && words[k->rule][1]],
		    k->max == 65535 ? " up to 65535" : "");
	return buf;
}

bool
config_has_lines(const char *name, bool *words)
{
	static const struct {
		const char *name;
		bool words;
	} lines[] = {{"user", true}, {"rename-command", true}, {"save", false},
	    {"client-output-buffer-limit", false}};

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		if (strcasecmp(name, lines[i].name) == 0) {
			*words = lines[i].words;
			return true;
		}
	return *words = false;
}

int
config_resolve_secrets(struct json *settings, struct str *why)
{
	const char *variable, *value;
	struct json *m, *next;
	char *name, *number;

	for (m = settings ? json_first(settings) : NULL; m; m = next) {
		next = json_next(m);
		if (!redact_is_secret(json_key(m)))
			continue;
		variable = json_get_str(m, "env");
		number = json_type(m) == JSON_NUMBER ? json_print(m) : NULL;
		value = variable ? opt_variable(variable) : number;
		if (variable && !value)
			return str_fail(why,
			    "'%s' is in the environment variable '%s', which "
			    "is not set",
			    json_key(m), variable);
		name = mem_str(json_key(m));
		if (value)
			json_set_str(settings, name, value);
		free(name);
		free(number);
	}
	return 0;
}

void
config_copy_identity(
    struct json *config, const char *section, const struct json *obj)
{
	const struct json *v;

	for (const struct config_key *k = config_keys; k->name; k++) {
		if (!k->identity || strcmp(k->section, section) != 0)
			continue;
		v = json_get(obj, k->name);
		if (!v && k->absent > 0)
			json_set_num(config, k->identity, k->absent);
		if (!v || (json_type(v) == JSON_BOOL && !json_bool(v, false)) ||
		    (json_type(v) == JSON_OBJECT && !json_len(v)))
			continue;
		json_set(config, k->identity, json_dup(v));
	}
}
