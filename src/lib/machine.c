#include "machine.h"
#include "cgroup.h"
#include "clock.h"
#include "cpulist.h"
#include "json.h"
#include "mem.h"
#include "machinestate.h"
#include "record.h"
#include "str.h"
#include "sysfile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define CPU "/sys/devices/system/cpu/"

static void
set_taken(struct json *j, const char *key, char *v)
{
	if (v && *v)
		json_set_str(j, key, v);
	free(v);
}

/* Sets whether the number in the file equals 'yes'. */
static void
set_flag(struct json *j, const char *root, const char *key, const char *path,
    double yes)
{
	double v = sysfile_num(root, path);

	if (!isnan(v))
		json_set_bool(j, key, v == yes);
}

/* Sets the word in brackets: "always [madvise] never". */
static void
set_chosen(struct json *j, const char *root, const char *key, const char *path)
{
	char *v = sysfile_line(root, path);
	char *open = v ? strchr(v, '[') : NULL;
	char *shut = open ? strchr(open, ']') : NULL;

	if (shut) {
		*shut = '\0';
		json_set_str(j, key, open + 1);
	}
	free(v);
}

/* Sets a hash that identifies the machine without naming it. */
static void
add_host_id(struct json *env, const char *root)
{
	char *id = sysfile_line(root, "/etc/machine-id"), text[24];

	if (!id)
		id = sysfile_line(root, "/proc/sys/kernel/random/boot_id");
	if (id) {
		snprintf(text, sizeof text, "%012llx",
		    str_hash(STR_HASH, id, strlen(id)) & 0xffffffffffffULL);
		json_set_str(env, "host", text);
	}
	free(id);
}

static double
count_listed_cpus(const char *list)
{
	const char *why;
	cpu_set_t set;

	if (!list || cpulist_parse(list, &set, &why) < 0)
		return NAN;
	return CPU_COUNT(&set);
}

/* Counts the different values in the files that match. */
static double
count_distinct_values(const char *root, const char *pattern)
{
	char *all = sysfile_all(root, pattern);
	double n = all ? 1 : NAN;

	for (const char *s = all; s && *s; s++)
		n += *s == ',';
	free(all);
	return n;
}

static void
add_processor(struct json *env, const char *root)
{
	static const char *const names[] = {
	    "model name", "Hardware", "cpu model", "uarch"};
	char *v = NULL;

	for (size_t i = 0; !v && i < sizeof names / sizeof *names; i++)
		v = sysfile_value(root, "/proc/cpuinfo", names[i]);
	set_taken(env, "cpu_model", v);
	set_taken(env, "microcode",
	    sysfile_value(root, "/proc/cpuinfo", "microcode"));
	v = sysfile_line(root, CPU "online");
	json_set_num(env, "cpus", count_listed_cpus(v));
	free(v);
	json_set_num(env, "sockets",
	    count_distinct_values(
		root, CPU "cpu[0-9]*/topology/physical_package_id"));
	v = sysfile_value(root, "/proc/cpuinfo", "flags");
	if (v)
		json_set_bool(env, "virtual", strstr(v, " hypervisor") != NULL);
	free(v);
}

static void
add_cpu_frequency(struct json *env, const char *root)
{
#define FREQ CPU "cpu[0-9]*/cpufreq/"
	char *v;

	set_taken(env, "governor", sysfile_all(root, FREQ "scaling_governor"));
	set_taken(env, "freq_driver", sysfile_all(root, FREQ "scaling_driver"));
	set_taken(env, "energy_preference",
	    sysfile_all(root, FREQ "energy_performance_preference"));
	v = sysfile_all(root, FREQ "scaling_min_freq");
	if (v)
		json_set_num(env, "freq_min_mhz", atof(v) / 1000);
	free(v);
	v = sysfile_all(root, FREQ "scaling_max_freq");
	if (v)
		json_set_num(env, "freq_max_mhz", atof(v) / 1000);
	free(v);
	set_flag(env, root, "turbo", CPU "intel_pstate/no_turbo", 0);
	if (!json_get(env, "turbo"))
		set_flag(env, root, "turbo", CPU "cpufreq/boost", 1);
#undef FREQ
}

