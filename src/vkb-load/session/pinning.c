#include "pinning.h"
#include "cpulist.h"
#include "err.h"
#include "json.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

/* Reads the CPUs of this machine. 0, or -1, not reported. */
static int
read_online_cpus(cpu_set_t *set)
{
	FILE *f = fopen("/sys/devices/system/cpu/online", "re");
	char line[4096];
	const char *why;
	int rc = -1;

	if (!f)
		return -1;
	if (fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = '\0';
		rc = cpulist_parse(line, set, &why);
	}
	fclose(f);
	return rc;
}

static int
check_cpus(
    const struct json *cas, const struct json *list, const cpu_set_t *all)
{
	cpu_set_t set, both;
	const char *why;

	if (!json_str(list))
		return 0;
	if (cpulist_parse(json_str(list), &set, &why) < 0)
		return err_fail("%s: \"%s\" is not a CPU list: %s",
		    json_get_str(cas, "id"), json_str(list), why);
	CPU_AND(&both, &set, all);
	if (!CPU_EQUAL(&both, &set))
		return err_fail("%s: this machine lacks some of the CPUs "
				"\"%s\"",
		    json_get_str(cas, "id"), json_str(list));
	return 0;
}

int
pinning_check(struct json *const *cases, size_t n, bool servers)
{
	const struct json *j;
	cpu_set_t all;
	int rc = 0;

	if (read_online_cpus(&all) < 0)
		return 0;
	for (size_t i = 0; i < n && rc == 0; i++) {
		rc = check_cpus(
		    cases[i], json_path(cases[i], "client.cpus"), &all);
		for (j = json_first(json_path(cases[i], "client.each"));
		     j && rc == 0; j = json_next(j))
			rc = check_cpus(cases[i], j, &all);
		if (rc < 0)
			break;
		j = servers ? json_path(cases[i], "server.cpus") : NULL;
		for (j = json_first(j); j && rc == 0; j = json_next(j))
			rc = check_cpus(cases[i], j, &all);
	}
	return rc;
}
