#include "cgroup.h"
#include "cpustat.h"
#include "sysfile.h"
#include "tap.h"

#include "folder.h"
#include "mem.h"

#include <libgen.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

static const char *root;

static void
put(const char *path, const char *text)
{
	char *whole = mem_printf("%s%s", root, path), *dir = mem_str(whole);
	FILE *f;

	folder_make(dirname(dir));
	f = fopen(whole, "we");
	if (f) {
		fputs(text, f);
		fclose(f);
	}
	free(dir);
	free(whole);
}

static void
sysfiles(void)
{
	char *s;

	put("/a1/x", "  one  \nother\n");
	put("/a2/x", "two\n");
	put("/a10/x", "one");
	put("/none", "");
	put("/blank", " \n");
	put("/info", "key\t: \"the value\"\nkeys: 7 kB\n");
	put("/number", "12.5 and more\n");
	s = sysfile_line(root, "/a1/x");
	tap_str(s, "one", "a line without its white space");
	free(s);
	tap_ok(!sysfile_line(root, "/none"), "an empty file has no line");
	tap_ok(!sysfile_line(root, "/blank"), "a blank file has no line");
	tap_ok(!sysfile_line(root, "/missing"), "a missing file has no line");
	s = sysfile_value(root, "/info", "key");
	tap_str(s, "the value", "a value without quotes");
	free(s);
	tap_ok(!sysfile_value(root, "/info", "lacks"), "a key that is missing");
	tap_near(sysfile_num(root, "/number"), 12.5, 0, "a number");
	tap_ok(isnan(sysfile_num(root, "/a2/x")), "a text is not a number");
	tap_ok(isnan(sysfile_num(root, "/missing")),
	    "a missing file is not a number");
	s = sysfile_all(root, "/a*/x");
	tap_str(s, "one,two", "the different lines of all files, a10 after a2");
	free(s);
	tap_ok(!sysfile_all(root, "/b*/x"),
	    "a pattern that matches no file has no lines");
}

