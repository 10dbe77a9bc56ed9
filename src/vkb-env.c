/*
 * vkb-env: writes the state of this machine as an env record; or reports what
 * makes results noisy, changes settings for measuring, or tells whether two
 * sessions are comparable.
 */
#include "cpustat.h"
#include "err.h"
#include "folder.h"
#include "halt.h"
#include "json.h"
#include "jsonl.h"
#include "machine.h"
#include "markup.h"
#include "mem.h"
#include "opt.h"
#include "output.h"
#include "proc.h"
#include "reaper.h"
#include "record.h"
#include "stats.h"
#include "str.h"
#include "sysfile.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * Temporary changes of settings. The state file has the old values before the
 * first change and until all are restored.
 */

struct tune {
	const char *root;  /* as in sysfile.h */
	const char *state; /* path of the state file */
	bool quiet;        /* report errors only */
};

/* --- the settings, and their values for measuring */
struct change {
	char *path; /* without 'root' */
	char *old, *new;
	const char *name; /* of the setting; borrowed */
};

struct edits {
	struct change *v;
	size_t n, cap;
};

#define CPU "/sys/devices/system/cpu/"
#define AWAKE_US 2 /* exit latency up to which an idle state may stay: C1 */

struct setting {
	const char *name;    /* NULL ends the table */
	const char *pattern; /* files; or several entries of one name */
	const char *wanted;
	const char *bad; /* only this value is changed; NULL: any other */
};

/* Shallow states may stay: with none, the CPU spins and heats up. */
static bool
is_shallow(const char *root, const char *path)
{
	char *latency = mem_printf(
	    "%.*slatency", (int)(strrchr(path, '/') + 1 - path), path);
	double us = sysfile_num(root, latency);

	free(latency);
	return isnan(us) || us <= AWAKE_US;
}

/* In the order in which they are set. SMT is first: turning it off takes half
 * of the CPUs away. */
static const struct setting setting_table[] = {
    {"smt", CPU "smt/control", "off", "on"},
    {"governor", CPU "cpu[0-9]*/cpufreq/scaling_governor", "performance", NULL},
    {"turbo", CPU "intel_pstate/no_turbo", "1", NULL},
    {"turbo", CPU "cpufreq/boost", "0", NULL},
    {"idle", CPU "cpu[0-9]*/cpuidle/state[0-9]*/disable", "1", "0"},
    {"aslr", "/proc/sys/kernel/randomize_va_space", "0", NULL},
    {"thp", "/sys/kernel/mm/transparent_hugepage/enabled", "madvise", "always"},
    {"ksm", "/sys/kernel/mm/ksm/run", "0", NULL},
    {"numa_balancing", "/proc/sys/kernel/numa_balancing", "0", NULL},
    {"nmi_watchdog", "/proc/sys/kernel/nmi_watchdog", "0", NULL}, {0}};

/* Writes a value. Returns 0, or -1 with errno; EINVAL: it did not stay. */
static int
write_setting(const char *root, const char *path, const char *value)
{
	char *whole = mem_printf("%s%s", root, path), *now;
	size_t n = strlen(value);
	int fd = open(whole, O_WRONLY | O_CLOEXEC | O_TRUNC), error = 0;
	ssize_t put;

	free(whole);
	if (fd < 0)
		return -1;
	put = write(fd, value, n);
	if (put != (ssize_t)n)
		error = put < 0 ? errno : EIO;
	if (close(fd) < 0 && !error)
		error = errno;
	now = sysfile_chosen(root, path);
	if (!error && (!now || strcmp(now, value) != 0))
		error = EINVAL;
	free(now);
	errno = error;
	return error ? -1 : 0;
}

static void
add_edit(struct edits *c, const char *path, const char *old, const char *new,
    const char *name)
{
	*MEM_ADD(c->v, c->n, c->cap) =
	    (struct change){mem_str(path), mem_str(old), mem_str(new), name};
}

static void
free_edits(struct edits *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->v[i].path);
		free(c->v[i].old);
		free(c->v[i].new);
	}
	free(c->v);
	*c = (struct edits){0};
}

