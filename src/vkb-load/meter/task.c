#include "task.h"
#include "mem.h"
#include "sysfile.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

double
task_process_ns(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 ||
	    clock_gettime(clock, &t) < 0)
		return NAN;
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Returns the first two numbers of a file; NAN: unknown. */
static void
read_numbers(const char *path, double v[2])
{
	char *line = sysfile_line("", path);

	if (!line || sscanf(line, "%lf %lf", &v[0], &v[1]) != 2)
		v[0] = v[1] = NAN;
	free(line);
}

/* schedstat has "time waited slices", in ns. */
struct task_time
task_thread_time(pid_t pid, pid_t tid)
{
	char path[64];
	double v[2];

	snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)pid,
	    (int)tid);
	read_numbers(path, v);
	return (struct task_time){v[0], v[1]};
}

double
task_resident_mb(pid_t pid)
{
	char path[64];
	double v[2];

	snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
	read_numbers(path, v);
	return v[1] * (double)sysconf(_SC_PAGESIZE) / 1048576;
}

double
task_peak_mb(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	return sysfile_value_num("", path, "VmHWM") / 1024;
}

void
task_thread_switches(pid_t pid, pid_t tid, struct task_switches *s)
{
	char path[64];

	snprintf(
	    path, sizeof path, "/proc/%d/task/%d/status", (int)pid, (int)tid);
	s->voluntary += sysfile_value_num("", path, "voluntary_ctxt_switches");
	s->involuntary +=
	    sysfile_value_num("", path, "nonvoluntary_ctxt_switches");
}

pid_t *
task_list_threads(pid_t pid, size_t *n)
{
	char path[64];
	pid_t *v = NULL;
	struct dirent *e;
	size_t cap = 0;
	DIR *d;

	*n = 0;
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			*MEM_ADD(v, *n, cap) = (pid_t)atoi(e->d_name);
	if (d)
		closedir(d);
	return v;
}

struct task_time
task_process_time(pid_t pid)
{
	size_t n;
	pid_t *v = task_list_threads(pid, &n);
	struct task_time t = {task_process_ns(pid), n ? 0 : NAN};

	for (size_t i = 0; i < n; i++)
		t.waited_ns += task_thread_time(pid, v[i]).waited_ns;
	free(v);
	return t;
}

void
task_process_switches(pid_t pid, struct task_switches *s)
{
	size_t n;
	pid_t *v = task_list_threads(pid, &n);

	for (size_t i = 0; i < n; i++)
		task_thread_switches(pid, v[i], s);
	if (!n)
		s->voluntary = s->involuntary = NAN;
	free(v);
}

static struct task_thread *
find_thread(struct task_thread *list, size_t n, pid_t tid)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].tid == tid)
			return &list[i];
	return NULL;
}

void
task_read_threads(pid_t pid, bool end, struct task_thread **list, size_t *n)
{
	size_t ntids;
	pid_t *v = task_list_threads(pid, &ntids);
	struct task_thread *t;
	char path[64], *name;

	for (size_t i = 0; i < ntids; i++) {
		double ns = task_thread_time(pid, v[i]).ran_ns;

		t = end ? find_thread(*list, *n, v[i]) : NULL;
		if (t) {
			t->end_ns = ns;
			continue;
		}
		snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)pid,
		    (int)v[i]);
		name = sysfile_line("", path);
		*list = mem_resize(*list, *n + 1, sizeof **list);
		t = &(*list)[(*n)++];
		*t = (struct task_thread){.pid = pid,
		    .tid = v[i],
		    .begin_ns = end ? 0 : ns,
		    .end_ns = end ? ns : NAN};
		snprintf(t->name, sizeof t->name, "%s", name ? name : "");
		free(name);
	}
	free(v);
}
