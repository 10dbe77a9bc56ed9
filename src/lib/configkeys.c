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

#define EVERYWHERE "config scenario part"

/* The order is that of the ids of cases. */
const struct config_key config_keys[] = {
    /* The load. */
    {"config", "commands", .rule = CONFIG_TEXT, .list = CONFIG_LIST, .axis = 16,
	.identity = "command", .excludes = "mix", .not_replayed = true},
    {"scenario part", "command", .rule = CONFIG_TEXT, .identity = "command",
	.made = true},
    {"config", "data_sizes", .rule = CONFIG_WHOLE, 1, 1 << 29,
	.list = CONFIG_LIST, .axis = 9, .identity = "data_size", .plain = 3,
	.id = "-d", .form = CONFIG_ID_SIZE, .not_replayed = true},
    {"scenario part", "data_size", .rule = CONFIG_WHOLE, 1, 1 << 29,
	.identity = "data_size", .absent = 100, .not_replayed = true},
    {"config", "pipelines", .rule = CONFIG_WHOLE, 1, 1e6, .list = CONFIG_LIST,
	.axis = 12, .identity = "pipeline", .plain = 1, .id = "-P",
	.form = CONFIG_ID_SIZE},
    {"scenario part", "pipeline", .rule = CONFIG_WHOLE, 1, 1e6,
	.identity = "pipeline", .absent = 1},
    {EVERYWHERE, "clients", .rule = CONFIG_WHOLE, 1, 1e6, .list = CONFIG_LIST,
	.axis = 13, .identity = "clients", .absent = 1, .plain = 50, .id = "-c",
	.form = CONFIG_ID_SIZE},
    {"config scenario", "keyspacelen", .rule = CONFIG_WHOLE, 1, 999999999999,
	.list = CONFIG_LIST, .axis = 7, .identity = "keyspacelen",
	.plain = 1000000, .id = "-k", .form = CONFIG_ID_SIZE,
	.not_replayed = true},
    {"config scenario", "mix", .rule = CONFIG_MIX, .list = CONFIG_LISTABLE,
	.axis = 15, .identity = "mix", .excludes = "test command",
	.not_replayed = true, .foreign = "mixes"},
    {"config scenario", "mix_order", .rule = CONFIG_CHOICE,
	.inner = "random|turn", .identity = "mix_order", .usual = "random",
	.id = "-in_turn", .form = CONFIG_ID_WORD, .needs = "mix",
	.not_replayed = true},
    {EVERYWHERE, "keys", .rule = CONFIG_KEYSPEC, .list = CONFIG_LISTABLE,
	.axis = 8, .identity = "keys", .id = "-", .excludes = "sequential",
	.not_replayed = true, .foreign = "distributions of keys"},
    {EVERYWHERE, "values", .rule = CONFIG_VALUESPEC, .list = CONFIG_LISTABLE,
	.axis = 10, .identity = "values", .id = "-v",
	.excludes = "data_sizes data_size", .not_replayed = true,
	.foreign = "values that differ"},
    {EVERYWHERE, "ttl", .rule = CONFIG_SPAN, .list = CONFIG_LISTABLE,
	.axis = 11, .identity = "ttl", .id = "-ttl", .not_replayed = true,
	.foreign = "times to live"},
    {"config", "replay", .rule = CONFIG_TEXT, .identity = "replay",
	.made = true, .id = "-", .foreign = "traces"},
    {"config", "replay_speed", .rule = CONFIG_SPEED, .identity = "replay_speed",
	.made = true, .id = "-x", .needs = "replay"},
    {"config scenario", "populate_with", .rule = CONFIG_TEXT,
	.identity = "populate_with", .not_replayed = true},

    /* The server and how it is reached. */
    {"config", "cluster_mode", .rule = CONFIG_BOOL, .list = CONFIG_LISTABLE,
	.axis = 1, .identity = "cluster_mode", .made = true, .id = "-cluster"},
    {"config", "cluster_nodes", .rule = CONFIG_WHOLE, 1, 1000,
	.identity = "cluster_nodes", .made = true, .id = "",
	.form = CONFIG_ID_ABOVE_1},
    {"config", "cluster_replicas", .rule = CONFIG_WHOLE, 0, 100,
	.identity = "cluster_replicas", .made = true, .id = "-r"},
    {"config", "tls_mode", .rule = CONFIG_BOOL, .list = CONFIG_LISTABLE,
	.axis = 2, .identity = "tls_mode", .made = true, .id = "-tls"},
    {"config", "tls_protocol", .rule = CONFIG_CHOICE,
	.inner = "TLSv1.2|TLSv1.3", .identity = "tls_protocol", .id = "-",
	.needs = "tls_mode", .foreign = "chosen versions of TLS"},
    {"config", "tls_ciphers", .rule = CONFIG_TEXT, .identity = "tls_ciphers",
	.id = "-", .needs = "tls_mode", .foreign = "chosen ciphers"},
    {"config", "tls_ciphersuites", .rule = CONFIG_TEXT,
	.identity = "tls_ciphersuites", .id = "-", .needs = "tls_mode",
	.foreign = "chosen ciphers"},
    {"config", "tls_resumption", .rule = CONFIG_BOOL,
	.identity = "tls_resumption", .id = "-resumed", .needs = "tls_mode"},
    {"config", "io-threads", .rule = CONFIG_WHOLE, 1, 1024,
	.list = CONFIG_LISTABLE, .axis = 5, .identity = "io_threads",
	.made = true, .id = "-io", .form = CONFIG_ID_ABOVE_1},

    /* How much is sent, and when. */
    {"config scenario", "slo", .rule = CONFIG_SLO, .identity = "slo", .id = "-",
	.excludes = "rate requests", .not_replayed = true,
	.foreign = "searches of the capacity"},
    {"config scenario", "rate", .rule = CONFIG_RATE, 0, 1e9,
	.list = CONFIG_LISTABLE, .axis = 14, .identity = "rate", .id = "-rate",
	.not_replayed = true, .foreign = "rates"},
    {"config", "arrivals", .rule = CONFIG_CHOICE, .inner = "constant|poisson",
	.identity = "arrivals", .made = true, .not_replayed = true},

    /* Connections. */
    {"config", "unixsocket", .rule = CONFIG_BOOL, .identity = "unixsocket",
	.id = "-unix", .excludes = "cluster_mode tls_mode"},
    {"config", "resp3", .rule = CONFIG_BOOL, .identity = "resp3",
	.id = "-resp3"},
    {"config", "reconnect", .rule = CONFIG_WHOLE, 1, BIG,
	.identity = "reconnect", .id = "-re", .not_replayed = true,
	.foreign = "reopened connections"},
    {"config", "storm", .rule = CONFIG_SECONDS, 0, 1e7, .identity = "storm_s",
	.id = "-storm", .not_replayed = true,
	.foreign = "reopened connections"},
    {"config", "idle_clients", .rule = CONFIG_WHOLE, 1, 1e6,
	.identity = "idle_clients", .id = "-idle"},
    {"config", "db", .rule = CONFIG_WHOLE, 0, 1e6, .identity = "db",
	.usual = "0", .id = "-db", .not_replayed = true,
	.foreign = "other databases"},
    {"config", "tracking", .rule = CONFIG_CHOICE, .inner = "on|bcast",
	.identity = "tracking", .id = "-track_", .not_replayed = true,
	.foreign = "client tracking"},
    {"config", "read_from", .rule = CONFIG_CHOICE, .inner = "primary|replica",
	.identity = "read_from", .usual = "primary", .id = "-from_",
	.not_replayed = true, .foreign = "reads from replicas"},
    {"config", "verify", .rule = CONFIG_BOOL, .identity = "verify",
	.id = "-verify", .foreign = "loads that are verified"},
    {"case", "no_flush", .rule = CONFIG_BOOL, .identity = "no_flush",
	.id = "-no_flush"},
    {"config", "latency", .rule = CONFIG_CHOICE,
	.inner = "request|batch-first-byte", .identity = "latency",
	.id = "-bfb", .form = CONFIG_ID_ENGINE},
    {"config", "config_sets", .rule = CONFIG_SETTINGS_SET, .list = CONFIG_LIST,
	.axis = 4, .identity = "config_set", .made = true, .id = "-"},
    {"config", "profiling_sets", .rule = CONFIG_OBJECT, .inner = "profiling",
	.list = CONFIG_LIST, .axis = 3, .identity = "profiling", .made = true,
	.id = "-profiled", .form = CONFIG_ID_WORD},

    /* What only the longer form of an id has. */
    {EVERYWHERE, "requests", .rule = CONFIG_WHOLE, 1, BIG, .list = CONFIG_LIST,
	.axis = 6, .identity = "requests", .id = "-n", .form = CONFIG_ID_LONG,
	.excludes = "duration"},
    {EVERYWHERE, "duration", .rule = CONFIG_SECONDS, 0, 1e7,
	.identity = "duration_s", .made = true, .id = "-t",
	.form = CONFIG_ID_LONG},
    {EVERYWHERE, "warmup", .rule = CONFIG_SECONDS, -1, 1e7,
	.identity = "warmup_s", .made = true, .id = "-w",
	.form = CONFIG_ID_LONG, .excludes = "warmup_inline"},
    {"config", "benchmark-threads", .rule = CONFIG_WHOLE, 1, 1024,
	.identity = "benchmark_threads", .absent = 1, .id = "-T",
	.form = CONFIG_ID_LONG},
    {EVERYWHERE, "sequential", .rule = CONFIG_BOOL, .identity = "sequential",
	.id = "-seq", .form = CONFIG_ID_LONG, .not_replayed = true},

    /* What tells cases apart, but is in no id. */
    {"config", "custom-server-configs", .rule = CONFIG_SETTINGS,
	.identity = "server_config"},
    {"config", "custom-server-config-file", .rule = CONFIG_TEXT,
	.identity = "server_config_file"},
    {"config", "rdb", .rule = CONFIG_TEXT, .identity = "rdb", .made = true},
    {"config", "modules", .rule = CONFIG_OBJECT, -1, 0, .inner = "module",
	.list = CONFIG_LIST, .identity = "modules", .made = true},
    {"scenario", "setup_commands", .rule = CONFIG_TEXT, -1, 0,
	.list = CONFIG_LIST, .identity = "setup_commands"},
    {"scenario", "teardown_commands", .rule = CONFIG_TEXT, -1, 0,
	.list = CONFIG_LIST, .identity = "teardown_commands"},
    {"scenario", "flush_before", .rule = CONFIG_BOOL,
	.identity = "flush_before"},
    {"scenario", "restart_before", .rule = CONFIG_BOOL,
	.identity = "restart_before"},
    {"scenario", "warmup_writes_only", .rule = CONFIG_BOOL,
	.identity = "warmup_writes_only", .made = true},
    {"scenario part", "dataset", .rule = CONFIG_TEXT, .identity = "dataset",
	.foreign = "datasets"},
    {"scenario part", "xml_root_element", .rule = CONFIG_TEXT,
	.identity = "xml_root_element"},
    {"scenario part", "maxdocs", .rule = CONFIG_WHOLE, 1, BIG,
	.identity = "maxdocs"},
    {"scenario part", "cluster_execution", .rule = CONFIG_CHOICE,
	.inner = "single|parallel", .identity = "cluster_execution",
	.usual = "single", .foreign = "clients in parallel"},
    {"scenario part", "parallel_clients", .rule = CONFIG_WHOLE, 1, 1e6,
	.identity = "parallel_clients", .foreign = "clients in parallel"},
    {"scenario", "writes", .rule = CONFIG_OBJECT, .inner = "part",
	.list = CONFIG_LIST, .identity = "writes", .made = true,
	.foreign = "mixed scenarios"},
    {"scenario", "reads", .rule = CONFIG_OBJECT, .inner = "part",
	.list = CONFIG_LIST, .identity = "reads", .made = true,
	.foreign = "mixed scenarios"},
    {"case", "engine", .rule = CONFIG_TEXT, .identity = "engine"},
    {"case", "trace", .rule = CONFIG_TEXT, .identity = "trace"},
    {"case", "warmup_apart", .rule = CONFIG_BOOL, .identity = "warmup_apart"},

    /* What does not tell cases apart. */
    {EVERYWHERE, "seed", .rule = CONFIG_SEED, 0, UINT32_MAX},
    {"config", "count", .rule = CONFIG_BOOL, .not_replayed = true},
    {"config", "timeout", .rule = CONFIG_SECONDS, 0, 1e7},
    {"config", "max_lost", .rule = CONFIG_WHOLE, 0, BIG, .not_replayed = true},
    {"config", "max_errors_percent", .rule = CONFIG_SECONDS, -1, 100},
    {"config", "placement", .rule = CONFIG_CHOICE, .inner = "auto|none"},
    {"config", "reference", .rule = CONFIG_TEXT},
    {"config", "server_cpu_range", .rule = CONFIG_CPUS},
    {"config", "client_cpu_range", .rule = CONFIG_CPUS},
    {"config", "cpu_allocation", .rule = CONFIG_OBJECT,
	.inner = "cpu_allocation",
	.excludes = "server_cpu_range client_cpu_range"},
    {"config", "cluster_ports", .rule = CONFIG_WHOLE, 1, 65535,
	.list = CONFIG_LIST},
    {"config", "cluster_cpu_ranges", .rule = CONFIG_CPUS, .list = CONFIG_LIST},
    {"config", "cluster_config_dir", .rule = CONFIG_TEXT},
    {"config", "bind_ip", .rule = CONFIG_TEXT},
    {"config", "port", .rule = CONFIG_WHOLE, 1, 65535},
    {"config", "aslr", .rule = CONFIG_BOOL},
    {"config", "module_startup_args", .rule = CONFIG_TEXT},
    {"config", "monitoring", .rule = CONFIG_OBJECT, .inner = "monitoring"},
    {"config", "dataset_generation", .rule = CONFIG_OBJECT, .inner = "any"},
    {"config", "query_generation", .rule = CONFIG_OBJECT, .inner = "any"},
    {"config", "test_groups", .rule = CONFIG_OBJECT, .inner = "group",
	.list = CONFIG_LIST, .not_replayed = true},
    {"config group", "scenarios", .rule = CONFIG_OBJECT, .inner = "scenario",
	.list = CONFIG_LIST, .not_replayed = true},
    {"config", "test_name", .rule = CONFIG_TEXT},
    {"config group scenario part", "description", .rule = CONFIG_TEXT},
    {"config", "socket_timeout", .rule = CONFIG_SECONDS, 0, 1e7},
    {"group", "group", .rule = CONFIG_ANY},
    {"group", "iterations", .rule = CONFIG_WHOLE, 1, 1e6},
    {"scenario part", "id", .rule = CONFIG_TEXT},
    {"scenario", "type", .rule = CONFIG_TEXT},
    {"scenario", "test", .rule = CONFIG_TEXT, .excludes = "command"},
    {"part", "test", .rule = CONFIG_TEXT},
    {"scenario", "warmup_inline", .rule = CONFIG_SECONDS, -1, 1e7},
    {"scenario", "options", .rule = CONFIG_SUFFIXES},
    {"scenario", "on_iterations", .rule = CONFIG_WHOLE, 1, 1e6,
	.list = CONFIG_LIST},
    {"scenario", "profiling", .rule = CONFIG_OBJECT, .inner = "profiling"},

    {"cpu_allocation", "cores_per_server", .rule = CONFIG_WHOLE, 1, 1024},
    {"cpu_allocation", "cores_per_client", .rule = CONFIG_WHOLE, 1, 1024},
    {"cpu_allocation", "servers", .rule = CONFIG_CPUS, .list = CONFIG_LIST},
    {"cpu_allocation", "clients", .rule = CONFIG_CPUS, .list = CONFIG_LIST},

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
    {"module", "startup_args", .rule = CONFIG_TEXT, -1, 0, .list = CONFIG_LIST},
    {0}};