static void
find_setting_edits(struct edits *c, const char *root, const struct setting *s)
{
	char **list = sysfile_glob(root, s->pattern), *now;

	for (char **p = list; *p; p++) {
		now = sysfile_chosen(root, *p);
		if (now && strcmp(now, s->wanted) != 0 &&
		    (!s->bad || strcmp(now, s->bad) == 0) &&
		    !(strcmp(s->name, "idle") == 0 && is_shallow(root, *p)))
			add_edit(c, *p, now, s->wanted, s->name);
		free(now);
	}
	mem_free_list(list);
}

/* Adds the files that lack the wanted value; 'name' NULL: all settings. */
static void
list_edits(struct edits *c, const char *root, const char *name)
{
	for (const struct setting *s = setting_table; s->name; s++)
		if (!name || strcmp(s->name, name) == 0)
			find_setting_edits(c, root, s);
}

/* Returns true if there is such a setting, here or on another machine. */
static bool
is_listed(const char *name)
{
	for (const struct setting *s = setting_table; s->name; s++)
		if (strcmp(s->name, name) == 0)
			return true;
	return false;
}

/* Returns true if this machine has files of the setting. */
static bool
is_known(const char *root, const char *name)
{
	char *all = NULL;
	bool known;

	for (const struct setting *s = setting_table; s->name && !all; s++)
		if (strcmp(s->name, name) == 0)
			all = sysfile_all(root, s->pattern);
	known = all != NULL;
	free(all);
	return known;
}

/* Returns the name of a file's setting, or NULL: no other file is written. */
static const char *
name_setting(const char *path)
{
	for (const struct setting *s = setting_table; s->name; s++)
		if (!strstr(path, "..") &&
		    fnmatch(s->pattern, path, FNM_PATHNAME) == 0)
			return s->name;
	return NULL;
}

#define BOOT "/proc/sys/kernel/random/boot_id"

static int
save_state(const struct tune *t, const struct edits *c, pid_t pid)
{
	struct json *j = json_object(), *list = json_array(), *one;
	char *boot = sysfile_line(t->root, BOOT);
	int rc;

	json_set_str(j, "boot", boot);
	json_set_num(j, "pid", pid);
	for (size_t i = 0; i < c->n; i++) {
		one = json_object();
		json_set_str(one, "path", c->v[i].path);
		json_set_str(one, "old", c->v[i].old);
		json_set_str(one, "new", c->v[i].new);
		json_push(list, one);
	}
	json_set(j, "changes", list);
	rc = jsonfile_write(t->state, j);
	json_free(j);
	free(boot);
	return rc;
}

/* Accepts only files of known settings: others may have edited the state. */
static int
parse_state(const struct tune *t, const struct json *j, struct edits *c)
{
	const struct json *one = json_first(json_get(j, "changes"));
	const char *path, *old, *new;

	for (; one; one = json_next(one)) {
		path = json_get_str(one, "path");
		old = json_get_str(one, "old");
		new = json_get_str(one, "new");
		if (!path || !old || !new || !name_setting(path))
			return err_fail(
			    "'%s' is not a state file of vkb-env", t->state);
		add_edit(c, path, old, new, name_setting(path));
	}
	return 0;
}

/* After a reboot, the old values are lost and there is nothing to restore. */
static bool
is_of_this_boot(const struct tune *t, const struct json *j)
{
	char *boot = sysfile_line(t->root, BOOT);
	const char *then = json_get_str(j, "boot");
	bool same = !boot || !then || strcmp(boot, then) == 0;

	free(boot);
	return same;
}

static int
remove_state(const struct tune *t)
{
	if (unlink(t->state) == 0)
		return 0;
	return err_fail_sys("cannot remove '%s'", t->state);
}

/* Returns 1 if restored, 0 if it was changed since, -1 on error. */
static int
restore_setting(const struct tune *t, const struct change *c)
{
	char *now = sysfile_chosen(t->root, c->path);
	int rc = 1;

	if (!now || strcmp(now, c->old) == 0) {
		/* The CPU is offline, or the setting was not changed yet. */
	} else if (strcmp(now, c->new) != 0) {
		err_say(
		    "'%s' has been set to '%s' since and is kept; it was '%s'",
		    c->path, now, c->old);
		rc = 0;
	} else if (write_setting(t->root, c->path, c->old) < 0)
		rc = err_fail_sys("cannot set '%s' to '%s'", c->path, c->old);
	free(now);
	return rc;
}

