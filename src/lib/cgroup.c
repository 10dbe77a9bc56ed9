#include "cgroup.h"
#include "mem.h"
#include "str.h"
#include "sysfile.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIELD 512
#define NO_LIMIT 0x1p62 /* v1 writes a huge number for no limit */

/* Returns the path of our group in /proc/self/cgroup, of v2 without a
 * controller; NULL if there is none. The caller frees it. */
static char *
find_group(const char *root, const char *controller)
{
	FILE *f = sysfile_open(root, "/proc/self/cgroup");
	char *line = NULL, *path = NULL, *names, *at;
	size_t cap = 0;

	while (f && !path && getline(&line, &cap, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		names = strchr(line, ':');
		at = names ? strchr(++names, ':') : NULL;
		if (!at)
			continue;
		*at++ = '\0';
		if (controller ? str_has_part(names, controller, ',') : !*names)
			path = mem_str(at);
	}
	free(line);
	if (f)
		fclose(f);
	return path;
}

/*
 * Returns where that hierarchy is mounted, or NULL; 'seen' is set to the group
 * that is mounted. The caller frees it. A line of mountinfo:
 * 36 35 98:0 /ROOT /MOUNT rw shared:1 - cgroup2 source options
 */
static char *
find_mount(const char *root, const char *controller, char seen[FIELD])
{
	FILE *f = sysfile_open(root, "/proc/self/mountinfo");
	char *line = NULL, *path = NULL, *rest;
	char at[FIELD], kind[FIELD], options[FIELD];
	size_t cap = 0;

	while (f && !path && getline(&line, &cap, f) > 0) {
		rest = strstr(line, " - ");
		if (!rest ||
		    sscanf(line, "%*s %*s %*s %511s %511s", seen, at) != 2 ||
		    sscanf(rest, " - %511s %*s %511s", kind, options) != 2)
			continue;
		if (controller ? strcmp(kind, "cgroup") == 0 &&
			    str_has_part(options, controller, ',')
			       : strcmp(kind, "cgroup2") == 0)
			path = mem_str(at);
	}
	free(line);
	if (f)
		fclose(f);
	return path;
}

/* Returns the folder of our group, of v2 without a controller, and sets *mount;
 * NULL if there is none. The caller frees both. */
static char *
find_folder(const char *root, const char *controller, char **mount)
{
	char *group = find_group(root, controller), *dir, seen[FIELD];
	const char *below = group;
	size_t n;

	*mount = group ? find_mount(root, controller, seen) : NULL;
	if (!*mount) {
		free(group);
		return NULL;
	}
	n = strlen(seen);
	if (n > 1 && strncmp(group, seen, n) == 0)
		below += n;
	dir = mem_printf("%s%s", *mount, strcmp(below, "/") == 0 ? "" : below);
	/* A container sees only its own group. */
	if (!sysfile_exists(root, dir)) {
		free(dir);
		dir = mem_str(*mount);
	}
	free(group);
	return dir;
}

static double
read_number(const char *root, const char *dir, const char *file)
{
	char *path = mem_printf("%s/%s", dir, file);
	double v = sysfile_num(root, path);

	free(path);
	return v;
}

static double
read_cpu_limit(const char *root, const char *dir, int version)
{
	double quota = NAN, period = NAN;
	char *path, *line;

	if (version == 1) {
		quota = read_number(root, dir, "cpu.cfs_quota_us");
		period = read_number(root, dir, "cpu.cfs_period_us");
	} else {
		path = mem_printf("%s/cpu.max", dir);
		line = sysfile_line(root, path);
		if (line && sscanf(line, "%lf %lf", &quota, &period) != 2)
			quota = NAN;
		free(line);
		free(path);
	}
	return quota > 0 && period > 0 ? quota / period : NAN;
}

static double
read_memory_limit(const char *root, const char *dir, int version)
{
	double v = read_number(
	    root, dir, version == 1 ? "memory.limit_in_bytes" : "memory.max");

	return v < NO_LIMIT ? v : NAN;
}

/* Returns the lowest limit from our group up to the mount; NAN: unlimited. */
static double
find_lowest_limit(const char *root, const char *dir, const char *mount,
    int version, double (*at)(const char *, const char *, int))
{
	char *d = mem_str(dir), *slash;
	double v = NAN;

	for (;;) {
		v = fmin(v, at(root, d, version)); /* ignores NAN */
		slash = strrchr(d, '/');
		if (strlen(d) <= strlen(mount) || !slash)
			break;
		*slash = '\0';
	}
	free(d);
	return v;
}

static char *
read_cpuset(const char *root, const char *dir)
{
	static const char *const files[] = {
	    "cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"};
	char *path, *v = NULL;

	for (size_t i = 0; !v && i < sizeof files / sizeof *files; i++) {
		path = mem_printf("%s/%s", dir, files[i]);
		v = sysfile_line(root, path);
		free(path);
	}
	return v;
}

static void
read_throttling(struct cgroup *c, const char *root, const char *dir)
{
	char *path = mem_printf("%s/cpu.stat", dir);

	c->throttled = sysfile_value_num(root, path, "nr_throttled ");
	c->throttled_s = sysfile_value_num(root, path, "throttled_usec ") / 1e6;
	if (isnan(c->throttled_s)) /* v1 */
		c->throttled_s =
		    sysfile_value_num(root, path, "throttled_time ") / 1e9;
	free(path);
}

/* Returns the v1 folder of the controller if there is one, else that of v2. */
static char *
find_controller(const char *root, const char *name, char **mount, int *version)
{
	char *dir = find_folder(root, name, mount);

	*version = 1;
	if (dir)
		return dir;
	*version = 2;
	return find_folder(root, NULL, mount);
}

void
cgroup_read(struct cgroup *c, const char *root)
{
	char *mount, *dir;
	int version;

	*c = (struct cgroup){.cpus = NAN,
	    .memory_bytes = NAN,
	    .throttled = NAN,
	    .throttled_s = NAN};
	dir = find_controller(root, "cpu", &mount, &version);
	if (dir) {
		c->version = version;
		c->cpus = find_lowest_limit(
		    root, dir, mount, version, read_cpu_limit);
		read_throttling(c, root, dir);
	}
	free(dir);
	free(mount);
	dir = find_controller(root, "memory", &mount, &version);
	if (dir)
		c->memory_bytes = find_lowest_limit(
		    root, dir, mount, version, read_memory_limit);
	free(dir);
	free(mount);
	dir = find_controller(root, "cpuset", &mount, &version);
	if (dir)
		c->cpuset = read_cpuset(root, dir);
	free(dir);
	free(mount);
}

void
cgroup_free(struct cgroup *c)
{
	free(c->cpuset);
}

int
cgroup_count_cpus(const char *root)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	struct cgroup c;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) == 0)
		n = CPU_COUNT(&set);
	cgroup_read(&c, root);
	if (c.cpus < (double)n) /* or unknown */
		n = (long)c.cpus;
	cgroup_free(&c);
	return n < 1 ? 1 : (int)n;
}