const struct config_key *
config_find(const char *section, const char *name)
{
	for (const struct config_key *k = config_keys; k->name; k++)
		if (strcmp(k->name, name) == 0 &&
		    str_has_part(k->where, section, ' '))
			return k;
	return NULL;
}

const struct config_key *
config_find_identity(const char *name)
{
	for (const struct config_key *k = config_keys; k->name; k++)
		if (k->identity && strcmp(k->identity, name) == 0)
			return k;
	return NULL;
}

enum config_list
config_listing(const struct config_key *k, const char *section)
{
	if (k->axis && k->rule != CONFIG_RATE && strcmp(section, "config") != 0)
		return CONFIG_SINGLE;
	return k->list;
}

bool
config_excludes(const struct config_key *k, const struct config_key *other)
{
	return (k->excludes && str_has_part(k->excludes, other->name, ' ')) ||
	    (other->not_replayed && strcmp(k->name, "replay") == 0);
}

bool
config_is_given(const struct json *obj, const char *name)
{
	const struct json *v = json_get(obj, name);

	if (!v || json_type(v) != JSON_ARRAY)
		return v && json_bool(v, true) && json_num(v, 1) != 0;
	for (v = json_first(v); v; v = json_next(v))
		if (json_bool(v, true))
			return true;
	return false;
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
config_format_rule(
    const struct config_key *k, const char *section, char buf[CONFIG_WORDS])
{
	/* One value; a list; and a list that may be empty or a number from 0.
	 */
	static const char *const words[][3] = {[CONFIG_ANY] = {"anything"},
	    [CONFIG_TEXT] = {"a non-blank string",
		"a non-empty list of non-blank strings",
		"a list of non-blank strings"},
	    [CONFIG_BOOL] = {"true or false"},
	    [CONFIG_WHOLE] = {"a positive integer",
		"a list of positive integers", "an integer >= 0"},
	    [CONFIG_SECONDS] = {"a positive number", NULL, "a number >= 0"},
	    [CONFIG_RATE] = {"a positive number, a ramp such as "
			     "\"1000-50000\" or \"1000-50000/5\""},
	    [CONFIG_SEED] = {"true, false or a 32-bit integer"},
	    [CONFIG_KEYSPEC] = {"a distribution such as \"zipf:0.99\""},
	    [CONFIG_VALUESPEC] = {"sizes such as \"64-1024 random\""},
	    [CONFIG_SPAN] = {"seconds such as \"60\" or \"10-60\""},
	    [CONFIG_MIX] = {"commands and weights such as \"GET 90, SET "
			    "10\""},
	    [CONFIG_SLO] = {"a limit of the latency such as \"p99<=1ms\""},
	    [CONFIG_SPEED] = {"a number from 0.000001 to 1000000 or "
			      "\"closed\""},
	    [CONFIG_CPUS] = {"a CPU list such as \"0-3,8\"",
		"a non-empty list of CPU lists"},
	    [CONFIG_SETTINGS] = {"an object of strings, numbers and lists of "
				 "strings"},
	    [CONFIG_SETTINGS_SET] = {"an object of strings and numbers",
		"a non-empty list of objects of strings and numbers"},
	    [CONFIG_SUFFIXES] = {"an object of strings"},
	    [CONFIG_OBJECT] = {"an object", "a non-empty list of objects",
		"a list of objects"}};
	enum config_list list = config_listing(k, section);
	bool zero = k->min < 0 || (k->rule == CONFIG_WHOLE && k->min == 0);

	if (k->rule == CONFIG_CHOICE)
		list_choices(k->inner, buf);
	else if (k->rule == CONFIG_SECONDS && zero && k->max == 100)
		snprintf(
		    buf, CONFIG_WORDS, "a number from 0 to %g", (double)k->max);
	else
		snprintf(buf, CONFIG_WORDS, "%s%s%s",
		    words[k->rule][zero           ? 2
			    : list == CONFIG_LIST ? 1
						  : 0],
		    k->max == 65535 ? " up to 65535" : "",
		    list == CONFIG_LISTABLE ? ", or a list of them" : "");
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
	bool whole = strcmp(section, "config") == 0;
	const struct json *v;

	for (const struct config_key *k = config_keys; k->name; k++) {
		if (!k->identity || k->made || (whole && k->axis) ||
		    !str_has_part(k->where, section, ' ') ||
		    json_get(config, k->identity))
			continue;
		v = json_get(obj, k->name);
		if (!v && k->absent > 0)
			json_set_num(config, k->identity, k->absent);
		if (!v || (json_type(v) == JSON_BOOL && !json_bool(v, false)) ||
		    ((json_type(v) == JSON_OBJECT ||
			 json_type(v) == JSON_ARRAY) &&
			!json_len(v)))
			continue;
		json_set(config, k->identity, json_dup(v));
	}
}
