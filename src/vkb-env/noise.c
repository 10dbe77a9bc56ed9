#include "noise.h"
#include "json.h"
#include "tune.h"
#include "str.h"

#include <math.h>
#include <string.h>

#define BUSY 10     /* percent of all CPUs, used by others */
#define STOLEN 1    /* percent */
#define HOT 85      /* degrees Celsius */
#define SCARCE .1   /* share of the memory that is available */
#define PRESSURE 10 /* percent of the time that a program waits */
#define FEW_CPUS 4  /* with fewer CPUs, none can be isolated */

enum answer { UNKNOWN, FINE, NOISY };

struct machine_check;

struct source {
	const char *name;
	/* Appends to 'why' in any case. */
	enum answer (*check)(const struct machine_check *);
	const char *costs, *fix;
	const char *key, *text; /* for check_off, _value and _above */
	const char *good, *bad; /* for check_off and check_value */
	const char *unit;
	double most;
};

struct machine_check {
	const struct source *s;
	const struct json *env, *now;
	const char *root;
	struct str *why;
};

/* Checks a boolean that should be off, or with 'good' "on". */
static enum answer
check_off(const struct machine_check *l)
{
	const struct json *j = json_get(l->env, l->s->key);

	str_add(l->why, l->s->text);
	return !j ? UNKNOWN : json_bool(j, false) == !l->s->good ? NOISY : FINE;
}

/* Checks a setting that should have the value 'good', or not the value 'bad'.
 */
static enum answer
check_value(const struct machine_check *l)
{
	const char *s = json_get_str(l->env, l->s->key);

	str_add(l->why, l->s->text);
	if (!s)
		return UNKNOWN;
	return (l->s->good ? strcmp(s, l->s->good) : !strcmp(s, l->s->bad))
	    ? NOISY
	    : FINE;
}

/* Checks a value measured now. */
static enum answer
check_above(const struct machine_check *l)
{
	double v = json_get_num(l->now, l->s->key, NAN);

	str_printf(l->why, "%s: %.3g%s", l->s->text, v, l->s->unit);
	return isnan(v) ? UNKNOWN : v > l->s->most ? NOISY : FINE;
}

static enum answer
check_governor(const struct machine_check *l)
{
	const char *s = json_get_str(l->env, "governor");

	str_printf(l->why, "the frequency governor is %s, not performance",
	    s ? s : "");
	return !s ? UNKNOWN : strcmp(s, "performance") == 0 ? FINE : NOISY;
}

/* Checks CPU states, which the record does not have. */
static enum answer
check_idle(const struct machine_check *l)
{
	struct edits c = {0};
	enum answer a = FINE;

	tune_find(&c, l->root, l->s->name);
	if (c.n) {
		a = NOISY;
		str_printf(l->why,
		    "CPUs may sleep deeply: %zu states, such as %s", c.n,
		    c.v[0].path);
	} else if (!tune_is_known(l->root, l->s->name))
		a = UNKNOWN;
	tune_free_edits(&c);
	return a;
}

static enum answer
check_swap(const struct machine_check *l)
{
	double total = json_get_num(l->env, "swap_total_mb", NAN);

	str_printf(l->why, "there is swap: %.0f MB, %.0f MB of it in use",
	    total, json_get_num(l->now, "swap_used_mb", 0));
	return isnan(total) ? UNKNOWN : total > 0 ? NOISY : FINE;
}

static enum answer
check_clock(const struct machine_check *l)
{
	static const char *const slow[] = {
	    "hpet", "acpi_pm", "jiffies", "refined-jiffies", "xen", "pit"};
	const char *s = json_get_str(l->env, "clocksource");

	str_printf(l->why, "the clock source is %s: reading the time is slow",
	    s ? s : "");
	for (size_t i = 0; s && i < sizeof slow / sizeof *slow; i++)
		if (strcmp(s, slow[i]) == 0)
			return NOISY;
	return s ? FINE : UNKNOWN;
}

static enum answer
check_isolation(const struct machine_check *l)
{
	const char *s = json_get_str(l->env, "isolated_cpus");

	str_add(l->why, "no CPU is kept free of other programs");
	if (!s || !json_get(l->env, "cpus"))
		return UNKNOWN;
	return *s || json_get_num(l->env, "cpus", 0) < FEW_CPUS ? FINE : NOISY;
}

static enum answer
check_cpu_limit(const struct machine_check *l)
{
	double cpus = json_get_num(l->env, "cgroup_cpus", NAN);
	double times = json_get_num(l->now, "cgroup_throttled", 0);

	str_printf(l->why, "a control group allows %.3g CPUs", cpus);
	if (times > 0)
		str_printf(
		    l->why, ", and throttled this one %.0f times", times);
	if (!json_get(l->env, "cgroup_version"))
		return UNKNOWN;
	return isnan(cpus) ? FINE : NOISY;
}

static enum answer
check_memory(const struct machine_check *l)
{
	double total = json_get_num(l->env, "memory_total_mb", NAN);
	double left = json_get_num(l->now, "memory_available_mb", NAN);

	str_printf(
	    l->why, "%.0f of %.0f MB of memory are available", left, total);
	if (isnan(total) || isnan(left))
		return UNKNOWN;
	return left < SCARCE * total ? NOISY : FINE;
}

