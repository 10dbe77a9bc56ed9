#include "env.h"
#include "json.h"

#include <stddef.h>

#ifndef VKB_VERSION
#define VKB_VERSION "0"
#endif

/* Settings that affect results most. The env record of the session has all. */
static const char *const setting_keys[] = {"arch", "kernel", "os", "cpu_model",
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
	for (size_t i = 0; i < sizeof setting_keys / sizeof *setting_keys;
	     i++) {
		j = json_get(settings, setting_keys[i]);
		if (j)
			json_set(env, setting_keys[i], json_dup(j));
	}
	return env;
}
