#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define CORE "core"
#define SCEN "scenario"
#define BOTH "both"
#define BIG 9007199254740991.0

const struct config_key config_keys[] = {
    /* the configuration itself */
    {"config", "commands", CORE, CONFIG_TEXTS, 0, 0, NULL,
	"named tests, upper case: SET, GET, LRANGE_100, ..."},
    {"config", "data_sizes", CORE, CONFIG_WHOLES, 1, 1 << 29, NULL,
	"sizes of the values in bytes"},
    {"config", "pipelines", CORE, CONFIG_WHOLES, 1, 1e6, NULL,
	"requests sent at once by a connection"},
    {"config", "clients", CORE, CONFIG_WHOLES, 1, 1e6, NULL, "connections"},
    {"config", "keyspacelen", BOTH, CONFIG_WHOLES, 1, 999999999999, NULL,
	"number of keys"},
    {"config", "requests", CORE, CONFIG_WHOLES, 1, BIG, NULL,
	"requests of a run; this or duration"},
    {"config", "duration", BOTH, CONFIG_SECONDS, 0, 1e7, NULL,
	"seconds of a run; this or requests"},
    {"config", "warmup", CORE, CONFIG_SECONDS, -1, 1e7, NULL,
	"seconds of load before the measurement; 0 means none"},
    {"config", "cluster_mode", BOTH, CONFIG_MODES, 0, 0, NULL,
	"a cluster, or a single server; a list runs each"},
    {"config", "tls_mode", BOTH, CONFIG_MODES, 0, 0, NULL,
	"TLS, or plain; a list runs each"},
    {"config", "io-threads", BOTH, CONFIG_AXIS, 1, 1024, NULL,
	"number of io-threads of the server"},
    {"config", "benchmark-threads", BOTH, CONFIG_WHOLE, 1, 1024, NULL,
	"threads of the load client; 1 when absent"},
    {"config", "resp3", BOTH, CONFIG_BOOL, 0, 0, NULL,
	"the load uses RESP3 (HELLO 3) instead of RESP2"},
    {"config", "rate", BOTH, CONFIG_RATES, 0, 1e9, NULL,
	"requests per second on a fixed schedule (open loop)"},
    {"config", "arrivals", BOTH, CONFIG_CHOICE, 0, 0, "constant|poisson",
	"how the requests of a rate are spread; constant when absent"},
    {"config", "latency", BOTH, CONFIG_CHOICE, 0, 0, "request|batch-first-byte",
	"what a latency measures: a request, or as in valkey-benchmark"},
    {"config", "sequential", BOTH, CONFIG_BOOL, 0, 0, NULL,
	"keys in order rather than at random"},
    {"config", "seed", BOTH, CONFIG_SEED, 0, UINT32_MAX, NULL,
	"seed of the random numbers; true and false change nothing: a seed is "
	"always drawn and recorded"},
    {"config", "timeout", BOTH, CONFIG_SECONDS, 0, 1e7, NULL,
	"seconds without a reply after which a run has failed; 60"},
    {"config", "max_lost", BOTH, CONFIG_WHOLE, 0, BIG, NULL,
	"requests lost or unanswered, and reconnects, that do not fail a run; "
	"0"},
    {"config", "server_cpu_range", BOTH, CONFIG_CPUS, 0, 0, NULL,
	"CPUs of the server, of every node alike"},
    {"config", "client_cpu_range", BOTH, CONFIG_CPUS, 0, 0, NULL,
	"CPUs of the load client"},
    {"config", "cpu_allocation", BOTH, CONFIG_OBJECT, 0, 0, "cpu_allocation",
	"number of CPUs for each node and client; excludes the two ranges"},
    {"config", "cluster_nodes", BOTH, CONFIG_WHOLE, 1, 1000, NULL,
	"primaries in cluster mode; 1 when absent"},
    {"config", "cluster_replicas", BOTH, CONFIG_WHOLE, 0, 100, NULL,
	"replicas of each primary; none when absent"},
    {"config", "cluster_ports", BOTH, CONFIG_WHOLES, 1, 65535, NULL,
	"ports of the nodes, one after the other; free ones when absent"},
    {"config", "cluster_cpu_ranges", BOTH, CONFIG_CPUSETS, 0, 0, NULL,
	"CPUs of each node of a cluster"},
    {"config", "cluster_config_dir", BOTH, CONFIG_TEXT, 0, 0, NULL,
	"accepted; nodes have directories of their own"},
    {"config", "bind_ip", BOTH, CONFIG_TEXT, 0, 0, NULL,
	"address the servers bind; 127.0.0.1 when absent"},
    {"config", "port", BOTH, CONFIG_WHOLE, 1, 65535, NULL,
	"port of a single server; a free one when absent"},
    {"config", "unixsocket", BOTH, CONFIG_BOOL, 0, 0, NULL,
	"the load goes over a unix socket"},
    {"config", "aslr", BOTH, CONFIG_BOOL, 0, 0, NULL,
	"false: the server's address layout is not randomised"},
    {"config", "rdb", BOTH, CONFIG_TEXT, 0, 0, NULL,
	"RDB file that the server loads at start"},
    {"config", "modules", BOTH, CONFIG_OBJECTS, -1, 0, "module",
	"modules to load"},
    {"config", "module_startup_args", BOTH, CONFIG_TEXT, 0, 0, NULL,
	"accepted; the arguments are those of modules"},
    {"config", "config_sets", BOTH, CONFIG_SETTINGS_SETS, 0, 0, NULL,
	"settings for CONFIG SET after the start; each set is run"},
    {"config", "custom-server-configs", BOTH, CONFIG_SETTINGS, 0, 0, NULL,
	"settings of the server's command line"},
    {"config", "custom-server-config-file", BOTH, CONFIG_TEXT, 0, 0, NULL,
	"configuration file of the server"},
    {"config", "profiling_sets", BOTH, CONFIG_OBJECTS, 0, 0, "profiling",
	"profiler settings; each set is run"},
    {"config", "monitoring", BOTH, CONFIG_OBJECT, 0, 0, "monitoring",
	"accepted; every run is monitored"},
    {"config", "dataset_generation", BOTH, CONFIG_OBJECT, 0, 0, "any",
	"datasets, for vkb-gendata"},
    {"config", "query_generation", BOTH, CONFIG_OBJECT, 0, 0, "any",
	"query files, for vkb-gendata"},
    {"config", "test_groups", SCEN, CONFIG_OBJECTS, 0, 0, "group",
	"groups of scenarios"},
    {"config", "scenarios", SCEN, CONFIG_OBJECTS, 0, 0, "scenario",
	"scenarios, as one group"},
    {"config", "test_name", BOTH, CONFIG_TEXT, 0, 0, NULL,
	"accepted; a name for people"},
    {"config", "description", BOTH, CONFIG_TEXT, 0, 0, NULL,
	"accepted; a text for people"},
    {"config", "socket_timeout", BOTH, CONFIG_SECONDS, 0, 1e7, NULL,
	"accepted; see timeout"},

    {"cpu_allocation", "cores_per_server", BOTH, CONFIG_WHOLE, 1, 1024, NULL,
	"CPUs of each node"},
    {"cpu_allocation", "cores_per_client", BOTH, CONFIG_WHOLE, 1, 1024, NULL,
	"CPUs of each client"},
    {"cpu_allocation", "servers", BOTH, CONFIG_CPUSETS, 0, 0, NULL,
	"CPUs of each node, instead of the arithmetic"},
    {"cpu_allocation", "clients", BOTH, CONFIG_CPUSETS, 0, 0, NULL,
	"CPUs of each client, instead of the arithmetic"},

    {"profiling", "enabled", BOTH, CONFIG_BOOL, 0, 0, NULL,
	"whether the cases of the set are profiled; false when absent"},
    {"profiling", "sampling_freq", BOTH, CONFIG_WHOLE, 1, 100000, NULL,
	"samples per second; 999 when absent"},
    {"profiling", "mode", BOTH, CONFIG_CHOICE, 0, 0,
	"cpu|wall|wall-time|offcpu", "what is sampled; cpu when absent"},
    {"profiling", "delays", BOTH, CONFIG_OBJECT, 0, 0, "delays",
	"when a profile begins, and how long it lasts"},

    {"delays", "write", BOTH, CONFIG_OBJECT, 0, 0, "delay",
	"for cases that write"},
    {"delays", "read", BOTH, CONFIG_OBJECT, 0, 0, "delay",
	"for cases that read"},
    {"delays", "ingestion", BOTH, CONFIG_OBJECT, 0, 0, "delay",
	"the older word for write"},
    {"delays", "search", BOTH, CONFIG_OBJECT, 0, 0, "delay",
	"the older word for read"},

    {"delay", "delay", BOTH, CONFIG_SECONDS, -1, 864000, NULL,
	"seconds from the end of the warm-up; 0 when absent"},
    {"delay", "duration", BOTH, CONFIG_SECONDS, 0, 864000, NULL,
	"seconds of the profile; 10 when absent"},

    {"monitoring", "cpu_enabled", BOTH, CONFIG_BOOL, 0, 0, NULL,
	"accepted; every run is monitored"},
    {"monitoring", "per_cpu_enabled", BOTH, CONFIG_BOOL, 0, 0, NULL,
	"accepted; every run is monitored"},

    {"module", "path", BOTH, CONFIG_TEXT, 0, 0, NULL, "the module"},
    {"module", "startup_args", BOTH, CONFIG_TEXTS, -1, 0, NULL,
	"its arguments"},

    {"group", "group", SCEN, CONFIG_ANY, 0, 0, NULL,
	"name or number; 'unknown' when absent"},
    {"group", "description", SCEN, CONFIG_TEXT, 0, 0, NULL,
	"a text for people"},
    {"group", "iterations", SCEN, CONFIG_WHOLE, 1, 1e6, NULL,
	"number of times the scenarios are run"},
    {"group", "scenarios", SCEN, CONFIG_OBJECTS, 0, 0, "scenario",
	"the scenarios, in order"},

    {"scenario", "id", SCEN, CONFIG_TEXT, 0, 0, NULL,
	"name; part of test_id; 'unknown' when absent"},
    {"scenario", "type", SCEN, CONFIG_TEXT, 0, 0, NULL,
	"write, read, mixed or another word; becomes test_phase"},
    {"scenario", "description", SCEN, CONFIG_TEXT, 0, 0, NULL,
	"a text for people"},
    {"scenario", "test", SCEN, CONFIG_TEXT, 0, 0, NULL,
	"a named test, as in commands"},
    {"scenario", "command", SCEN, CONFIG_TEXT, 0, 0, NULL,
	"a command with placeholders, quoted as in the shell"},
    {"scenario", "setup_commands", SCEN, CONFIG_TEXTS, -1, 0, NULL,
	"commands sent once before"},
    {"scenario", "teardown_commands", SCEN, CONFIG_TEXTS, -1, 0, NULL,
	"commands sent once after"},
    {"scenario", "flush_before", SCEN, CONFIG_BOOL, 0, 0, NULL,
	"begins with an empty server"},
    {"scenario", "restart_before", SCEN, CONFIG_BOOL, 0, 0, NULL,
	"begins with a fresh server"},
    {"scenario", "populate_with", SCEN, CONFIG_TEXT, 0, 0, NULL,
	"a test or command that fills the server before"},
    {"scenario", "dataset", SCEN, CONFIG_TEXT, 0, 0, NULL,
	"file whose columns the command uses"},
    {"scenario", "xml_root_element", SCEN, CONFIG_TEXT, 0, 0, NULL,
	"element of a record in an XML dataset"},
    {"scenario", "maxdocs", SCEN, CONFIG_WHOLE, 1, BIG, NULL,
	"records taken from the dataset"},
    {"scenario", "clients", SCEN, CONFIG_WHOLE, 1, 1e6, NULL,
	"connections; 1 when absent"},
    {"scenario", "pipeline", SCEN, CONFIG_WHOLE, 1, 1e6, NULL,
	"requests sent at once; 1 when absent"},
    {"scenario", "duration", SCEN, CONFIG_SECONDS, 0, 1e7, NULL,
	"seconds of a run; wins over requests and maxdocs"},
    {"scenario", "requests", SCEN, CONFIG_WHOLE, 1, BIG, NULL,
	"requests of a run"},
    {"scenario", "warmup", SCEN, CONFIG_SECONDS, -1, 1e7, NULL,
	"seconds of load before the measurement, on connections of their own"},
    {"scenario", "warmup_inline", SCEN, CONFIG_SECONDS, -1, 1e7, NULL,
	"the same on the connections that are measured"},
    {"scenario", "warmup_writes_only", SCEN, CONFIG_BOOL, 0, 0, NULL,
	"the warm-up of a mixed scenario only writes"},
    {"scenario", "sequential", SCEN, CONFIG_BOOL, 0, 0, NULL,
	"keys in order rather than at random"},
    {"scenario", "seed", SCEN, CONFIG_SEED, 0, UINT32_MAX, NULL,
	"as in the configuration"},
    {"scenario", "data_size", SCEN, CONFIG_WHOLE, 1, 1 << 29, NULL,
	"size of __data__ in bytes; 100 when absent"},
    {"scenario", "keyspacelen", SCEN, CONFIG_WHOLE, 1, 999999999999, NULL,
	"number of keys; else the configuration's first, else 1000000"},
    {"scenario", "rate", SCEN, CONFIG_RATES, 0, 1e9, NULL,
	"as in the configuration"},
    {"scenario", "options", SCEN, CONFIG_SUFFIXES, 0, 0, NULL,
	"FLAG: SUFFIX; a variant with each flag added to the command"},
    {"scenario", "on_iterations", SCEN, CONFIG_WHOLES, 1, 1e6, NULL,
	"iterations of the group in which it takes part; all when absent"},
    {"scenario", "cluster_execution", SCEN, CONFIG_CHOICE, 0, 0,
	"single|parallel", "one client for the cluster, or one for each node"},
    {"scenario", "parallel_clients", SCEN, CONFIG_WHOLE, 1, 1e6, NULL,
	"clients in parallel, over the nodes in turn"},
    {"scenario", "profiling", SCEN, CONFIG_OBJECT, 0, 0, "profiling",
	"merged over the profiling set"},
    {"scenario", "writes", SCEN, CONFIG_OBJECTS, 0, 0, "part",
	"writers of a mixed scenario"},
    {"scenario", "reads", SCEN, CONFIG_OBJECTS, 0, 0, "part",
	"readers of a mixed scenario"},

    {"part", "id", SCEN, CONFIG_TEXT, 0, 0, NULL, "name"},
    {"part", "test", SCEN, CONFIG_TEXT, 0, 0, NULL, "a named test"},
    {"part", "description", SCEN, CONFIG_TEXT, 0, 0, NULL, "a text for people"},
    {"part", "command", SCEN, CONFIG_TEXT, 0, 0, NULL,
	"a command with placeholders"},
    {"part", "dataset", SCEN, CONFIG_TEXT, 0, 0, NULL,
	"file whose columns the command uses"},
    {"part", "xml_root_element", SCEN, CONFIG_TEXT, 0, 0, NULL,
	"element of a record in an XML dataset"},
    {"part", "maxdocs", SCEN, CONFIG_WHOLE, 1, BIG, NULL,
	"records taken from the dataset"},
    {"part", "clients", SCEN, CONFIG_WHOLE, 1, 1e6, NULL,
	"connections; 1 when absent"},
    {"part", "pipeline", SCEN, CONFIG_WHOLE, 1, 1e6, NULL,
	"requests sent at once"},
    {"part", "duration", SCEN, CONFIG_SECONDS, 0, 1e7, NULL,
	"seconds; the scenario's when absent"},
    {"part", "requests", SCEN, CONFIG_WHOLE, 1, BIG, NULL, "requests"},
    {"part", "warmup", SCEN, CONFIG_SECONDS, -1, 1e7, NULL,
	"seconds of load of this part before the measurement; 0 means none"},
    {"part", "sequential", SCEN, CONFIG_BOOL, 0, 0, NULL, "keys in order"},
    {"part", "seed", SCEN, CONFIG_SEED, 0, UINT32_MAX, NULL,
	"as in the configuration"},
    {"part", "data_size", SCEN, CONFIG_WHOLE, 1, 1 << 29, NULL,
	"size of __data__ in bytes"},
    {"part", "cluster_execution", SCEN, CONFIG_CHOICE, 0, 0, "single|parallel",
	"as in the scenario"},
    {"part", "parallel_clients", SCEN, CONFIG_WHOLE, 1, 1e6, NULL,
	"as in the scenario"},
    {0}};