static const struct source sources[] = {
    {"governor", check_governor,
	"5 to 20 % of throughput, most where the load is low or in bursts",
	.fix = "echo performance >/sys/devices/system/cpu/cpu*/cpufreq/"
	       "scaling_governor"},
    {"turbo", check_off,
	"2 to 10 %: the frequency follows heat and how many cores are busy",
	"echo 1 >/sys/devices/system/cpu/intel_pstate/no_turbo, or "
	"echo 0 >/sys/devices/system/cpu/cpufreq/boost",
	.key = "turbo", .text = "turbo is on"},
    {"smt", check_off, "up to 30 % where both threads of a core have work",
	"echo off >/sys/devices/system/cpu/smt/control, or pin server and "
	"client to one thread of each core",
	.key = "smt", .text = "two threads share a core (SMT is on)"},
    {"idle", check_idle, "20 to 200 us on single latencies, at low load most",
	.fix = "echo 1 >/sys/devices/system/cpu/cpu*/cpuidle/stateN/disable "
	       "for all "
	       "deeper than C1"},
    {"aslr", check_value, "1 to 3 % from start to start of a server",
	.key = "aslr", .good = "disabled",
	.text = "addresses differ from start to start (ASLR is on)",
	.fix = "sysctl kernel.randomize_va_space=0, or \"aslr\": false for "
	       "vkb-serve"},
    {"thp", check_value, "2 to 5 %, and stalls of milliseconds at forks",
	.key = "thp", .bad = "always",
	.text = "transparent huge pages are used for all memory (always)",
	.fix = "echo madvise >/sys/kernel/mm/transparent_hugepage/enabled"},
    {"ksm", check_off, "up to 5 % while it scans",
	"echo 0 >/sys/kernel/mm/ksm/run", .key = "ksm",
	.text = "the kernel merges equal pages (KSM)"},
    {"numa_balancing", check_off, "1 to 5 %, in steps of seconds",
	"sysctl kernel.numa_balancing=0, or bind server and client to a node",
	.key = "numa_balancing",
	.text = "the kernel moves memory between NUMA nodes"},
    {"nmi_watchdog", check_off, "below 0.5 %", "sysctl kernel.nmi_watchdog=0",
	.key = "nmi_watchdog",
	.text = "the NMI watchdog interrupts, and holds a hardware counter"},
    {"swap", check_swap, "stalls of milliseconds to seconds once it is used",
	.fix = "swapoff -a"},
    {"clocksource", check_clock, "10 to 30 % of throughput",
	.fix = "echo tsc >/sys/devices/system/clocksource/clocksource0/"
	       "current_clocksource"},
    {"isolation", check_isolation, "1 to 3 %, and the percentiles above 99.9",
	.fix =
	    "boot with isolcpus=, nohz_full= and rcu_nocbs=, and pin to those"},
    {"interrupts", check_off, "1 to 5 %, in steps of some 10 s",
	"systemctl stop irqbalance, and set /proc/irq/*/smp_affinity_list",
	.key = "irqbalance",
	.text = "interrupts move between CPUs (irqbalance runs)"},
    {"virtual", check_off, "1 to 10 %, varying over hours",
	"use a physical machine, or an instance with dedicated CPUs",
	.key = "virtual",
	.text = "this is a virtual machine: the load of its neighbours is not "
		"visible"},
    {"steal", check_above, "as much as is taken, more at high percentiles",
	"use an instance with dedicated CPUs, not a burstable one",
	.key = "steal_percent",
	.text = "the hypervisor gives CPU time to others", .unit = " % now",
	.most = STOLEN},
    {"busy", check_above, "as much as they take, more at high percentiles",
	"find them with top and stop them, or pin server and client to other "
	"CPUs",
	.key = "busy_percent", .text = "other programs run",
	.unit = " % of all CPUs now", .most = BUSY},
    {"pressure", check_above, "stalls of milliseconds to seconds",
	"stop other programs, or use less data",
	.key = "memory_pressure_percent", .text = "programs wait for memory",
	.unit = " % of the last 10 s", .most = PRESSURE},
    {"limit", check_cpu_limit, "p99 of tens of milliseconds once it is reached",
	.fix = "raise cpu.max (v2) or cpu.cfs_quota_us (v1) of the group"},
    {"heat", check_above, "5 to 30 % when the CPU slows down",
	"let it cool, clean the fans, turn turbo off", .key = "temperature_c",
	.text = "the CPU is hot", .unit = " degrees", .most = HOT},
    {"memory", check_memory, "stalls of milliseconds to seconds",
	.fix = "stop other programs, or use less data"},
    {"proc_stat", check_off, "other programs are not seen in the results",
	.key = "proc_stat_whole", .good = "on",
	.text = "/proc/stat shows only this container (lxcfs)",
	.fix = "measure on the host, or without lxcfs"},
    {0}};

static void
show_source(struct str *out, const struct source *s, const char *why)
{
	str_printf(out, "%s: ", s->name);
	str_visible(out, why);
	str_printf(out, "\n    costs: %s\n    fix:   ", s->costs);
	if (tune_is_listed(s->name))
		str_printf(out, "vkb-env --apply %s; or ", s->name);
	str_printf(out, "%s\n", s->fix);
}

size_t
noise_show(struct str *out, const struct json *rec, const char *root)
{
	struct str why = {0}, unknown = {0};
	struct machine_check l = {.env = json_get(rec, "env"),
	    .now = json_get(rec, "now"),
	    .root = root,
	    .why = &why};
	size_t found = 0, n = 0;
	enum answer a;

	for (const struct source *s = sources; s->name; s++, n++) {
		str_clear(&why);
		l.s = s;
		a = s->check(&l);
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
