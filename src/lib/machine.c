#include "machine.h"
#include "cgroup.h"
#include "clock.h"
#include "cpulist.h"
#include "json.h"
#include "mem.h"
#include "record.h"
#include "str.h"
#include "sysfile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define CPU "/sys/devices/system/cpu/"

/* --- its state now */

#define MEMINFO "/proc/meminfo"

/* Returns the highest temperature in degrees. The files hold thousandths; the
 * file 'about' in the same folder names the sensor. */
static double
find_hottest(const char *root, const char *pattern, const char *about,
    const char *const *wanted)
{
	char **list = sysfile_glob(root, pattern), *path, *what;
	double max = NAN;

	for (char **p = list; *p; p++) {
		path = mem_printf(
		    "%.*s/%s", (int)(strrchr(*p, '/') - *p), *p, about);
		what = sysfile_line(root, path);
		for (const char *const *w = wanted; what && *w; w++)
			if (str_starts(what, *w)) {
				max = fmax(max, sysfile_num(root, *p) / 1000);
				break;
			}
		free(what);
		free(path);
	}
	mem_free_list(list);
	return max;
}

double
machine_state_temperature(const char *root)
{
	static const char *const chips[] = {
	    "coretemp", "k10temp", "zenpower", "cpu", "soc", NULL};
	static const char *const zones[] = {
	    "x86_pkg_temp", "cpu", "soc", "CPU", NULL};
	double t = find_hottest(
	    root, "/sys/class/hwmon/hwmon*/temp*_input", "name", chips);

	return isnan(t)
	    ? find_hottest(
		  root, "/sys/class/thermal/thermal_zone*/temp", "type", zones)
	    : t;
}

void
machine_state_clocks(const char *root, struct machine_state_clocks *c)
{
	char **list =
	    sysfile_glob(root, CPU "cpu[0-9]*/cpufreq/scaling_cur_freq");
	double sum = 0, v;
	size_t n = 0;

	*c = (struct machine_state_clocks){NAN, NAN, NAN};
	for (char **p = list; *p; p++) {
		v = sysfile_num(root, *p) / 1000;
		if (isnan(v))
			continue;
		sum += v;
		c->slowest_mhz = fmin(c->slowest_mhz, v);
		c->fastest_mhz = fmax(c->fastest_mhz, v);
		n++;
	}
	mem_free_list(list);
	if (n)
		c->mean_mhz = sum / (double)n;
}

double
machine_state_throttles(const char *root)
{
	char **list = sysfile_glob(
	    root, CPU "cpu[0-9]*/thermal_throttle/core_throttle_count");
	double sum = *list ? 0 : NAN;

	for (char **p = list; *p; p++)
		sum += sysfile_num(root, *p);
	mem_free_list(list);
	return sum;
}

/* Returns a new object: load, frequency, temperature, memory, throttling,
 * pressure. Caller frees with json_free. */
static struct json *
read_state(const char *root)
{
	struct json *now = json_object();
	struct machine_state_clocks clocks;
	struct cgroup c;

	json_set_num(now, "load_1m", sysfile_num(root, "/proc/loadavg"));
	json_set_num(now, "uptime_s", sysfile_num(root, "/proc/uptime"));
	machine_state_clocks(root, &clocks);
	json_set_num(now, "freq_mhz", clocks.mean_mhz);
	json_set_num(now, "slowest_mhz", clocks.slowest_mhz);
	json_set_num(now, "fastest_mhz", clocks.fastest_mhz);
	json_set_num(now, "temperature_c", machine_state_temperature(root));
	json_set_num(now, "thermal_throttles", machine_state_throttles(root));
	json_set_num(now, "memory_available_mb",
	    round(sysfile_value_num(root, MEMINFO, "MemAvailable") / 1024));
	json_set_num(now, "swap_used_mb",
	    round((sysfile_value_num(root, MEMINFO, "SwapTotal") -
		      sysfile_value_num(root, MEMINFO, "SwapFree")) /
		1024));
	json_set_num(now, "cpu_pressure_percent",
	    sysfile_value_num(root, "/proc/pressure/cpu", "some avg10"));
	json_set_num(now, "memory_pressure_percent",
	    sysfile_value_num(root, "/proc/pressure/memory", "some avg10"));
	cgroup_read(&c, root);
	json_set_num(now, "cgroup_throttled", c.throttled);
	json_set_num(now, "cgroup_throttled_s", c.throttled_s);
	cgroup_free(&c);
	return now;
}

/* --- what it is */

/* What affects results most. */
static const char *const brief_keys[] = {"host", "arch", "kernel", "os",
    "cpu_model", "microcode", "cpus", "virtual", "governor", "turbo", "smt",
    "idle_states", "aslr", "thp", "numa_nodes", "numa_balancing", "mitigations",
    "clocksource", "isolated_cpus", "cgroup_cpus"};

static void
set_taken(struct json *j, const char *key, char *v)
{
	if (v && *v)
		json_set_str(j, key, v);
	free(v);
}