static int
restore_edits(const struct tune *t, const struct edits *c)
{
	bool failed = false, left = false;
	int k;

	for (size_t i = c->n; i-- > 0;) {
		k = restore_setting(t, &c->v[i]);
		failed |= k < 0;
		left |= k == 0;
	}
	if (failed || remove_state(t) < 0)
		return -1;
	return left ? -1 : 0;
}

/* Keeps other vkb-env from the state file; as folder_lock. */
static int
lock_state(const struct tune *t)
{
	const char *slash = strrchr(t->state, '/');
	char *dir = !slash ? mem_str(".")
	    : slash == t->state
	    ? mem_str("/")
	    : mem_strn(t->state, (size_t)(slash - t->state));
	int fd = folder_lock(dir, true);

	free(dir);
	return fd;
}

/* With the state file locked. */
static int
restore_state(const struct tune *t)
{
	struct edits c = {0};
	struct json *j;
	int rc = -1;

	if (access(t->state, F_OK) < 0 && errno == ENOENT)
		return 0;
	j = jsonfile_read(t->state);
	if (!j)
		return -1;
	if (parse_state(t, j, &c) == 0)
		rc = is_of_this_boot(t, j) ? restore_edits(t, &c)
					   : remove_state(t);
	free_edits(&c);
	json_free(j);
	return rc;
}

/*
 * Restores the old values. Keeps values that were set since, reports
 * them and returns -1. Removes the state file unless a write failed.
 */
static int
restore_tuning(const struct tune *t)
{
	int lock, rc;

	if (access(t->state, F_OK) < 0 && errno == ENOENT)
		return 0;
	lock = lock_state(t);
	if (lock < 0)
		return -1;
	rc = restore_state(t);
	close(lock);
	return rc;
}

/* Restores the settings that an earlier process has left changed. Returns 0 if
 * settings can be applied now. */
static int
clear_earlier(const struct tune *t)
{
	struct json *j;
	pid_t pid;

	if (access(t->state, F_OK) < 0 && errno == ENOENT)
		return 0;
	j = jsonfile_read(t->state);
	if (!j)
		return -1;
	pid = (pid_t)json_get_num(j, "pid", 0);
	if (!is_of_this_boot(t, j))
		pid = -1;
	json_free(j);
	if (pid == 0)
		return err_fail("settings of an earlier --apply are in effect; "
				"undo them with 'vkb-env --restore'");
	if (pid > 0 && (kill(pid, 0) == 0 || errno == EPERM))
		return err_fail("process %d has applied settings, and "
				"restores them when it ends",
		    (int)pid);
	if (pid > 0)
		err_say("process %d ended without restoring its settings; "
			"restoring them now",
		    (int)pid);
	return restore_state(t);
}

static int
find_edits(const struct tune *t, char *const *names, size_t n, struct edits *c)
{
	for (size_t i = 0; i < n; i++) {
		if (!is_listed(names[i]))
			return err_fail("unknown setting '%s'", names[i]);
		if (!is_known(t->root, names[i]))
			return err_fail(
			    "this machine has no setting '%s'", names[i]);
		list_edits(c, t->root, names[i]);
	}
	if (!n)
		list_edits(c, t->root, NULL);
	return 0;
}

/* Reports each setting that cannot be written. Returns -1 if there is one. */
static int
check_writable(const struct tune *t, const struct edits *c)
{
	const char *last = "";
	char *path;
	int rc = 0, k;

	for (size_t i = 0; i < c->n; i++) {
		path = mem_printf("%s%s", t->root, c->v[i].path);
		k = access(path, W_OK);
		free(path);
		if (k == 0 || strcmp(last, c->v[i].name) == 0)
			continue;
		last = c->v[i].name;
		rc = err_fail_sys("cannot set %s: '%s'", last, c->v[i].path);
	}
	if (rc < 0)
		err_say("nothing is changed; name only settings that can be "
			"set, such as 'vkb-env --apply aslr'");
	return rc;
}

/* Turning SMT off removes files of the CPUs that go offline. */
static bool
is_gone(const struct tune *t, const struct change *c)
{
	char *now = sysfile_chosen(t->root, c->path);
	bool off = !now;

	free(now);
	return off;
}

