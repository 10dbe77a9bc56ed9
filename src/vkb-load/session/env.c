#include "env.h"
#include "json.h"

#include <stddef.h>

#ifndef VKB_VERSION
#define VKB_VERSION "0"
#endif

/* What moves results most; all of it is in the session's env record. */
static const char *const keys[] = {"arch", "kernel", "os", "cpu_model",
    "microcode", "cpus", "virtual", "governor", "turbo", "smt", "idle_states",
    "aslr", "thp", "numa_nodes", "numa_balancing", "mitigations", "clocksource",
    "isolated_cpus", "cgroup_cpus"};

struct json *
env_brief(const struct json *settings)
{
	struct json *env = json_object();
	const struct json *j;

	json_set_str(env, "host", json_get_str(settings, "host"));
	json_set_str(env, "benchmark_tool_version", "vkb-load " VKB_VERSION);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		j = json_get(settings, keys[i]);
		if (j)
			json_set(env, keys[i], json_dup(j));
	}
	return env;
}