static void
cgroups(void)
{
	cpu_set_t own, one;
	struct cgroup c;
	int first = 0;

	cgroup_read(&c, root);
	tap_ok(c.version == 0 && isnan(c.cpus) && !c.cpuset,
	    "without control groups nothing is known");
	cgroup_free(&c);
	sched_getaffinity(0, sizeof own, &own);
	tap_ok(cgroup_count_cpus(root) == CPU_COUNT(&own),
	    "without control groups as many threads run as there are CPUs");
	while (!CPU_ISSET(first, &own))
		first++;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	sched_setaffinity(0, sizeof one, &one);
	tap_ok(cgroup_count_cpus(root) == 1, "and one that has one CPU");
	sched_setaffinity(0, sizeof own, &own);

	put("/proc/self/cgroup", "0::/a/b\n");
	put("/proc/self/mountinfo",
	    "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	put("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
	put("/sys/fs/cgroup/a/memory.max", "max\n");
	put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
	put("/sys/fs/cgroup/a/b/memory.max", "1073741824\n");
	put("/sys/fs/cgroup/a/b/cpuset.cpus.effective", "0-1,4\n");
	put("/sys/fs/cgroup/a/b/cpu.stat",
	    "usage_usec 5\nnr_throttled 3\nthrottled_usec 2500000\n");
	cgroup_read(&c, root);
	tap_ok(c.version == 2, "v2");
	tap_near(c.cpus, 1.5, 0, "v2: the limit of the parent group counts");
	tap_ok(cgroup_count_cpus(root) == 1, "v2: one thread within 1.5 CPUs");
	tap_near(c.memory_bytes, 1073741824, 0, "v2: memory");
	tap_str(c.cpuset, "0-1,4", "v2: cpuset");
	tap_near(c.throttled, 3, 0, "v2: how often it was throttled");
	tap_near(c.throttled_s, 2.5, 1e-12, "v2: how long it was throttled");
	cgroup_free(&c);
	put("/sys/fs/cgroup/a/cpu.max", "290000 100000\n");
	tap_ok(cgroup_count_cpus(root) ==
		(CPU_COUNT(&own) < 2 ? CPU_COUNT(&own) : 2),
	    "v2: two threads within 2.9 CPUs, where there are as many");

	/* A container sees its own group at the mount point. */
	put("/proc/self/cgroup", "0::/docker/1234\n");
	put("/proc/self/mountinfo",
	    "30 20 0:26 /docker/1234 /sys/fs/cgroup rw - cgroup2 c rw\n");
	put("/sys/fs/cgroup/cpu.max", "50000 100000\n");
	cgroup_read(&c, root);
	tap_near(c.cpus, .5, 0, "v2: in a container");
	tap_ok(
	    cgroup_count_cpus(root) == 1, "v2: one thread within half a CPU");
	cgroup_free(&c);

	put("/proc/self/cgroup",
	    "4:memory:/m\n3:cpu,cpuacct:/x/y\n1:name=systemd:/\n0::/\n");
	put("/proc/self/mountinfo",
	    "31 20 0:27 / /cg/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
	    "32 20 0:28 / /cg/memory rw - cgroup cgroup rw,memory\n"
	    "30 20 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
	put("/cg/cpu,cpuacct/x/y/cpu.cfs_quota_us", "-1\n");
	put("/cg/cpu,cpuacct/x/y/cpu.cfs_period_us", "100000\n");
	put("/cg/cpu,cpuacct/x/cpu.cfs_quota_us", "200000\n");
	put("/cg/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
	put("/cg/cpu,cpuacct/x/y/cpu.stat",
	    "nr_periods 9\nnr_throttled 2\nthrottled_time 1500000000\n");
	put("/cg/memory/m/memory.limit_in_bytes", "9223372036854771712\n");
	cgroup_read(&c, root);
	tap_ok(c.version == 1, "v1 is read even if v2 is mounted as well");
	tap_near(c.cpus, 2, 0, "v1: the limit of the parent group counts");
	tap_ok(isnan(c.memory_bytes),
	    "v1: the huge number means that there is no limit");
	tap_near(c.throttled_s, 1.5, 1e-12, "v1: how long it was throttled");
	cgroup_free(&c);
}

static void
cpustats(void)
{
	struct cpustat a = {0}, b = {0};

	put("/proc/stat",
	    "cpu  100 20 30 800 50 0 0 10 5 0\n"
	    "cpu0 50 10 15 400 25 0 0 5 0 0\n"
	    "cpu2 50 10 15 400 25 0 0 5 0 0\nintr 7\n");
	cpustat_read(&a, root);
	put("/proc/stat",
	    "cpu  140 20 40 840 50 0 0 20 5 0\n"
	    "cpu0 90 10 25 400 25 0 0 5 0 0\nintr 7\n");
	cpustat_read(&b, root);
	tap_near(cpustat_busy(&a.whole, &b.whole), 50, 1e-12, "busy");
	tap_near(cpustat_steal(&a.whole, &b.whole), 10, 1e-12, "steal");
	tap_ok(a.n == 3 && isnan(a.cpu[1].all),
	    "a CPU that is offline has no times");
	tap_near(cpustat_busy(&a.cpu[0], &b.cpu[0]), 100, 1e-12,
	    "a CPU that was always busy is 100 percent busy");
	tap_ok(b.n == 1, "the second reading has one CPU");
	cpustat_read(&a, root);
	tap_ok(a.n == 3 && isnan(a.cpu[2].all),
	    "a CPU that went offline has no times");
	tap_ok(isnan(cpustat_busy(&a.whole, &b.whole)),
	    "without time between the readings there is no share");
	put("/proc/stat", "cpu 1 2\n");
	cpustat_read(&a, root);
	tap_ok(isnan(a.whole.all), "a short line gives no times");
	free(a.cpu);
	free(b.cpu);
}

int
main(void)
{
	char dir[] = "/tmp/vkb-machine.XXXXXX";

	root = mkdtemp(dir);
	if (!root)
		return 2;
	sysfiles();
	cgroups();
	cpustats();
	folder_remove(root);
	return tap_done();
}