#define FREQ CPU "cpu[0-9]*/cpufreq/"
#define THP "/sys/kernel/mm/transparent_hugepage/"
#define KERNEL "/proc/sys/kernel/"

enum kind {
	LINE,   /* the first line of a file */
	LIST,   /* the same; "" where the file says that there are none */
	NUMBER, /* the number that a file begins with */
	FLAG,   /* whether that number is 'yes' */
	CHOSEN, /* the word in brackets: "always [madvise] never" */
	SHARED, /* the different lines of the files of all CPUs */
	MHZ,    /* the first of these as a number of kHz */
	VALUE,  /* of 'key' in a file */
	MB      /* the same, a number of kB */
};

/* If several rows have the same name, the first with a value counts. */
static const struct setting {
	const char *name;
	enum kind kind;
	const char *path, *key;
	double yes;
} settings[] = {{"kernel", LINE, .path = KERNEL "osrelease"},
    {"os", VALUE, .path = "/etc/os-release", .key = "PRETTY_NAME"},
    {"cpu_model", VALUE, .path = "/proc/cpuinfo", .key = "model name"},
    {"cpu_model", VALUE, .path = "/proc/cpuinfo", .key = "Hardware"},
    {"cpu_model", VALUE, .path = "/proc/cpuinfo", .key = "cpu model"},
    {"cpu_model", VALUE, .path = "/proc/cpuinfo", .key = "uarch"},
    {"microcode", VALUE, .path = "/proc/cpuinfo", .key = "microcode"},
    {"governor", SHARED, .path = FREQ "scaling_governor"},
    {"freq_driver", SHARED, .path = FREQ "scaling_driver"},
    {"energy_preference", SHARED, .path = FREQ "energy_performance_preference"},
    {"freq_min_mhz", MHZ, .path = FREQ "scaling_min_freq"},
    {"freq_max_mhz", MHZ, .path = FREQ "scaling_max_freq"},
    {"turbo", FLAG, .path = CPU "intel_pstate/no_turbo", .yes = 0},
    {"turbo", FLAG, .path = CPU "cpufreq/boost", .yes = 1},
    {"smt", FLAG, .path = CPU "smt/active", .yes = 1},
    {"idle_driver", LINE, .path = CPU "cpuidle/current_driver"},
    {"memory_total_mb", MB, .path = "/proc/meminfo", .key = "MemTotal"},
    {"swap_total_mb", MB, .path = "/proc/meminfo", .key = "SwapTotal"},
    {"thp", CHOSEN, .path = THP "enabled"},
    {"thp_defrag", CHOSEN, .path = THP "defrag"},
    {"ksm", FLAG, .path = "/sys/kernel/mm/ksm/run", .yes = 1},
    {"swappiness", NUMBER, .path = "/proc/sys/vm/swappiness"},
    {"overcommit_memory", NUMBER, .path = "/proc/sys/vm/overcommit_memory"},
    {"numa_balancing", FLAG, .path = KERNEL "numa_balancing", .yes = 1},
    {"isolated_cpus", LIST, .path = CPU "isolated"},
    {"nohz_full_cpus", LIST, .path = CPU "nohz_full"},
    {"clocksource", LINE,
	.path =
	    "/sys/devices/system/clocksource/clocksource0/current_clocksource"},
    {"nmi_watchdog", FLAG, .path = KERNEL "nmi_watchdog", .yes = 1},
    {"sched_autogroup", FLAG, .path = KERNEL "sched_autogroup_enabled",
	.yes = 1},
    {"perf_event_paranoid", NUMBER, .path = KERNEL "perf_event_paranoid"},
    {"somaxconn", NUMBER, .path = "/proc/sys/net/core/somaxconn"}};

static void
set_list(struct json *env, const char *root, const struct setting *t)
{
	char *v = sysfile_line(root, t->path);

	if (v ? strcmp(v, "(null)") == 0 : sysfile_exists(root, t->path))
		json_set_str(env, t->name, "");
	else
		json_set_str(env, t->name, v);
	free(v);
}

static void
add_setting(struct json *env, const char *root, const struct setting *t)
{
	double number;
	char *v;

	switch (t->kind) {
	case LINE:
		set_taken(env, t->name, sysfile_line(root, t->path));
		break;
	case LIST:
		set_list(env, root, t);
		break;
	case NUMBER:
		json_set_num(env, t->name, sysfile_num(root, t->path));
		break;
	case FLAG:
		number = sysfile_num(root, t->path);
		if (!isnan(number))
			json_set_bool(env, t->name, number == t->yes);
		break;
	case CHOSEN:
		set_taken(env, t->name, sysfile_chosen(root, t->path));
		break;
	case SHARED:
		set_taken(env, t->name, sysfile_all(root, t->path));
		break;
	case MHZ:
		v = sysfile_all(root, t->path);
		json_set_num(env, t->name, v ? atof(v) / 1000 : NAN);
		free(v);
		break;
	case VALUE:
		set_taken(env, t->name, sysfile_value(root, t->path, t->key));
		break;
	case MB:
		json_set_num(env, t->name,
		    round(sysfile_value_num(root, t->path, t->key) / 1024));
	}
}

