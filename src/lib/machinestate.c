#include "machinestate.h"
#include "cgroup.h"
#include "json.h"
#include "mem.h"
#include "str.h"
#include "sysfile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CPU "/sys/devices/system/cpu/"
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

struct json *
machine_state_read(const char *root)
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