/* Sets which idle states all CPUs allow; idle_states as the Python tool. */
static void
add_idle_states(struct json *env, const char *root)
{
	char **list = sysfile_glob(root, CPU "cpu[0-9]*/cpuidle/state*/name");
	struct json *states = json_object();
	size_t on = 0, off = 0;
	char *name, *path;
	double disabled;

	for (char **p = list; *p; p++) {
		name = sysfile_line(root, *p);
		path = mem_printf("%.*sdisable", (int)strlen(*p) - 4, *p);
		disabled = sysfile_num(root, path);
		if (name && !isnan(disabled)) {
			if (!strstr(*p, "/state0/"))
				*(disabled == 0 ? &on : &off) += 1;
			json_set_bool(states, name,
			    json_get_bool(states, name, true) && disabled == 0);
		}
		free(name);
		free(path);
	}
	sysfile_list_free(list);
	if (on + off)
		json_set_str(env, "idle_states",
		    !off      ? "all_enabled"
			: !on ? "all_disabled"
			      : "partially_disabled");
	if (json_len(states))
		json_set(env, "c_states", states);
	else
		json_free(states);
	set_taken(env, "idle_driver",
	    sysfile_line(root, CPU "cpuidle/current_driver"));
}

static void
add_aslr(struct json *env, const char *root)
{
	double v = sysfile_num(root, "/proc/sys/kernel/randomize_va_space");

	if (!isnan(v))
		json_set_str(env, "aslr",
		    v == 0       ? "disabled"
			: v == 1 ? "partial"
				 : "full");
}

static void
add_memory_settings(struct json *env, const char *root)
{
#define THP "/sys/kernel/mm/transparent_hugepage/"
#define MEMINFO "/proc/meminfo"
	json_set_num(env, "memory_total_mb",
	    round(sysfile_value_num(root, MEMINFO, "MemTotal") / 1024));
	json_set_num(env, "swap_total_mb",
	    round(sysfile_value_num(root, MEMINFO, "SwapTotal") / 1024));
	set_chosen(env, root, "thp", THP "enabled");
	set_chosen(env, root, "thp_defrag", THP "defrag");
	set_flag(env, root, "ksm", "/sys/kernel/mm/ksm/run", 1);
	json_set_num(
	    env, "swappiness", sysfile_num(root, "/proc/sys/vm/swappiness"));
	json_set_num(env, "overcommit_memory",
	    sysfile_num(root, "/proc/sys/vm/overcommit_memory"));
	set_flag(
	    env, root, "numa_balancing", "/proc/sys/kernel/numa_balancing", 1);
#undef THP
#undef MEMINFO
}

static void
add_numa_nodes(struct json *env, const char *root)
{
	char **list = sysfile_glob(root, "/sys/devices/system/node/node[0-9]*");
	size_t n = 0;

	while (list[n])
		n++;
	if (n)
		json_set_num(env, "numa_nodes", (double)n);
	sysfile_list_free(list);
}

/* Returns the value of a kernel argument, or NULL. Caller frees. */
static char *
find_kernel_argument(const char *line, const char *key)
{
	size_t n = strlen(key);

	for (const char *s = line; s; s = strchr(s, ' ')) {
		s += strspn(s, " ");
		if (strncmp(s, key, n) == 0 && s[n] == '=')
			return mem_strn(s + n + 1, strcspn(s + n + 1, " "));
	}
	return NULL;
}

static void
set_list(struct json *env, const char *root, const char *key, const char *path)
{
	char *v = sysfile_line(root, path);

	if (v)
		json_set_str(env, key, strcmp(v, "(null)") == 0 ? "" : v);
	else if (sysfile_exists(root, path))
		json_set_str(env, key, "");
	free(v);
}

/* Isolated CPUs, arguments given to the kernel at boot, and its settings. */
static void
add_kernel_settings(struct json *env, const char *root)
{
	char *line = sysfile_line(root, "/proc/cmdline"), *v;

	set_list(env, root, "isolated_cpus", CPU "isolated");
	set_list(env, root, "nohz_full_cpus", CPU "nohz_full");
	if (line) {
		v = find_kernel_argument(line, "rcu_nocbs");
		json_set_str(env, "rcu_nocbs_cpus", v ? v : "");
		free(v);
		v = find_kernel_argument(line, "mitigations");
		json_set_str(env, "mitigations", v ? v : "auto");
		free(v);
	}
	free(line);
	set_taken(env, "clocksource",
	    sysfile_line(root,
		"/sys/devices/system/clocksource/clocksource0/"
		"current_clocksource"));
	set_flag(env, root, "nmi_watchdog", "/proc/sys/kernel/nmi_watchdog", 1);
	set_flag(env, root, "sched_autogroup",
	    "/proc/sys/kernel/sched_autogroup_enabled", 1);
	json_set_num(env, "perf_event_paranoid",
	    sysfile_num(root, "/proc/sys/kernel/perf_event_paranoid"));
	json_set_num(env, "somaxconn",
	    sysfile_num(root, "/proc/sys/net/core/somaxconn"));
}

