#include "pinning.h"
#include "cpulist.h"
#include "err.h"
#include "json.h"
#include "sysfile.h"
#include "vkb-load/plan/benchcase.h"

#include <sched.h>
#include <stdlib.h>

/* Reads the CPUs of this machine. 0, or -1, not reported. */
static int
read_online_cpus(cpu_set_t *set)
{
	char *line = sysfile_line("", "/sys/devices/system/cpu/online");
	const char *why;
	int rc = line ? cpulist_parse(line, set, &why) : -1;

	free(line);
	return rc;
}

static int
check_cpus(const struct bench_case *c, const char *list, const cpu_set_t *all)
{
	cpu_set_t set, both;
	const char *why;

	if (!list)
		return 0;
	if (cpulist_parse(list, &set, &why) < 0)
		return err_fail(
		    "%s: \"%s\" is not a CPU list: %s", c->id, list, why);
	CPU_AND(&both, &set, all);
	if (!CPU_EQUAL(&both, &set))
		return err_fail("%s: this machine lacks some of the CPUs "
				"\"%s\"",
		    c->id, list);
	return 0;
}

static int
check_each(
    const struct bench_case *c, const struct json *lists, const cpu_set_t *all)
{
	int rc = 0;

	for (const struct json *j = json_first(lists); j && rc == 0;
	     j = json_next(j))
		rc = check_cpus(c, json_str(j), all);
	return rc;
}

int
pinning_check(const struct bench_case *cases, size_t n, bool servers)
{
	const struct bench_case *c;
	cpu_set_t all;

	if (read_online_cpus(&all) < 0)
		return 0;
	for (size_t i = 0; i < n; i++) {
		c = &cases[i];
		if (check_cpus(c, c->client_cpus, &all) < 0 ||
		    check_each(c, c->client_cpus_each, &all) < 0 ||
		    (servers && check_each(c, c->server_cpus, &all) < 0))
			return -1;
	}
	return 0;
}