/* Sets a hash that identifies the machine without naming it. */
static void
add_host_id(struct json *env, const char *root)
{
	char *id = sysfile_line(root, "/etc/machine-id"), text[24];

	if (!id) /* a container, where root may read it */
		id = sysfile_line(root, "/sys/class/dmi/id/product_uuid");
	if (!id)
		id = sysfile_line(root, "/proc/sys/kernel/random/boot_id");
	if (id) {
		snprintf(text, sizeof text, "%012llx",
		    str_hash(STR_HASH, id, strlen(id)) & 0xffffffffffffULL);
		json_set_str(env, "host", text);
	}
	free(id);
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
	cpu_set_t online;
	char *v;

	if (cpulist_read(root, CPU "online", &online))
		json_set_num(env, "cpus", CPU_COUNT(&online));
	json_set_num(env, "sockets",
	    count_distinct_values(
		root, CPU "cpu[0-9]*/topology/physical_package_id"));
	v = sysfile_value(root, "/proc/cpuinfo", "flags");
	if (v)
		json_set_bool(env, "virtual", strstr(v, " hypervisor") != NULL);
	free(v);
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
	mem_free_list(list);
	if (on + off)
		json_set_str(env, "idle_states",
		    !off      ? "all_enabled"
			: !on ? "all_disabled"
			      : "partially_disabled");
	json_set_filled(env, "c_states", states);
}

static void
add_aslr(struct json *env, const char *root)
{
	double v = sysfile_num(root, KERNEL "randomize_va_space");

	if (!isnan(v))
		json_set_str(env, "aslr",
		    v == 0       ? "disabled"
			: v == 1 ? "partial"
				 : "full");
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
	mem_free_list(list);
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
add_kernel_arguments(struct json *env, const char *root)
{
	char *line = sysfile_line(root, "/proc/cmdline"), *v;

	if (!line)
		return;
	v = find_kernel_argument(line, "rcu_nocbs");
	json_set_str(env, "rcu_nocbs_cpus", v ? v : "");
	free(v);
	v = find_kernel_argument(line, "mitigations");
	json_set_str(env, "mitigations", v ? v : "auto");
	free(v);
	free(line);
}

static void
add_vulnerabilities(struct json *env, const char *root)
{
	char **list = sysfile_glob(root, CPU "vulnerabilities/*");
	struct json *all = json_object();

	for (char **p = list; *p; p++)
		set_taken(all, strrchr(*p, '/') + 1, sysfile_line(root, *p));
	mem_free_list(list);
	json_set_filled(env, "vulnerabilities", all);
}

int
machine_runs(const char *root, const char *program)
{
	char **list = sysfile_glob(root, "/proc/[0-9]*/comm"), *v;
	int runs = *list ? 0 : -1;

	for (char **p = list; *p && runs < 1; p++) {
		v = sysfile_line(root, *p);
		runs = v && strcmp(v, program) == 0;
		free(v);
	}
	mem_free_list(list);
	return runs;
}

/* The CPUs that handle interrupts, and whether irqbalance moves them. */
static void
add_interrupts(struct json *env, const char *root)
{
	char **list = sysfile_glob(root, "/proc/irq/[0-9]*/smp_affinity_list");
	cpu_set_t all, one;
	int runs;

	CPU_ZERO(&all);
	for (char **p = list; *p; p++) {
		cpulist_read(root, *p, &one);
		CPU_OR(&all, &all, &one);
	}
	mem_free_list(list);
	if (CPU_COUNT(&all))
		set_taken(env, "irq_cpus", cpulist_text(&all));
	runs = machine_runs(root, "irqbalance");
	if (runs >= 0)
		json_set_bool(env, "irqbalance", runs);
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
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
		if (!json_get(env, settings[i].name))
			add_setting(env, root, &settings[i]);
	add_processor(env, root);
	add_idle_states(env, root);
	add_aslr(env, root);
	add_numa_nodes(env, root);
	add_kernel_arguments(env, root);
	add_vulnerabilities(env, root);
	add_interrupts(env, root);
	add_cgroup_limits(env, root);
	if (sysfile_exists(root, "/proc/self/mountinfo"))
		json_set_bool(
		    env, "proc_stat_whole", machine_stat_is_whole(root));
	return env;
}

bool
machine_stat_is_whole(const char *root)
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
	json_set(rec, "now", read_state(root));
	return rec;
}

struct json *
machine_brief(const struct json *env)
{
	struct json *brief = json_object();

	for (size_t i = 0; i < sizeof brief_keys / sizeof *brief_keys; i++) {
		const struct json *j = json_get(env, brief_keys[i]);

		if (j)
			json_set(brief, brief_keys[i], json_dup(j));
	}
	return brief;
}
