#include "noise.h"
#include "json.h"
#include "setting.h"
#include "str.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define BUSY 10     /* percent of all CPUs, used by others */
#define STOLEN 1    /* percent */
#define HOT 85      /* degrees Celsius */
#define SCARCE .1   /* share of the memory that is available */
#define PRESSURE 10 /* percent of the time that a program waits */
#define FEW_CPUS 4  /* with fewer CPUs, none can be isolated */

enum answer { UNKNOWN, FINE, NOISY };

/* look() checks a record, and writes to 'why' even if the answer is FINE. */
struct source {
	const char *name;
	enum answer (*look)(
	    const struct json *env, const struct json *now, struct str *why);
	const char *costs, *mend;
};

static enum answer
check_governor(const struct json *env, const struct json *now, struct str *why)
{
	const char *s = json_get_str(env, "governor");

	(void)now;
	str_printf(
	    why, "the frequency governor is %s, not performance", s ? s : "");
	return !s ? UNKNOWN : strcmp(s, "performance") == 0 ? FINE : NOISY;
}

/* Checks a boolean of the section that should be off. */
static enum answer
check_off(
    const struct json *env, const char *key, const char *text, struct str *why)
{
	const struct json *j = json_get(env, key);

	str_add(why, text);
	return !j ? UNKNOWN : json_bool(j, false) ? NOISY : FINE;
}

static enum answer
check_turbo(const struct json *env, const struct json *now, struct str *why)
{
	(void)now;
	return check_off(env, "turbo", "turbo is on", why);
}

static enum answer
check_smt(const struct json *env, const struct json *now, struct str *why)
{
	(void)now;
	return check_off(
	    env, "smt", "two threads share a core (SMT is on)", why);
}

static enum answer
check_aslr(const struct json *env, const struct json *now, struct str *why)
{
	const char *s = json_get_str(env, "aslr");

	(void)now;
	str_add(why, "addresses differ from start to start (ASLR is on)");
	return !s ? UNKNOWN : strcmp(s, "disabled") == 0 ? FINE : NOISY;
}

static enum answer
check_thp(const struct json *env, const struct json *now, struct str *why)
{
	const char *s = json_get_str(env, "thp");

	(void)now;
	str_add(why, "transparent huge pages are used for all memory (always)");
	return !s ? UNKNOWN : strcmp(s, "always") == 0 ? NOISY : FINE;
}

static enum answer
check_ksm(const struct json *env, const struct json *now, struct str *why)
{
	(void)now;
	return check_off(
	    env, "ksm", "the kernel merges equal pages (KSM)", why);
}

static enum answer
check_numa(const struct json *env, const struct json *now, struct str *why)
{
	(void)now;
	return check_off(env, "numa_balancing",
	    "the kernel moves memory between NUMA nodes", why);
}

static enum answer
check_nmi(const struct json *env, const struct json *now, struct str *why)
{
	(void)now;
	return check_off(env, "nmi_watchdog",
	    "the NMI watchdog interrupts, and holds a hardware counter", why);
}

static enum answer
check_swap(const struct json *env, const struct json *now, struct str *why)
{
	double total = json_get_num(env, "swap_total_mb", NAN);

	str_printf(why, "there is swap: %.0f MB, %.0f MB of it in use", total,
	    json_get_num(now, "swap_used_mb", 0));
	return isnan(total) ? UNKNOWN : total > 0 ? NOISY : FINE;
}

static enum answer
check_clock(const struct json *env, const struct json *now, struct str *why)
{
	static const char *const slow[] = {
	    "hpet", "acpi_pm", "jiffies", "refined-jiffies", "xen", "pit"};
	const char *s = json_get_str(env, "clocksource");

	(void)now;
	str_printf(why, "the clock source is %s: reading the time is slow",
	    s ? s : "");
	for (size_t i = 0; s && i < sizeof slow / sizeof *slow; i++)
		if (strcmp(s, slow[i]) == 0)
			return NOISY;
	return s ? FINE : UNKNOWN;
}

static enum answer
check_isolation(const struct json *env, const struct json *now, struct str *why)
{
	const char *s = json_get_str(env, "isolated_cpus");

	(void)now;
	str_add(why, "no CPU is kept free of other programs");
	if (!s || !json_get(env, "cpus"))
		return UNKNOWN;
	return *s || json_get_num(env, "cpus", 0) < FEW_CPUS ? FINE : NOISY;
}

