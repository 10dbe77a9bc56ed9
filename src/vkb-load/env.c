#include "env.h"
#include "json.h"
#include "mem.h"
#include "str.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifndef VKB_VERSION
#define VKB_VERSION "0"
#endif

/* The first line of a file, without its newline; NULL. Caller frees. */
static char *
line_of(const char *path)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	if (!f)
		return NULL;
	n = getline(&line, &cap, f);
	fclose(f);
	if (n <= 0) {
		free(line);
		return NULL;
	}
	line[strcspn(line, "\n")] = '\0';
	return line;
}

/* The value after 'key' and the blanks, colons and quotes that follow it. */
static char *
value_in(const char *path, const char *key)
{
	FILE *f = fopen(path, "re");
	char *line = NULL, *v = NULL;
	size_t cap = 0;

	if (!f)
		return NULL;
	while (!v && getline(&line, &cap, f) > 0)
		if (str_starts(line, key)) {
			v = line + strlen(key);
			v += strspn(v, " \t:=\"");
			v[strcspn(v, "\"\n")] = '\0';
			v = mem_str(v);
		}
	free(line);
	fclose(f);
	return v;
}

static void
set_taken(struct json *env, const char *key, char *v)
{
	if (v && *v)
		json_set_str(env, key, v);
	free(v);
}

static void
aslr(struct json *env)
{
	char *v = line_of("/proc/sys/kernel/randomize_va_space");

	if (v)
		json_set_str(env, "aslr",
		    *v == '0'       ? "disabled"
			: *v == '1' ? "partial"
				    : "full");
	free(v);
}

/* "always [madvise] never" */
static void
thp(struct json *env)
{
	char *v = line_of("/sys/kernel/mm/transparent_hugepage/enabled");
	char *open = v ? strchr(v, '[') : NULL;
	char *shut = open ? strchr(open, ']') : NULL;

	if (shut) {
		*shut = '\0';
		json_set_str(env, "thp", open + 1);
	}
	free(v);
}

static void
turbo(struct json *env)
{
	char *v = line_of("/sys/devices/system/cpu/intel_pstate/no_turbo");

	if (v)
		json_set_bool(env, "turbo", *v == '0');
	else if ((v = line_of("/sys/devices/system/cpu/cpufreq/boost")))
		json_set_bool(env, "turbo", *v == '1');
	free(v);
}

static void
numa(struct json *env)
{
	glob_t g;

	if (glob("/sys/devices/system/node/node[0-9]*", 0, NULL, &g) == 0)
		json_set_num(env, "numa_nodes", (double)g.gl_pathc);
	globfree(&g);
}

/* The same machine gives the same text; nobody learns its name from it. */
static void
host(struct json *env)
{
	char *id = line_of("/etc/machine-id"), text[24];

	if (!id || !*id) {
		free(id);
		id = line_of("/proc/sys/kernel/random/boot_id");
	}
	if (id && *id) {
		snprintf(text, sizeof text, "%012llx",
		    str_hash(STR_HASH, id, strlen(id)) & 0xffffffffffffULL);
		json_set_str(env, "host", text);
	}
	free(id);
}

static char *
cpu_model(void)
{
	char *v = value_in("/proc/cpuinfo", "model name");

	return v ? v : value_in("/proc/cpuinfo", "Hardware");
}

struct json *
env_read(void)
{
	struct json *env = json_object();
	struct utsname u;
	char *smt;
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	host(env);
	json_set_str(env, "benchmark_tool_version", "vkb-load " VKB_VERSION);
	if (uname(&u) == 0) {
		json_set_str(env, "arch", u.machine);
		json_set_str(env, "kernel", u.release);
	}
	set_taken(env, "os", value_in("/etc/os-release", "PRETTY_NAME"));
	set_taken(env, "cpu_model", cpu_model());
	if (n > 0)
		json_set_num(env, "cpus", (double)n);
	set_taken(env, "governor",
	    line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
	turbo(env);
	smt = line_of("/sys/devices/system/cpu/smt/active");
	if (smt)
		json_set_bool(env, "smt", *smt == '1');
	free(smt);
	aslr(env);
	thp(env);
	numa(env);
	return env;
}