static int
write_settings(const struct tune *t, const struct edits *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (!is_gone(t, &c->v[i]) &&
		    write_setting(t->root, c->v[i].path, c->v[i].new) < 0)
			return err_fail_sys("cannot set %s: '%s' to '%s'",
			    c->v[i].name, c->v[i].path, c->v[i].new);
	return 0;
}

static void
report_settings(const struct edits *c)
{
	struct str s = {0};

	for (size_t i = 0; i < c->n; i++)
		if (!i || strcmp(c->v[i].name, c->v[i - 1].name) != 0)
			str_printf(&s, "%s%s", s.len ? ", " : "", c->v[i].name);
	err_say("%s%s", c->n ? "set: " : "all settings have the wanted values",
	    c->n ? s.s : "");
	str_free(&s);
}

/*
 * Applies all settings, or those named; all or none. 'pid' is the process that
 * will restore them, or 0. First restores the settings of such a process that
 * died. Returns 0, or -1 after reporting why nothing is changed.
 */
static int
apply_tuning(const struct tune *t, char *const *names, size_t n, pid_t pid)
{
	struct edits c = {0};
	int rc = -1, lock = lock_state(t);

	if (lock < 0)
		return -1;
	if (clear_earlier(t) == 0 && find_edits(t, names, n, &c) == 0 &&
	    check_writable(t, &c) == 0) {
		rc = c.n ? save_state(t, &c, pid) : 0;
		if (rc == 0 && write_settings(t, &c) < 0) {
			if (restore_edits(t, &c) == 0)
				err_say("all settings are restored");
			rc = -1;
		}
		if (rc == 0 && !t->quiet)
			report_settings(&c);
	}
	close(lock);
	free_edits(&c);
	return rc;
}

/*
 * Finds what makes results noisy, in an env record and in the settings of the
 * machine; tells the cost and the remedy.
 */

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

	list_edits(&c, l->root, l->s->name);
	if (c.n) {
		a = NOISY;
		str_printf(l->why,
		    "CPUs may sleep deeply: %zu states, such as %s", c.n,
		    c.v[0].path);
	} else if (!is_known(l->root, l->s->name))
		a = UNKNOWN;
	free_edits(&c);
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
	if (is_listed(s->name))
		str_printf(out, "vkb-env --apply %s; or ", s->name);
	str_printf(out, "%s\n", s->fix);
}

/*
 * Appends a text that lists the sources of noise found, and those that could
 * not be checked. Returns the number found.
 */
static size_t
show_noise(struct str *out, const struct json *rec, const char *root)
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

/*
 * Tells whether two sessions are comparable: same machine, same settings,
 * equally little noise. Reads env, run and summary records.
 */

#define SHOWN 60 /* bytes shown of a value */

/* Properties of runs, not of the machine. */
static const char run_properties[] =
    "benchmark_tool_version,benchmark_tool_sha256,client_cpus,server_cpus,"
    "remote,emulated,module_sha256";

/* Measured values, and how far apart they may be, absolute or relative. The
 * first are those of runs only: env records have counts since the boot. */
static const struct measure {
	const char *name;
	double apart, relative;
} measures[] = {{"thermal_throttles", 0, 0}, {"foreign_cpu_percent", 5, 0},
    {"cgroup_throttled_percent", 1, 0}, {"steal_percent", 1, 0},
    {"freq_mhz", 0, .02}, {"temperature_c", 15, 0}, {"busy_percent", 10, 0},
    {"swap_used_mb", 1, 0}};

#define MEASURES (sizeof measures / sizeof *measures)
#define OF_RUNS 3

struct values {
	double *v;
	size_t n, cap;
};

struct environment {
	const char *file;
	struct json *settings; /* name: array of its different values */
	struct values measured[MEASURES];
	size_t envs, runs;
};

static bool
has_value(const struct json *value, const struct json *list)
{
	for (const struct json *j = json_first(list); j; j = json_next(j))
		if (json_equal(j, value))
			return true;
	return false;
}

static void
add_value(struct environment *s, const char *name, const struct json *value)
{
	struct json *list = json_get(s->settings, name);

	if (!list) {
		json_set(s->settings, name, json_array());
		list = json_get(s->settings, name);
	}
	if (!has_value(value, list))
		json_push(list, json_dup(value));
}

