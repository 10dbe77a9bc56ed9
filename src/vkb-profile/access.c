#include "access.h"
#include "json.h"
#include "mem.h"
#include "sysfile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* capabilities(7) */
enum { SYS_PTRACE = 19, SYS_ADMIN = 21, PERFMON = 38 };

static unsigned long long
read_capabilities(void)
{
	char *s = sysfile_value("", "/proc/self/status", "CapEff");
	unsigned long long caps = s ? strtoull(s, NULL, 16) : 0;

	free(s);
	return caps;
}

void
access_read(struct access *a, pid_t pid)
{
	unsigned long long caps = read_capabilities();
	struct stat st;
	char path[64];

	a->paranoid = sysfile_num("", "/proc/sys/kernel/perf_event_paranoid");
	a->kptr_restrict = sysfile_num("", "/proc/sys/kernel/kptr_restrict");
	a->perfmon = (caps >> PERFMON & 1) || (caps >> SYS_ADMIN & 1);
	a->ptrace = a->perfmon || (caps >> SYS_PTRACE & 1);
	a->own_uid = a->target_uid = geteuid();
	/* /proc/PID belongs to root if the process may not be traced. */
	snprintf(path, sizeof path, "/proc/%ld", (long)pid);
	if (pid && stat(path, &st) == 0)
		a->target_uid = st.st_uid;
}

enum access_level
access_decide(const struct access *a)
{
	if (a->target_uid != a->own_uid && !a->ptrace)
		return ACCESS_NONE;
	if (a->perfmon)
		return ACCESS_ALL;
	/* 3 and 4 exist on Debian and Ubuntu: users may not use perf. */
	if (a->paranoid > 2)
		return ACCESS_NONE;
	return a->paranoid == 2 || isnan(a->paranoid) ? ACCESS_USER
						      : ACCESS_ALL;
}

char *
access_explain_refusal(const struct access *a)
{
	if (a->target_uid != a->own_uid && !a->ptrace)
		return mem_printf(
		    "it belongs to user %ld or may not be traced; run "
		    "vkb-profile as that user or as root",
		    (long)a->target_uid);
	return mem_printf(
	    "kernel.perf_event_paranoid is %.0f, so ordinary users may not "
	    "profile %s; allow it with 'sudo sysctl "
	    "kernel.perf_event_paranoid=1', or run vkb-profile with "
	    "CAP_PERFMON",
	    a->paranoid, a->paranoid > 2 ? "anything" : "the kernel");
}

const char *
access_explain_hidden(const struct access *a)
{
	if (!(a->kptr_restrict > 0) ||
	    (a->kptr_restrict == 1 && a->own_uid == 0))
		return NULL;
	return "kernel.kptr_restrict hides the names of kernel functions: "
	       "'sudo sysctl kernel.kptr_restrict=0' shows them";
}

struct json *
access_describe(const struct access *a)
{
	static const char *const names[] = {"nothing", "user", "all"};
	struct json *j = json_object();

	json_set_num(j, "perf_event_paranoid", a->paranoid);
	json_set_num(j, "kptr_restrict", a->kptr_restrict);
	json_set_bool(j, "cap_perfmon", a->perfmon);
	json_set_str(j, "allowed", names[access_decide(a)]);
	return j;
}
