#include "setting.h"
#include "mem.h"
#include "sysfile.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

int
setting_write(const char *root, const char *path, const char *value)
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

void
setting_edits_add(struct edits *c, const char *path, const char *old,
    const char *new, const char *name)
{
	c->v = mem_grow(c->v, c->n, &c->cap, sizeof *c->v);
	c->v[c->n++] =
	    (struct change){mem_str(path), mem_str(old), mem_str(new), name};
}

void
setting_edits_free(struct edits *c)
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
find_edits(struct edits *c, const char *root, const struct setting *s)
{
	char **list = sysfile_glob(root, s->pattern), *now;

	for (char **p = list; *p; p++) {
		now = sysfile_chosen(root, *p);
		if (now && strcmp(now, s->wanted) != 0 &&
		    (!s->bad || strcmp(now, s->bad) == 0) &&
		    !(strcmp(s->name, "idle") == 0 && is_shallow(root, *p)))
			setting_edits_add(c, *p, now, s->wanted, s->name);
		free(now);
	}
	mem_free_list(list);
}

void
setting_find(struct edits *c, const char *root, const char *name)
{
	for (const struct setting *s = setting_table; s->name; s++)
		if (!name || strcmp(s->name, name) == 0)
			find_edits(c, root, s);
}

bool
setting_listed(const char *name)
{
	for (const struct setting *s = setting_table; s->name; s++)
		if (strcmp(s->name, name) == 0)
			return true;
	return false;
}

bool
setting_known(const char *root, const char *name)
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

const char *
setting_name(const char *path)
{
	for (const struct setting *s = setting_table; s->name; s++)
		if (!strstr(path, "..") &&
		    fnmatch(s->pattern, path, FNM_PATHNAME) == 0)
			return s->name;
	return NULL;
}