static void
add_values(struct environment *s, const struct json *env)
{
	for (const struct json *j = json_first(env); j; j = json_next(j))
		add_value(s, json_key(j), j);
}

static void
add_measures(struct environment *s, const struct json *from, size_t i)
{
	struct values *m;
	const struct json *j;
	double v;

	for (; i < MEASURES; i++) {
		j = json_get(from, measures[i].name);
		v = json_num(json_get(j, "median"), json_num(j, NAN));
		if (isnan(v))
			continue;
		m = &s->measured[i];
		*MEM_ADD(m->v, m->n, m->cap) = v;
	}
}

static void
add_record(struct environment *s, const struct json *rec)
{
	const struct json *j;

	if (record_is(rec, "env")) {
		s->envs++;
		add_values(s, json_get(rec, "env"));
		add_measures(s, json_get(rec, "now"), OF_RUNS);
	} else if (record_is(rec, "run") || record_is(rec, "summary")) {
		s->runs++;
		add_values(s, json_get(rec, "env"));
		add_measures(s, json_get(rec, "metrics"), 0);
		for (j = json_first(json_get(rec, "env_varied")); j;
		     j = json_next(j)) {
			struct json *many = json_string("several values");

			if (json_str(j))
				add_value(s, json_str(j), many);
			json_free(many);
		}
	}
}

static void
free_environment(struct environment *s)
{
	if (!s)
		return;
	json_free(s->settings);
	for (size_t i = 0; i < MEASURES; i++)
		free(s->measured[i].v);
	free(s);
}

/* Reads a file. Returns NULL after reporting an error; free with
 * free_environment. */
static struct environment *
read_environment(const char *file)
{
	struct environment *s = mem_new(sizeof *s);
	struct jsonl *in = jsonl_open(&file, 1);
	struct json *rec;
	bool bad = false;
	int k;

	s->file = file;
	s->settings = json_object();
	while ((k = record_next(in, &rec)) != 0) {
		bad |= k < 0;
		if (k > 0)
			add_record(s, rec);
		json_free(rec);
	}
	jsonl_close(in);
	if (!bad)
		return s;
	free_environment(s);
	return NULL;
}

/* Returns true if both sides have one value, the same. */
static bool
is_same_value(const struct json *a, const struct json *b)
{
	return json_len(a) == 1 && json_len(b) == 1 &&
	    has_value(json_first(a), b);
}

static void
show_value(struct str *out, const struct json *j)
{
	struct str s = {0}, cut = {0};

	if (json_str(j))
		str_add(&s, *json_str(j) ? json_str(j) : "none");
	else
		json_append(&s, j);
	markup_cut(&cut, s.s, SHOWN);
	str_visible(out, cut.s);
	str_free(&s);
	str_free(&cut);
}

static void
show_side(struct str *out, const struct json *list)
{
	if (!list)
		str_add(out, "unknown");
	for (const struct json *j = json_first(list); j; j = json_next(j)) {
		if (j != json_first(list))
			str_add(out, " and ");
		show_value(out, j);
	}
}

static void
show_difference(struct str *out, const char *name, const struct json *a,
    const struct json *b)
{
	str_visible(out, name);
	str_add(out, ": ");
	show_side(out, a);
	str_add(out, " against ");
	show_side(out, b);
	str_addc(out, '\n');
}

/*
 * Returns true if a value on one side only is a difference: both sides have
 * records of the kind that states it.
 */
static bool
absence_differs(
    const struct environment *a, const struct environment *b, const char *name)
{
	if (str_has_part(run_properties, name, ','))
		return a->runs && b->runs;
	return (a->envs > 0) == (b->envs > 0);
}

struct result {
	size_t equal, differ;
	struct str unknown;
};

static void
compare_setting(struct str *out, struct result *r, const struct environment *a,
    const struct environment *b, const char *name)
{
	const struct json *x = json_get(a->settings, name);
	const struct json *y = json_get(b->settings, name);

	if (is_same_value(x, y))
		r->equal++;
	else if ((x && y) || absence_differs(a, b, name)) {
		r->differ++;
		show_difference(out, name, x, y);
	} else {
		str_printf(&r->unknown, "%s", r->unknown.len ? ", " : "");
		str_visible(&r->unknown, name);
	}
}