static enum answer
check_irqs(const struct json *env, const struct json *now, struct str *why)
{
	(void)now;
	return check_off(env, "irqbalance",
	    "interrupts move between CPUs (irqbalance runs)", why);
}

static enum answer
check_virtual(const struct json *env, const struct json *now, struct str *why)
{
	(void)now;
	return check_off(env, "virtual",
	    "this is a virtual machine: the load of its neighbours is not "
	    "visible",
	    why);
}

static enum answer
check_above(const struct json *now, const char *key, double most,
    const char *text, const char *unit, struct str *why)
{
	double v = json_get_num(now, key, NAN);

	str_printf(why, "%s: %.3g%s", text, v, unit);
	return isnan(v) ? UNKNOWN : v > most ? NOISY : FINE;
}

static enum answer
check_steal(const struct json *env, const struct json *now, struct str *why)
{
	(void)env;
	return check_above(now, "steal_percent", STOLEN,
	    "the hypervisor gives CPU time to others", " % now", why);
}

static enum answer
check_busy(const struct json *env, const struct json *now, struct str *why)
{
	(void)env;
	return check_above(now, "busy_percent", BUSY, "other programs run",
	    " % of all CPUs now", why);
}

static enum answer
check_pressure(const struct json *env, const struct json *now, struct str *why)
{
	(void)env;
	return check_above(now, "memory_pressure_percent", PRESSURE,
	    "programs wait for memory", " % of the last 10 s", why);
}

static enum answer
check_cpu_limit(const struct json *env, const struct json *now, struct str *why)
{
	double cpus = json_get_num(env, "cgroup_cpus", NAN);
	double times = json_get_num(now, "cgroup_throttled", 0);

	str_printf(why, "a control group allows %.3g CPUs", cpus);
	if (times > 0)
		str_printf(why, ", and throttled this one %.0f times", times);
	if (!json_get(env, "cgroup_version"))
		return UNKNOWN;
	return isnan(cpus) ? FINE : NOISY;
}

static enum answer
check_heat(const struct json *env, const struct json *now, struct str *why)
{
	(void)env;
	return check_above(
	    now, "temperature_c", HOT, "the CPU is hot", " degrees", why);
}

static enum answer
check_throttles(const struct json *env, const struct json *now, struct str *why)
{
	(void)env;
	return check_above(now, "thermal_throttles", 0,
	    "CPUs slowed down because of heat", " times since boot", why);
}

static enum answer
check_memory(const struct json *env, const struct json *now, struct str *why)
{
	double total = json_get_num(env, "memory_total_mb", NAN);
	double left = json_get_num(now, "memory_available_mb", NAN);

	str_printf(why, "%.0f of %.0f MB of memory are available", left, total);
	if (isnan(total) || isnan(left))
		return UNKNOWN;
	return left < SCARCE * total ? NOISY : FINE;
}

static enum answer
check_proc_stat(const struct json *env, const struct json *now, struct str *why)
{
	const struct json *j = json_get(env, "proc_stat_whole");

	(void)now;
	str_add(why, "/proc/stat shows only this container (lxcfs)");
	return !j ? UNKNOWN : json_bool(j, true) ? FINE : NOISY;
}