static void
add_vulnerabilities(struct json *env, const char *root)
{
	char **list = sysfile_glob(root, CPU "vulnerabilities/*");
	struct json *all = json_object();

	for (char **p = list; *p; p++)
		set_taken(all, strrchr(*p, '/') + 1, sysfile_line(root, *p));
	sysfile_list_free(list);
	if (json_len(all))
		json_set(env, "vulnerabilities", all);
	else
		json_free(all);
}

/* The CPUs that handle interrupts, and whether irqbalance moves them. */
static void
add_interrupts(struct json *env, const char *root)
{
	char **list = sysfile_glob(root, "/proc/irq/[0-9]*/smp_affinity_list");
	cpu_set_t all, one;
	const char *why;
	char *v;

	CPU_ZERO(&all);
	for (char **p = list; *p; p++) {
		v = sysfile_line(root, *p);
		if (v && cpulist_parse(v, &one, &why) == 0)
			CPU_OR(&all, &all, &one);
		free(v);
	}
	sysfile_list_free(list);
	if (CPU_COUNT(&all))
		set_taken(env, "irq_cpus", cpulist_text(&all));
	list = sysfile_glob(root, "/proc/[0-9]*/comm");
	for (char **p = list; *p; p++) {
		v = sysfile_line(root, *p);
		if (v && strcmp(v, "irqbalance") == 0)
			json_set_bool(env, "irqbalance", true);
		free(v);
	}
	if (*list && !json_get(env, "irqbalance"))
		json_set_bool(env, "irqbalance", false);
	sysfile_list_free(list);
}

static void
add_cgroup_limits(struct json *env, const char *root)
{
	struct cgroup c;

	cgroup_read(&c, root);
	if (c.version)
		json_set_num(env, "cgroup_version", c.version);
	json_set_num(env, "cgroup_cpus", c.cpus);
	json_set_num(env, "cgroup_memory_mb", round(c.memory_bytes / 1048576));
	json_set_str(env, "cgroup_cpuset", c.cpuset);
	cgroup_free(&c);
}

static struct json *
read_settings(const char *root)
{
	struct json *env = json_object();
	struct utsname u;

	add_host_id(env, root);
	if (uname(&u) == 0)
		json_set_str(env, "arch", u.machine);
	set_taken(
	    env, "kernel", sysfile_line(root, "/proc/sys/kernel/osrelease"));
	set_taken(
	    env, "os", sysfile_value(root, "/etc/os-release", "PRETTY_NAME"));
	add_processor(env, root);
	add_cpu_frequency(env, root);
	set_flag(env, root, "smt", CPU "smt/active", 1);
	add_idle_states(env, root);
	add_aslr(env, root);
	add_memory_settings(env, root);
	add_numa_nodes(env, root);
	add_kernel_settings(env, root);
	add_vulnerabilities(env, root);
	add_interrupts(env, root);
	add_cgroup_limits(env, root);
	if (sysfile_exists(root, "/proc/self/mountinfo"))
		json_set_bool(env, "proc_stat_whole", machine_whole(root));
	return env;
}

bool
machine_whole(const char *root)
{
	FILE *f = sysfile_open(root, "/proc/self/mountinfo");
	char *line = NULL;
	bool whole = true;
	size_t cap = 0;

	while (f && whole && getline(&line, &cap, f) > 0)
		whole = !strstr(line, " /proc/stat ") &&
		    !(strstr(line, " /proc ") && strstr(line, "lxcfs"));
	free(line);
	if (f)
		fclose(f);
	return whole;
}

struct json *
machine_record(const char *root, const char *session)
{
	struct json *rec = record_new("env");
	char now[CLOCK_ISO];

	json_set_str(rec, "session", session);
	json_set_str(rec, "time", clock_iso(now));
	json_set(rec, "env", read_settings(root));
	json_set(rec, "now", machine_state_read(root));
	return rec;
}