static void
compare_measure(struct str *out, struct result *r, const struct environment *a,
    const struct environment *b, size_t i)
{
	const struct measure *m = &measures[i];
	double x = stats_middle(a->measured[i].v, a->measured[i].n);
	double y = stats_middle(b->measured[i].v, b->measured[i].n);

	if (isnan(x) || isnan(y))
		return;
	if (fabs(x - y) <= fmax(m->apart, m->relative * fmax(x, y))) {
		r->equal++;
		return;
	}
	r->differ++;
	str_printf(out, "%s: %.4g against %.4g\n", m->name, x, y);
}

/*
 * Appends a text that lists the differences. Returns 1 if the sessions are
 * comparable, 0 if not, or -1 after reporting that one has no machine state.
 */
static int
compare_environments(
    struct str *out, const struct environment *a, const struct environment *b)
{
	const struct environment *const both[] = {a, b};
	struct result r = {0};
	const struct json *j;

	for (int i = 0; i < 2; i++)
		if (!json_len(both[i]->settings))
			return err_fail("'%s' has no state of its machine; "
					"give env, run or summary records",
			    both[i]->file);
	for (j = json_first(a->settings); j; j = json_next(j))
		compare_setting(out, &r, a, b, json_key(j));
	for (j = json_first(b->settings); j; j = json_next(j))
		if (!json_get(a->settings, json_key(j)))
			compare_setting(out, &r, a, b, json_key(j));
	for (size_t i = 0; i < MEASURES; i++)
		compare_measure(out, &r, a, b, i);
	if (r.differ + r.equal == 0) {
		err_say("no value is known of both sides: %s", r.unknown.s);
		str_free(&r.unknown);
		return -1;
	}
	if (r.differ)
		str_printf(out, "not comparable: %zu of %zu values differ",
		    r.differ, r.differ + r.equal);
	else
		str_printf(out, "comparable: %zu values are equal", r.equal);
	if (r.unknown.len)
		str_printf(out, "; known of one side only: %s", r.unknown.s);
	str_addc(out, '\n');
	str_free(&r.unknown);
	return r.differ == 0;
}

#define STATE "/run/vkb-env.json"
#define GRACE_MS 10000 /* time for the command to end after a signal */
#define WINDOW_MS 250  /* time over which the load is measured */

struct opts {
	bool apply, check, compare, restore, quiet;
	const char *state;
};

#define AT(f) offsetof(struct opts, f)

static const struct opt option_table[] = {
    {0, "apply", OPT_FLAG, AT(apply),
	.help = "set all settings, or those named, for measuring"},
    {0, "check", OPT_FLAG, AT(check),
	.help = "report what makes results noisy; exit 1 if anything does"},
    {0, "compare", OPT_FLAG, AT(compare),
	.help = "tell whether sessions A and B are comparable; exit 1 if not"},
    {'q', "quiet", OPT_FLAG, AT(quiet), .help = "print only errors"},
    {0, "restore", OPT_FLAG, AT(restore), .help = "undo what --apply has set"},
    {0, "state", OPT_STR, AT(state), "FILE",
	.help = "keep the old values in FILE; default " STATE},
    {0}};

static const struct opt_prog prog = {.name = "vkb-env",
    .operands = "[NAME ...|A [B]] [-- COMMAND ...]",
    .purpose = "Record, check, set and compare the state of this machine.",
    .table = option_table};

/* Measures the load of other programs and adds it to the section "now". */
static void
measure_load(struct json *rec, const char *root)
{
	struct json *now = json_get(rec, "now");
	struct cpustat a = {0}, b = {0};
	double busy, steal;

	if (!machine_stat_is_whole(root))
		return;
	cpustat_read(&a, root);
	poll(NULL, 0, WINDOW_MS);
	cpustat_read(&b, root);
	busy = cpustat_busy(&a.whole, &b.whole);
	steal = cpustat_steal(&a.whole, &b.whole);
	if (!isnan(busy)) {
		json_set_num(now, "busy_percent", busy);
		json_set_num(now, "steal_percent", steal);
	}
	free(a.cpu);
	free(b.cpu);
}

static int
check_noise(const struct json *rec, const char *root)
{
	struct str text = {0};
	int rc = show_noise(&text, rec, root) > 0;

	if (output_write(&(struct output){0}, &text) < 0)
		rc = -1;
	str_free(&text);
	return rc;
}