static const struct source sources[] = {
    {"governor", check_governor,
	"5 to 20 % of throughput, most where the load is low or in bursts",
	"echo performance >/sys/devices/system/cpu/cpu*/cpufreq/"
	"scaling_governor"},
    {"turbo", check_turbo,
	"2 to 10 %: the frequency follows heat and how many cores are busy",
	"echo 1 >/sys/devices/system/cpu/intel_pstate/no_turbo, or "
	"echo 0 >/sys/devices/system/cpu/cpufreq/boost"},
    {"smt", check_smt, "up to 30 % where both threads of a core have work",
	"echo off >/sys/devices/system/cpu/smt/control, or pin server and "
	"client to one thread of each core"},
    {"idle", NULL, "20 to 200 us on single latencies, at low load most",
	"echo 1 >/sys/devices/system/cpu/cpu*/cpuidle/stateN/disable for all "
	"deeper than C1"},
    {"aslr", check_aslr, "1 to 3 % from start to start of a server",
	"sysctl kernel.randomize_va_space=0, or \"aslr\": false for vkb-serve"},
    {"thp", check_thp, "2 to 5 %, and stalls of milliseconds at forks",
	"echo madvise >/sys/kernel/mm/transparent_hugepage/enabled"},
    {"ksm", check_ksm, "up to 5 % while it scans",
	"echo 0 >/sys/kernel/mm/ksm/run"},
    {"numa_balancing", check_numa, "1 to 5 %, in steps of seconds",
	"sysctl kernel.numa_balancing=0, or bind server and client to a node"},
    {"nmi_watchdog", check_nmi, "below 0.5 %", "sysctl kernel.nmi_watchdog=0"},
    {"swap", check_swap, "stalls of milliseconds to seconds once it is used",
	"swapoff -a"},
    {"clocksource", check_clock, "10 to 30 % of throughput",
	"echo tsc >/sys/devices/system/clocksource/clocksource0/"
	"current_clocksource"},
    {"isolation", check_isolation, "1 to 3 %, and the percentiles above 99.9",
	"boot with isolcpus=, nohz_full= and rcu_nocbs=, and pin to those"},
    {"interrupts", check_irqs, "1 to 5 %, in steps of some 10 s",
	"systemctl stop irqbalance, and set /proc/irq/*/smp_affinity_list"},
    {"virtual", check_virtual, "1 to 10 %, varying over hours",
	"use a physical machine, or an instance with dedicated CPUs"},
    {"steal", check_steal, "as much as is taken, more at high percentiles",
	"use an instance with dedicated CPUs, not a burstable one"},
    {"busy", check_busy, "as much as they take, more at high percentiles",
	"find them with top and stop them, or pin server and client to other "
	"CPUs"},
    {"pressure", check_pressure, "stalls of milliseconds to seconds",
	"stop other programs, or use less data"},
    {"limit", check_cpu_limit, "p99 of tens of milliseconds once it is reached",
	"raise cpu.max (v2) or cpu.cfs_quota_us (v1) of the group"},
    {"heat", check_heat, "5 to 30 % when the CPU slows down",
	"let it cool, clean the fans, turn turbo off"},
    {"throttles", check_throttles, "5 to 30 % while it lasts",
	"let it cool, clean the fans, turn turbo off"},
    {"memory", check_memory, "stalls of milliseconds to seconds",
	"stop other programs, or use less data"},
    {"proc_stat", check_proc_stat, "other programs are not seen in the results",
	"measure on the host, or without lxcfs"},
    {0}};

static enum answer
check_setting(const char *root, const char *name, struct str *why)
{
	struct edits c = {0};
	enum answer a = FINE;

	setting_find(&c, root, name);
	if (c.n) {
		a = NOISY;
		str_printf(why, "CPUs may sleep deeply: %zu states, such as %s",
		    c.n, c.v[0].path);
	} else if (!setting_known(root, name))
		a = UNKNOWN;
	setting_edits_free(&c);
	return a;
}

static bool
is_setting(const char *name)
{
	for (const struct setting *s = setting_table; s->name; s++)
		if (strcmp(s->name, name) == 0)
			return true;
	return false;
}

static void
show_source(struct str *out, const struct source *s, const char *why)
{
	str_printf(out, "%s: ", s->name);
	str_visible(out, why);
	str_printf(out, "\n    costs: %s\n    fix:   ", s->costs);
	if (is_setting(s->name))
		str_printf(out, "vkb-env --apply %s; or ", s->name);
	str_printf(out, "%s\n", s->mend);
}

size_t
noise_show(struct str *out, const struct json *rec, const char *root)
{
	const struct json *env = json_get(rec, "env");
	const struct json *now = json_get(rec, "now");
	struct str why = {0}, unknown = {0};
	size_t found = 0, n = 0;
	enum answer a;

	for (const struct source *s = sources; s->name; s++, n++) {
		str_clear(&why);
		a = s->look ? s->look(env, now, &why)
			    : check_setting(root, s->name, &why);
		if (a == NOISY) {
			show_source(out, s, why.s);
			found++;
		} else if (a == UNKNOWN)
			str_printf(
			    &unknown, "%s%s", unknown.len ? ", " : "", s->name);
	}
	str_printf(out, "%zu of %zu sources of noise found", found, n);
	if (unknown.len)
		str_printf(out, "; unknown here: %s", unknown.s);
	str_addc(out, '\n');
	str_free(&why);
	str_free(&unknown);
	return found;
}