const char *
config_words(const struct config_key *k, char buf[CONFIG_WORDS])
{
	static const char *const words[] = {[CONFIG_ANY] = "anything",
	    [CONFIG_TEXT] = "a non-blank string",
	    [CONFIG_TEXTS] = "a non-empty list of non-blank strings",
	    [CONFIG_BOOL] = "true or false",
	    [CONFIG_MODES] = "true or false, or a list of them",
	    [CONFIG_RATES] = "a positive number or a list of positive numbers",
	    [CONFIG_SEED] = "true, false or a 32-bit integer",
	    [CONFIG_CPUS] = "a CPU list such as \"0-3,8\"",
	    [CONFIG_CPUSETS] = "a non-empty list of CPU lists",
	    [CONFIG_SETTINGS] = "an object of strings and numbers",
	    [CONFIG_SETTINGS_SETS] =
		"a non-empty list of objects of strings and numbers",
	    [CONFIG_SUFFIXES] = "an object of strings",
	    [CONFIG_OBJECT] = "an object",
	    [CONFIG_OBJECTS] = "a non-empty list of objects"};
	static const struct {
		enum config_rule rule;
		const char *positive, *other;
	} numbers[] = {{CONFIG_WHOLE, "a positive integer", "an integer >= 0"},
	    {CONFIG_WHOLES, "a list of positive integers",
		"a list of integers >= 0"},
	    {CONFIG_AXIS, "a positive integer or a list of positive integers",
		"an integer or a list of them"},
	    {CONFIG_SECONDS, "a positive number", "a number >= 0"},
	    {CONFIG_TEXTS, "", "a list of non-blank strings"},
	    {CONFIG_OBJECTS, "", "a list of objects"}};

	if (k->rule == CONFIG_CHOICE) {
		size_t n = (size_t)snprintf(buf, CONFIG_WORDS, "one of ");

		for (const char *s = k->inner; *s && n < CONFIG_WORDS - 3; s++)
			if (*s == '|') {
				buf[n++] = ',';
				buf[n++] = ' ';
			} else
				buf[n++] = *s;
		buf[n] = '\0';
		return buf;
	}
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (numbers[i].rule == k->rule &&
		    (*numbers[i].positive || k->min < 0)) {
			bool positive = k->min > 0 ||
			    (k->rule == CONFIG_SECONDS && k->min == 0);
			int n = snprintf(buf, CONFIG_WORDS, "%s",
			    positive ? numbers[i].positive : numbers[i].other);

			if (k->max == 65535)
				snprintf(buf + n, (size_t)(CONFIG_WORDS - n),
				    " up to 65535");
			return buf;
		}
	snprintf(buf, CONFIG_WORDS, "%s", words[k->rule]);
	return buf;
}

bool
config_secret(const char *name)
{
	static const char *const secrets[] = {"requirepass", "masterauth",
	    "primaryauth", "tls-key-file-pass", "tls-client-key-file-pass",
	    "user"};

	for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
		if (strcasecmp(name, secrets[i]) == 0)
			return true;
	return false;
}