static int
compare_sessions(const struct opt_args *args)
{
	struct environment *a = read_environment(args->v[0]);
	struct environment *b =
	    a ? read_environment(args->n > 1 ? args->v[1] : "-") : NULL;
	struct str text = {0};
	int rc = b ? compare_environments(&text, a, b) : -1;

	if (rc >= 0)
		rc = output_write(&(struct output){0}, &text) < 0 ? -1 : !rc;
	str_free(&text);
	free_environment(a);
	free_environment(b);
	return rc;
}

static int
write_or_check_state(const struct opts *o, const char *root)
{
	struct json *rec = machine_record(root, NULL);
	int rc;

	measure_load(rec, root);
	rc =
	    o->check ? check_noise(rec, root) : jsonl_write(STDOUT_FILENO, rec);
	json_free(rec);
	return rc;
}

/* Returns the exit status as a shell does. */
static int
wait_command(struct proc *p, struct halt *h)
{
	struct pollfd fd[2] = {{.fd = proc_fd(p), .events = POLLIN},
	    {.fd = halt_fd(h), .events = POLLIN}};
	bool tty = false;
	int status, reason;

	while (!proc_wait(p, 0, &status)) {
		if (poll(fd, 2, -1) < 0 && errno != EINTR)
			err_die("cannot wait: %s", strerror(errno));
		reason = halt_reason(h, &tty);
		if (!reason)
			continue;
		if (!tty)
			proc_signal(p, reason);
		if (!proc_wait(p, GRACE_MS, &status))
			status = proc_stop(p, GRACE_MS);
		break;
	}
	return proc_exit_status(status);
}

static int
run_command(char **argv, struct halt *h)
{
	struct proc_spec spec = {
	    .argv = (const char *const *)argv, .death_signal = SIGTERM};
	struct proc *p = proc_start(&spec);
	int status;

	if (!p)
		return errno == ENOENT ? 127 : 126;
	status = wait_command(p, h);
	proc_free(p);
	return status;
}

/* For the reaper: what else could restore them has ended. */
static void
restore_settings(void *tune)
{
	restore_tuning(tune);
}

/* Applies the settings while the command runs. */
static int
apply_during(const struct tune *t, const struct opt_args *args)
{
	struct halt *h = halt_open(false);
	int rc = 125;

	if (h && reaper_start(restore_settings, (void *)(size_t)t) == 0 &&
	    apply_tuning(t, args->v, args->n, getpid()) == 0) {
		rc = run_command(args->rest, h);
		if (restore_tuning(t) < 0)
			rc = 125;
	}
	reaper_dismiss();
	halt_finish(h);
	return rc;
}

/* Returns what is wrong with the command line, or NULL. */
static const char *
check_usage(const struct opts *o, const struct opt_args *args)
{
	if (o->apply + o->check + o->compare + o->restore > 1)
		return "--apply, --check, --compare and --restore exclude each "
		       "other";
	if (args->rest && !o->apply)
		return "a command needs --apply";
	if (args->rest && !args->nrest)
		return "no command after '--'";
	if (o->state && !o->apply && !o->restore)
		return "--state is for --apply and --restore";
	if (o->compare && (args->n < 1 || args->n > 2))
		return "--compare takes one or two files";
	if (args->n && !o->apply && !o->compare)
		return "operands need --apply or --compare";
	return NULL;
}

static int
run_env(void *opts, struct opt_args *args)
{
	const struct opts *o = opts;
	const char *root = getenv("VKB_ENV_ROOT"), *why = check_usage(o, args);
	struct tune t = {.root = root ? root : "",
	    .state = o->state ? o->state : STATE,
	    .quiet = o->quiet};

	if (why)
		return opt_usage(&prog, why);
	if (o->compare && args->n == 1 && opt_stdin(&prog) < 0)
		return -1;
	if (o->compare)
		return compare_sessions(args);
	if (o->restore)
		return restore_tuning(&t);
	if (o->apply && args->rest)
		return apply_during(&t, args);
	if (o->apply)
		return apply_tuning(&t, args->v, args->n, 0);
	return write_or_check_state(o, t.root);
}

int
main(int argc, char **argv)
{
	struct opts o = {0};

	return opt_main(&prog, argc, argv, &o, run_env);
}
