#include "calls.h"
#include "elffile.h"
#include "err.h"
#include "fdlimit.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "sysfile.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PMU "/sys/bus/event_source/devices/uprobe/type"

struct counter {
	int fd;
	size_t function; /* index in calls.functions */
};

struct calls {
	const char *path;
	struct elffile_functions functions;
	struct counter *v;
	size_t n, cap;
	pid_t *threads; /* that have counters */
	size_t nthreads, threads_cap;
};

/* Returns the perf event type of uprobes, or -1 after reporting an error. */
static int
read_uprobe_type(void)
{
	double type = sysfile_num("", PMU);

	return isnan(type)
	    ? err_fail("this kernel does not count uprobes for a process (no "
		       "'" PMU "')")
	    : (int)type;
}

/* The counter is not inherited: on fork the kernel would look for 'path' in the
 * memory of the forking process, and the fork would fail. */
static int
open_counter(struct calls *c, int type, size_t function, pid_t thread)
{
	struct perf_event_attr a = {.type = (uint32_t)type,
	    .size = sizeof a,
	    .config1 = (uint64_t)(uintptr_t)c->path,
	    .config2 = c->functions.v[function].offset,
	    .disabled = 1};
	int fd = (int)syscall(
	    SYS_perf_event_open, &a, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && errno == ESRCH)
		return 0; /* the thread has ended */
	if (fd < 0 && (errno == EACCES || errno == EPERM))
		return err_fail(
		    "cannot count calls: this needs root or CAP_PERFMON");
	if (fd < 0)
		return err_fail_sys("cannot count the calls of '%s'",
		    c->functions.v[function].name);
	*MEM_ADD(c->v, c->n, c->cap) =
	    (struct counter){.fd = fd, .function = function};
	return 0;
}

static bool
is_watched(const struct calls *c, pid_t thread)
{
	for (size_t i = 0; i < c->nthreads; i++)
		if (c->threads[i] == thread)
			return true;
	return false;
}

static int
watch_thread(struct calls *c, int type, pid_t thread)
{
	*MEM_ADD(c->threads, c->nthreads, c->threads_cap) = thread;
	if (fdlimit_raise(c->functions.n, "counters of a thread") < 0)
		return -1;
	for (size_t i = 0; i < c->functions.n; i++)
		if (open_counter(c, type, i, thread) < 0)
			return -1;
	return 0;
}

/* Opens counters in threads that have none. Returns 1 if there were such
 * threads, 0 if not, -1 after reporting an error. */
static int
watch_new_threads(struct calls *c, int type, pid_t pid)
{
	char path[64];
	struct dirent *e;
	long long tid;
	int rc = 0;
	DIR *d;

	snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
	d = opendir(path);
	if (!d)
		return err_fail_sys("cannot read '%s'", path);
	while (rc >= 0 && (e = readdir(d))) {
		if (num_int(e->d_name, &tid) < 0 || is_watched(c, (pid_t)tid))
			continue;
		rc = watch_thread(c, type, (pid_t)tid) < 0 ? -1 : 1;
	}
	closedir(d);
	return rc;
}

static int
find_functions(struct calls *c, const char *const *patterns, size_t n)
{
	struct elffile_functions *s = &c->functions;

	if (elffile_read_functions(s, c->path, patterns, n) < 0)
		return -1;
	if (!s->seen)
		return err_fail(
		    "'%s' has no function names: it is stripped", c->path);
	if (!s->n)
		return err_fail("no function of '%s' matches '%s'%s; inlined "
				"functions have no calls",
		    c->path, patterns[0], n > 1 ? " or another pattern" : "");
	if (s->n > CALLS_MOST)
		return err_fail("%zu functions match, but at most %d can be "
				"counted; use a narrower pattern",
		    s->n, CALLS_MOST);
	return 0;
}

struct calls *
calls_open(pid_t pid, const char *path, const char *const *patterns, size_t n)
{
	struct calls *c = mem_new(sizeof *c);
	int type = read_uprobe_type(), rc;

	c->path = path;
	if (type < 0 || find_functions(c, patterns, n) < 0)
		goto bad;
	/* Threads can start while counters are opened in others. */
	while ((rc = watch_new_threads(c, type, pid)) > 0)
		;
	if (rc == 0)
		return c;
bad:
	calls_close(c);
	return NULL;
}

void
calls_close(struct calls *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++)
		close(c->v[i].fd);
	free(c->v);
	free(c->threads);
	elffile_free_functions(&c->functions);
	free(c);
}

int
calls_control(struct calls *c, bool on)
{
	unsigned long what =
	    on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	for (size_t i = 0; i < c->n; i++)
		if (ioctl(c->v[i].fd, what, 0) < 0)
			return err_fail_sys("cannot count calls");
	return 0;
}

struct call_count {
	const char *name;
	uint64_t n;
};

static int
compare_by_count(const void *a, const void *b)
{
	const struct call_count *x = a, *y = b;

	return x->n != y->n ? (x->n < y->n ? 1 : -1) : strcmp(x->name, y->name);
}

struct json *
calls_read(const struct calls *c)
{
	size_t n = c->functions.n;
	struct call_count *t = mem_array(n, sizeof *t);
	struct json *j = NULL;
	uint64_t v;

	for (size_t i = 0; i < n; i++)
		t[i].name = c->functions.v[i].name;
	for (size_t i = 0; i < c->n; i++) {
		if (read(c->v[i].fd, &v, sizeof v) != sizeof v) {
			err_fail_sys("cannot read the calls of '%s'",
			    t[c->v[i].function].name);
			goto out;
		}
		t[c->v[i].function].n += v;
	}
	qsort(t, n, sizeof *t, compare_by_count);
	j = json_object();
	for (size_t i = 0; i < n; i++)
		json_set_num(j, t[i].name,
		    json_get_num(j, t[i].name, 0) + (double)t[i].n);
out:
	free(t);
	return j;
}
