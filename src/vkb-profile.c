/*
 * Profiles a process, or a command from its start, with perf: samples stacks
 * for a flame graph and reads counters. Writes files into a folder, and a
 * 'profile' record.
 */
#include "client.h"
#include "clock.h"
#include "err.h"
#include "fdlimit.h"
#include "folder.h"
#include "halt.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "num.h"
#include "opt.h"
#include "proc.h"
#include "record.h"
#include "str.h"
#include "sysfile.h"
#include "tarball.h"
#include "vkb-profile/access.h"
#include "vkb-profile/counters.h"
#include "vkb-profile/elffile.h"
#include "vkb-profile/perf.h"
#include "vkb-profile/sampler.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * Finds the process to profile by id, port or name. If several match it is an
 * error.
 */

/* Returns a file of /proc/PID without a newline at its end and with a NUL, or
 * NULL. Caller frees. */
static char *
read_process_file(pid_t pid, const char *file, size_t *len)
{
	struct str s = {0};
	char path[64];
	int fd;

	snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	str_read(&s, fd);
	close(fd);
	if (s.len && s.s[s.len - 1] == '\n')
		s.s[--s.len] = '\0';
	if (len)
		*len = s.len;
	return str_take(&s);
}

static char *
read_process_link(pid_t pid, const char *file)
{
	char path[320], to[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, file);
	n = readlink(path, to, sizeof to);
	return n < 0 ? NULL : mem_strn(to, (size_t)n);
}

/* Returns the command line joined by blanks; NULL for a kernel thread. */
static char *
read_command_line(pid_t pid)
{
	size_t n = 0;
	char *s = read_process_file(pid, "cmdline", &n);

	if (!s)
		return NULL;
	while (n > 0 && (s[n - 1] == '\0' || s[n - 1] == ' '))
		s[--n] = '\0';
	for (size_t i = 0; i < n; i++)
		if (s[i] == '\0')
			s[i] = ' ';
	if (n)
		return s;
	free(s);
	return NULL;
}

/* Returns a path by which the program can be opened, or NULL. Caller frees with
 * free(). */
static char *
find_exe(pid_t pid)
{
	char *s = read_process_link(pid, "exe");

	if (!s || access(s, R_OK) == 0)
		return s;
	free(s); /* it was deleted, or is in another root */
	s = mem_printf("/proc/%ld/exe", (long)pid);
	if (access(s, R_OK) == 0)
		return s;
	free(s);
	return NULL;
}

/* Returns 0 if the process runs, or -1 after reporting an error. */
static int
check_process(pid_t pid)
{
	char *stat, *end;
	bool dead;

	if (kill(pid, 0) < 0 && errno != EPERM)
		return err_fail("there is no process %ld", (long)pid);
	stat = read_process_file(pid, "stat", NULL);
	end = stat ? strrchr(stat, ')') : NULL;
	dead = !end || end[1] != ' ' || strchr("ZX", end[2]) != NULL;
	free(stat);
	return dead ? err_fail("process %ld has ended", (long)pid) : 0;
}

/*
 * Returns pid, comm and exe, as far as they are known; not the arguments, which
 * can contain secrets. Caller frees with json_free.
 */
static struct json *
describe_process(pid_t pid)
{
	struct json *j = json_object();
	char *comm = read_process_file(pid, "comm", NULL), *exe = find_exe(pid);

	json_set_num(j, "pid", (double)pid);
	if (comm && str_utf8(comm, strlen(comm)))
		json_set_str(j, "comm", comm);
	if (exe && str_utf8(exe, strlen(exe)))
		json_set_str(j, "exe", exe);
	free(comm);
	free(exe);
	return j;
}

struct wanted {
	char *what;       /* that is wanted of a process, for messages */
	const char *name; /* or its sockets: */
	unsigned long *inode;
	size_t n, cap;
	unsigned uid; /* owner of the last socket */
	bool hidden;  /* some process has files that we may not list */
};

/* Returns the only process that matches; 0 if there is none; else -1, after
 * reporting an error. Frees w->what. */
static pid_t
find_only(struct wanted *w, bool (*matches)(struct wanted *, pid_t),
    const char *option)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	struct str list = {0};
	long long pid, found = 0;
	size_t n = 0;
	char *line;

	while (d && (e = readdir(d))) {
		if (num_int(e->d_name, &pid) < 0 || !matches(w, (pid_t)pid))
			continue;
		line = read_command_line((pid_t)pid);
		str_printf(&list, "\n%lld  %s", pid,
		    line ? line : "[no command line]");
		free(line);
		found = pid;
		n++;
	}
	if (!d)
		found = err_fail_sys("cannot read '/proc'");
	else
		closedir(d);
	if (n > 1)
		found = err_fail("%zu processes %s; choose one by --pid%s:%s",
		    n, w->what, option, list.s);
	str_free(&list);
	free(w->what);
	return (pid_t)found;
}

/* --- by port ------------------------------------------------------------ */

/*
 * Line format, see proc(5): sl local_address rem_address st tx:rx tr:tm
 * retrnsmt uid timeout inode; addresses and states are hexadecimal, 0A is
 * LISTEN.
 */
static void
read_listeners(const char *path, int port, struct wanted *s)
{
	FILE *f = fopen(path, "re");
	unsigned at, state, uid;
	unsigned long inode;
	char *line = NULL;
	size_t cap = 0;

	while (f && getline(&line, &cap, f) > 0) {
		if (sscanf(line,
			" %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x "
			"%*x:%*x %*x:%*x %*x %u %*d %lu",
			&at, &state, &uid, &inode) != 4 ||
		    state != 0x0A || at != (unsigned)port || !inode)
			continue;
		*MEM_ADD(s->inode, s->n, s->cap) = inode;
		s->uid = uid;
	}
	free(line);
	if (f)
		fclose(f);
}

static bool
is_listener(const struct wanted *s, const char *link)
{
	unsigned long inode;

	if (!link || sscanf(link, "socket:[%lu]", &inode) != 1)
		return false;
	for (size_t i = 0; i < s->n; i++)
		if (s->inode[i] == inode)
			return true;
	return false;
}

static bool
is_listening(struct wanted *w, pid_t pid)
{
	struct dirent *e;
	char path[300], *to;
	bool has = false;
	DIR *d;

	snprintf(path, sizeof path, "/proc/%ld/fd", (long)pid);
	d = opendir(path);
	if (!d) {
		w->hidden |= errno == EACCES;
		return false;
	}
	while (!has && (e = readdir(d))) {
		snprintf(path, sizeof path, "fd/%s", e->d_name);
		to = read_process_link(pid, path);
		has = is_listener(w, to);
		free(to);
	}
	closedir(d);
	return has;
}

/* Returns the only process that listens on the TCP port, or -1 after reporting
 * an error. */
static pid_t
find_process_by_port(int port)
{
	struct wanted w = {.what = mem_printf("listen on port %d", port)};
	pid_t pid;

	read_listeners("/proc/net/tcp", port, &w);
	read_listeners("/proc/net/tcp6", port, &w);
	pid = find_only(&w, is_listening, "");
	if (!pid && !w.n)
		pid = err_fail("no process listens on TCP port %d", port);
	else if (!pid)
		pid = err_fail("port %d belongs to a process of user %u%s",
		    port, w.uid,
		    w.hidden ? "; run vkb-profile as that user, or use --pid"
			     : " in another container");
	free(w.inode);
	return pid;
}

/* --- by name ------------------------------------------------------------ */

/* Compares argv[0] and the program too: comm has only 15 bytes, and the process
 * can change it. */
static bool
is_called(struct wanted *w, pid_t pid)
{
	char *comm = read_process_file(pid, "comm", NULL),
	     *exe = read_process_link(pid, "exe");
	char *argv0 = read_process_file(pid, "cmdline", NULL);
	bool is = (comm && strcmp(comm, w->name) == 0) ||
	    (argv0 && strcmp(basename(argv0), w->name) == 0) ||
	    (exe && strcmp(basename(exe), w->name) == 0);

	free(comm);
	free(argv0);
	free(exe);
	return is && pid != getpid();
}

/* Returns the only process with this comm, program or argv[0], or -1 after
 * reporting an error. */
static pid_t
find_process_by_name(const char *name)
{
	struct wanted w = {
	    .name = name, .what = mem_printf("are called '%s'", name)};
	pid_t pid = find_only(&w, is_called, " or --port");

	return pid ? pid : err_fail("no process is called '%s'", name);
}

/*
 * Counts calls of a program's functions in one process, by uprobes. The kernel
 * removes them when this program ends, even by a crash.
 */

/* Most functions; the kernel needs 0.1 s per function and thread to stop. */
enum { CALLS_MOST = 200 };

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

static void
close_calls(struct calls *c)
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

/*
 * Opens counters, disabled, for the functions of the program at 'path' that
 * match a shell pattern, in the threads that the process has now; later threads
 * and children are not counted. 'path' is borrowed until close_calls. Returns
 * NULL after reporting an error.
 */
static struct calls *
open_calls(pid_t pid, const char *path, const char *const *patterns, size_t n)
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
	close_calls(c);
	return NULL;
}

/* Starts or stops counting. Returns 0, or -1 after reporting an error. */
static int
control_calls(struct calls *c, bool on)
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

/* Returns an object of FUNCTION: count, most called first, or NULL after
 * reporting an error. Caller frees with json_free. */
static struct json *
read_calls(const struct calls *c)
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

/*
 * A child process that executes its command only when it is released, so that
 * a profile covers the command from its first instruction.
 */

struct held {
	struct proc *proc;
	int gate; /* a byte releases the command; -1: closed */
};

/* NULL: error reported. */
static struct held *
held_start(char *const *argv)
{
	struct held *h = mem_new(sizeof *h);
	struct proc_spec spec = {
	    .argv = (const char *const *)argv, .death_signal = SIGTERM};

	if (pipe2(spec.gate, O_CLOEXEC) < 0) {
		err_fail_sys("cannot start '%s'", argv[0]);
		free(h);
		return NULL;
	}
	h->proc = proc_start(&spec);
	h->gate = spec.gate[1];
	close(spec.gate[0]);
	if (h->proc)
		return h;
	close(h->gate);
	free(h);
	return NULL;
}

static void
close_gate(struct held *h)
{
	if (h->gate >= 0)
		close(h->gate);
	h->gate = -1;
}

/* Sends SIGTERM if it runs; NULL is allowed. */
static void
held_free(struct held *h)
{
	if (!h)
		return;
	close_gate(h);
	proc_signal(h->proc, SIGTERM);
	proc_wait(h->proc, -1, NULL);
	proc_free(h->proc);
	free(h);
}

static void
held_release(struct held *h)
{
	if (h->gate >= 0 && write(h->gate, "", 1) != 1)
		err_say("cannot start the command: %s", strerror(errno));
	close_gate(h);
}

/*
 * Waits for the end of the command. Returns its status; 128 + its signal; 126
 * or 127, reported, if it could not be run; 125 if it was never released.
 */
static int
held_wait(struct held *h)
{
	int status;

	close_gate(h);
	proc_wait(h->proc, -1, &status);
	return proc_exit_status(status);
}

/* Starts and stops sampler, counters and calls together. */
struct watch {
	pid_t pid;
	struct held *held; /* the command; NULL: the process runs already */
	struct halt *halt;
	double delay, duration; /* s; duration 0: until the process ends */
	struct perf *sampler, *counters; /* each can be NULL */
	struct calls *calls;             /* or NULL */
	struct client *server;           /* whose requests to count, or NULL */
	double requests;                 /* counted; NAN: unknown */
	bool announce;                   /* report when all have started */
};

enum { ANSWER_MS = 2000 };

/* Returns the commands that the server has handled, without this one; NAN if
 * unknown. */
static double
count_requests(struct client *c)
{
	struct reply *r = CLIENT_CALL(c, ANSWER_MS, "INFO", "stats");
	double v = r ? reply_info_number(r, "total_commands_processed") : NAN;

	reply_free(r);
	return v;
}

/* Connects to the local server whose requests are counted. Returns NULL, and
 * reports nothing, if none answers on the port without a password and TLS. Free
 * with client_close. */
static struct client *
watch_open_server(int port)
{
	struct client_address a = {.host = "127.0.0.1", .port = port};
	struct client *c = client_open(&a, ANSWER_MS);

	if (!c || !isnan(count_requests(c)))
		return c;
	client_close(c);
	return NULL;
}

/*
 * Waits until the deadline (ns, or 0), the end of the process, or a signal.
 * Returns whether the deadline has come.
 */
static bool
wait_until(struct watch *w, int process, int64_t deadline)
{
	struct pollfd fd[4] = {{.fd = process, .events = POLLIN},
	    {.fd = halt_fd(w->halt), .events = POLLIN},
	    {.fd = w->sampler ? perf_fd(w->sampler) : -1, .events = POLLIN},
	    {.fd = w->counters ? perf_fd(w->counters) : -1, .events = POLLIN}};
	int left = -1;

	for (;;) {
		if (deadline) {
			left = clock_left_ms(deadline);
			if (!left)
				return true;
		}
		if (poll(fd, 4, left) <= 0)
			continue;
		if (halt_reason(w->halt, NULL) || fd[0].revents)
			return false;
		/* perf ends when the last thread has ended. */
		if (fd[2].revents || fd[3].revents)
			return false;
	}
}

static int64_t
make_deadline(double seconds)
{
	return seconds > 0 ? clock_ns() + (int64_t)(seconds * 1e9) : 0;
}

/* Returns 0; 1 if a perf has ended, which perf_end will explain; -1 after
 * reporting an error. */
static int
control_all(struct watch *w, bool on)
{
	int rc = w->sampler ? perf_control(w->sampler, on) : 0;

	if (rc == 0 && w->counters)
		rc = perf_control(w->counters, on);
	if (rc == 0 && w->calls)
		rc = control_calls(w->calls, on);
	return rc;
}

static double
watch_process(struct watch *w, int process)
{
	double s, handled = NAN;
	int64_t from;

	if (w->delay > 0) {
		if (w->held)
			held_release(w->held);
		if (!wait_until(w, process, make_deadline(w->delay)))
			return err_fail("nothing was profiled: %s before the "
					"delay was over",
			    halt_reason(w->halt, NULL) ? "stopped"
						       : "the process ended");
	}
	if (control_all(w, true) != 0)
		return -1;
	if (w->server)
		handled = count_requests(w->server);
	if (w->announce)
		err_say("watching process %ld", (long)w->pid);
	from = clock_ns();
	if (w->held)
		held_release(w->held);
	wait_until(w, process, make_deadline(w->duration));
	s = (double)(clock_ns() - from) / 1e9;
	/* The second INFO counts the first one too. */
	w->requests = w->server ? count_requests(w->server) - handled - 1 : NAN;
	if (control_all(w, false) < 0)
		return -1;
	return s;
}

/*
 * Returns the time watched in seconds, or -1 after reporting an error. The end
 * of the process and Ctrl-C end it early.
 */
static double
watch_run(struct watch *w)
{
	int fd = w->held ? proc_fd(w->held->proc)
			 : (int)syscall(SYS_pidfd_open, w->pid, 0);
	double s;

	if (fd < 0)
		return err_fail_sys("cannot profile process %ld", (long)w->pid);
	s = watch_process(w, fd);
	if (!w->held)
		close(fd);
	/* End both in any case, so that they write their data. */
	if (w->sampler && perf_end(w->sampler) < 0)
		s = -1;
	if (w->counters && perf_end(w->counters) < 0)
		s = -1;
	return s < 0 ? err_fail("cannot profile process %ld", (long)w->pid) : s;
}

struct opts {
	const char *dir, *name, *mode, *graph, *stat, *title, *archive, *open;
	struct opt_list as_runs;
	long long pid, port, freq;
	double delay, duration;
	struct opt_list calls;
	bool quiet;
};

#define AT(field) offsetof(struct opts, field)

static const struct opt table[] = {
    {'q', "quiet", OPT_FLAG, AT(quiet), .help = "print only errors"},
    {'o', "output", OPT_STR, AT(dir), "DIR",
	.help = "write the files of the profile into DIR"},
    {'p', "pid", OPT_INT, AT(pid), "PID", .min = 1, .max = 1 << 22,
	.help = "profile process PID"},
    {0, "port", OPT_INT, AT(port), "PORT", .min = 1, .max = 65535,
	.help = "profile the process that listens on TCP PORT"},
    {0, "name", OPT_STR, AT(name), "NAME",
	.help = "profile the only process with this name"},
    {'m', "mode", OPT_CHOICE, AT(mode), "MODE", .choices = "cpu|wall|offcpu",
	.help = "sample where it runs (cpu), waits (offcpu), or both (wall)"},
    {0, "freq", OPT_INT, AT(freq), "HZ", .min = 1, .max = 100000,
	.help = "samples per second and CPU (999)"},
    {0, "call-graph", OPT_CHOICE, AT(graph), "HOW", .choices = "auto|fp|dwarf",
	.help = "how to unwind stacks (auto)"},
    {0, "delay", OPT_DURATION, AT(delay), "TIME", .min = 0, .max = 864000,
	.help = "wait before profiling"},
    {'d', "duration", OPT_DURATION, AT(duration), "TIME", .min = 0.01,
	.max = 864000,
	.help = "profile for TIME (10s; a COMMAND: until it ends)"},
    {0, "stat", OPT_STR, AT(stat), "LIST",
	.help = "count ipc, stalls, cache, tlb, branch, topdown, software, "
		"all, or events of perf"},
    {0, "calls", OPT_LIST, AT(calls), "PATTERN",
	.help = "count calls of functions that match PATTERN"},
    {0, "archive", OPT_STR, AT(archive), "FILE",
	.help = "pack the profile and its binaries for another machine"},
    {0, "open", OPT_STR, AT(open), "FILE",
	.help = "unpack an archive into DIR and render its stacks"},
    {0, "as-runs", OPT_LIST, AT(as_runs), "FILE",
	.help = "print the counts of profile records as run records"},
    {0, "title", OPT_STR, AT(title), "TEXT",
	.help = "title of the flame graph"},
    {0}};

static const struct opt_prog prog = {.name = "vkb-profile",
    .operands = "[-- COMMAND ...]",
    .purpose = "Profile where a process spends its time, and count events.",
    .table = table};

struct work {
	const struct opts *o;
	struct access access;
	struct sampler sampler;
	struct watch watch;
	struct json *rec, *artifacts;
	char *program; /* path; its calls are counted; NULL without --calls */
	char *copies;  /* folder for copies of the binaries, or NULL */
	int failure_status; /* exit status on an error */
};

/* --- options ------------------------------------------------------------ */

/* With an option that profiles nothing: refuses operands, and options other
 * than those of the list. */
static int
check_others(const struct opt_args *a, const char *with, const char *list)
{
	if (a->n || a->rest)
		return err_fail("'%s' takes no operands", with);
	for (size_t i = 0; table[i].name; i++)
		if (a->given[i] && !str_has_part(list, table[i].name, '|'))
			return err_fail("option '--%s' cannot be combined with "
					"'%s', which profiles nothing",
			    table[i].name, with);
	return 0;
}

static int
check_options(const struct opts *o, const struct opt_args *a)
{
	/* With --pid, --port is the port of the server to ask. */
	int ways = (o->pid || o->port) + (o->name != NULL);

	if (a->n)
		return opt_usage(&prog, "write the COMMAND after '--'");
	if (ways + (a->nrest > 0) + (o->open != NULL) != 1)
		return opt_usage(&prog,
		    "give one of --pid, --port, --name, --open or a COMMAND");
	if (!o->dir)
		return opt_usage(&prog, "option -o DIR is required");
	if (o->open)
		return check_others(a, "--open", "open|output|title|quiet");
	return o->stat ? counters_check(o->stat) : 0;
}

static bool
wants_samples(const struct opts *o)
{
	return o->mode || (!o->stat && !o->calls.n);
}

static int
find_target(struct work *w, char **command)
{
	const struct opts *o = w->o;
	struct watch *t = &w->watch;

	if (command) {
		t->held = held_start(command);
		t->pid = t->held ? proc_pid(t->held->proc) : -1;
	} else if (o->pid)
		t->pid = (pid_t)o->pid;
	else if (o->port)
		t->pid = find_process_by_port((int)o->port);
	else
		t->pid = find_process_by_name(o->name);
	return t->pid > 0 ? check_process(t->pid) : -1;
}

/* --- start -------------------------------------------------------------- */

/* Makes the folder. Returns 0, or -1 after reporting that it cannot be made or
 * holds another profile. */
static int
claim_folder(const char *dir)
{
	static const char *const files[] = {
	    "profile.json", "perf.data", "stacks.folded", "debug", NULL};

	if (folder_make(dir) < 0)
		return -1;
	for (size_t i = 0; files[i]; i++) {
		char *path = mem_printf("%s/%s", dir, files[i]);
		bool there = access(path, F_OK) == 0;

		free(path);
		if (there)
			return err_fail(
			    "folder '%s' already holds a profile; choose "
			    "another one with -o",
			    dir);
	}
	return 0;
}

/* Returns the absolute path in 'dir' for perf's copies of the binaries. Caller
 * frees. */
static char *
name_copies(const char *dir)
{
	char *whole = realpath(dir, NULL);
	char *path = mem_printf("%s/debug", whole ? whole : dir);

	free(whole);
	return path;
}

static void
describe_target(struct work *w, char **command)
{
	struct json *target = describe_process(w->watch.pid);

	if (command) { /* the process has not executed it yet */
		json_del(target, "comm");
		json_del(target, "exe");
		if (str_utf8(command[0], strlen(command[0])))
			json_set_str(target, "command", command[0]);
	}
	if (w->o->port)
		json_set_num(target, "port", (double)w->o->port);
	json_set(w->rec, "target", target);
}

static int
check_access(struct work *w)
{
	struct json *probed = access_describe(&w->access);
	enum access_level level = access_decide(&w->access);
	const struct opts *o = w->o;
	char *perf = proc_find("perf", getenv("PATH")), *why = NULL;
	char *version = perf ? perf_version() : NULL;

	free(perf);
	json_set(w->rec, "probed", probed);
	if (!version)
		return err_fail("cannot run perf: install it with 'vkb-needs "
				"--yes test' or the package linux-perf");
	json_set_str(probed, "perf", version);
	free(version);
	w->sampler.mode = sampler_find_mode(o->mode ? o->mode : "cpu");
	if (level == ACCESS_NONE ||
	    (level == ACCESS_USER && wants_samples(o) &&
		w->sampler.mode != SAMPLER_CPU)) {
		why = access_explain_refusal(&w->access);
		err_say(
		    "cannot profile process %ld: %s", (long)w->watch.pid, why);
		free(why);
		return -1;
	}
	w->sampler.user_only = level == ACCESS_USER;
	w->sampler.large = w->access.perfmon;
	return 0;
}

static void
choose_call_graph(struct work *w, char **command, struct json *sampling)
{
	const struct opts *o = w->o;
	char *exe = command ? NULL : find_exe(w->watch.pid);
	struct elffile_frames f = {.call_graph = o->graph};

	if (command)
		exe = proc_find(command[0], getenv("PATH"));
	if (strcmp(o->graph, "auto") == 0)
		f = elffile_choose_frames(exe);
	free(exe);
	w->sampler.call_graph =
	    strcmp(f.call_graph, "fp") == 0 ? "fp" : "dwarf";
	json_set_num(sampling, "freq_hz", (double)o->freq);
	json_set_str(sampling, "call_graph", w->sampler.call_graph);
	if (*f.why)
		json_set_str(sampling, "call_graph_why", f.why);
	json_set_bool(sampling, "kernel", !w->sampler.user_only);
}

static int
start_calls(struct work *w, char **command)
{
	const struct opt_list *l = &w->o->calls;

	/* This path works in any mount namespace, and if the file is gone. */
	w->program = command ? proc_find(command[0], getenv("PATH"))
			     : mem_printf("/proc/%ld/exe", (long)w->watch.pid);
	if (!w->program)
		return err_fail("cannot find program '%s'", command[0]);
	w->watch.calls = open_calls(w->watch.pid, w->program, l->v, l->n);
	return w->watch.calls ? 0 : -1;
}

static int
start_measuring(struct work *w, char **command)
{
	const struct opts *o = w->o;
	const char *hidden = access_explain_hidden(&w->access);
	struct json *sampling;

	if (wants_samples(o)) {
		sampling = json_object();
		json_set_str(
		    w->rec, "mode", sampler_mode_name(w->sampler.mode));
		json_set(w->rec, "sampling", sampling);
		choose_call_graph(w, command, sampling);
		w->sampler.copies = w->copies;
		if (hidden && !w->sampler.user_only && !o->quiet)
			err_say("%s", hidden);
		if (w->sampler.user_only && !o->quiet)
			err_say("kernel functions are left out; 'sudo sysctl "
				"kernel.perf_event_paranoid=1' shows them");
		w->watch.sampler = sampler_start(&w->sampler, w->watch.pid);
		if (!w->watch.sampler)
			return -1;
	}
	if (o->calls.n && start_calls(w, command) < 0)
		return -1;
	if (!o->stat && !o->calls.n)
		return 0;
	if (o->port)
		w->watch.server = watch_open_server((int)o->port);
	if (!o->stat)
		return 0;
	w->watch.counters =
	    counters_start(o->stat, w->sampler.user_only, w->watch.pid);
	return w->watch.counters ? 0 : -1;
}

/* --- the end ------------------------------------------------------------ */

static void
add_counters(struct json *rec, struct perf *counters, double n)
{
	double shared;
	struct json *c = counters_parse(perf_text(counters), &shared);

	json_set(rec, "counters", c);
	if (shared < 1)
		json_set_num(rec, "counted_percent", 100 * shared);
	json_set(rec, "derived", counters_derive(c));
	if (n > 0)
		json_set(
		    rec, "per_req", counters_per_request(c, n, "_per_req"));
}

/* Adds the counters and calls of a finished watch, and their values per request
 * if these are known. Returns 0, or -1 after reporting an error. */
static int
add_counts(struct json *rec, const struct watch *w)
{
	double n = w->requests;
	struct json *calls;

	if (n > 0)
		json_set_num(rec, "requests", n);
	if (w->counters)
		add_counters(rec, w->counters, n);
	if (!w->calls)
		return 0;
	calls = read_calls(w->calls);
	if (!calls)
		return -1;
	json_set(rec, "calls", calls);
	if (n > 0)
		json_set(
		    rec, "calls_per_req", counters_per_request(calls, n, ""));
	return 0;
}

static char *
make_title(const struct work *w)
{
	const struct json *t = json_get(w->rec, "target");
	const char *who = json_get_str(t, "comm");

	if (w->o->title)
		return mem_str(w->o->title);
	if (!who)
		who = json_get_str(t, "command");
	return mem_printf("%s: %s, %.3g s", who ? who : "?",
	    sampler_mode_name(w->sampler.mode),
	    json_get_num(w->rec, "duration_s", 0));
}

static int
read_samples(struct work *w)
{
	char *title = make_title(w);
	int rc = sampler_read(&w->sampler, title, w->watch.halt,
	    json_get(w->rec, "sampling"), w->artifacts);

	free(title);
	return rc;
}

/* Packs the profile, then removes the copies: the originals are here. */
static int
pack_archive(struct work *w)
{
	const char *file = w->o->archive;
	int rc = tarball_pack(file, "profile", w->o->dir);

	if (folder_remove(w->copies) < 0 && rc == 0)
		rc = err_fail_sys("cannot remove '%s'", w->copies);
	json_set_str(w->artifacts, "archive", file);
	return rc;
}

static int
write_results(struct work *w, bool print)
{
	char *file;
	int rc;

	json_set(w->rec, "artifacts", json_dup(w->artifacts));
	json_set_str(w->rec, "status", "ok");
	file = mem_printf("%s/profile.json", w->o->dir);
	rc = jsonfile_write(file, w->rec);
	free(file);
	if (rc < 0)
		return -1;
	if (w->o->archive && pack_archive(w) < 0)
		return -1;
	json_set(w->rec, "artifacts", json_dup(w->artifacts));
	return print ? jsonl_write(STDOUT_FILENO, w->rec) : 0;
}

static int
watch_target(struct work *w, char **command)
{
	char now[CLOCK_ISO];
	double s;

	if (claim_folder(w->o->dir) < 0 || find_target(w, command) < 0)
		return -1;
	if (w->o->archive)
		w->copies = name_copies(w->o->dir);
	access_read(&w->access, command ? 0 : w->watch.pid);
	describe_target(w, command);
	if (check_access(w) < 0 || start_measuring(w, command) < 0)
		return -1;
	json_set_str(w->rec, "started", clock_iso(now));
	s = watch_run(&w->watch);
	if (s < 0)
		return -1;
	json_set_num(w->rec, "duration_s", s);
	if (w->o->delay > 0)
		json_set_num(w->rec, "delay_s", w->o->delay);
	if (add_counts(w->rec, &w->watch) < 0)
		return -1;
	if (w->watch.sampler && read_samples(w) < 0)
		return -1;
	return write_results(w, !command); /* stdout belongs to the command */
}

/* Returns 0, or -1 after reporting why its stacks cannot be rendered. */
static int
check_profile(const struct json *rec, const char *file)
{
	if (!record_is(rec, "profile"))
		return err_fail("%s: not a 'profile' record", file);
	if (json_get(rec, "mode") &&
	    !json_str(json_path(rec, "sampling.call_graph")))
		return err_fail("%s: 'mode' needs 'sampling.call_graph'", file);
	return 0;
}

/* Unpacks the archive of --open and renders its stacks again. */
static int
read_archive(struct work *w)
{
	char *file = mem_printf("%s/profile.json", w->o->dir);
	const char *mode;
	struct json *rec = NULL;
	int rc = -1;

	if (tarball_unpack(w->o->open, w->o->dir) < 0)
		goto out;
	rec = jsonfile_read(file);
	if (!rec || record_check(rec, file) || check_profile(rec, file)) {
		tarball_remove(w->o->dir);
		goto out;
	}
	json_free(w->rec);
	w->rec = rec;
	rec = NULL;
	mode = json_get_str(w->rec, "mode");
	rc = 0;
	if (mode) {
		w->copies = name_copies(w->o->dir);
		w->sampler.copies = w->copies;
		w->sampler.mode = sampler_find_mode(mode);
		w->sampler.call_graph =
		    json_str(json_path(w->rec, "sampling.call_graph"));
		rc = read_samples(w);
	}
	if (rc == 0)
		rc = write_results(w, true);
out:
	json_free(rec);
	free(file);
	return rc;
}

/*
 * Waits for the command, also if profiling it failed, and frees all. Returns
 * the exit status.
 */
static int
close_profile(struct work *w, int rc)
{
	int reason = halt_reason(w->watch.halt, NULL),
	    status = rc < 0 ? w->failure_status : 0;

	if (w->watch.held) {
		if (reason > 0)
			proc_signal(w->watch.held->proc, reason);
		status = held_wait(w->watch.held);
		if (rc < 0 && status != 126 && status != 127)
			status = w->failure_status;
	}
	perf_free(w->watch.sampler);
	perf_free(w->watch.counters);
	close_calls(w->watch.calls);
	free(w->program);
	if (rc < 0 && w->o->archive && w->copies)
		folder_remove(w->copies);
	held_free(w->watch.held);
	client_close(w->watch.server);
	json_free(w->rec);
	json_free(w->artifacts);
	free(w->copies);
	halt_close(w->watch.halt);
	/* Ctrl-C ends the profile and is not an error. */
	if (reason > 0 && reason != SIGINT)
		halt_raise(reason);
	return status;
}

static int
make_profile(const struct opts *o, char **command)
{
	struct work w = {.o = o,
	    .sampler = {.freq = o->freq, .dir = o->dir},
	    .watch = {.delay = o->delay,
		.duration = o->duration,
		.announce = !o->quiet && isatty(STDERR_FILENO)},
	    .rec = record_new("profile"),
	    .artifacts = json_object(),
	    .failure_status = command ? 125 : 2};
	int rc = -1;

	if (!command && !o->duration)
		w.watch.duration = 10;
	w.watch.halt = halt_open(false);
	if (w.watch.halt)
		rc = o->open ? read_archive(&w) : watch_target(&w, command);
	return close_profile(&w, rc);
}

/* --- --as-runs ---------------------------------------------------------- */

static void
add_metrics(struct json *metrics, const struct json *rec, const char *section)
{
	for (const struct json *j = json_first(json_get(rec, section)); j;
	     j = json_next(j))
		json_set(metrics, json_key(j), json_dup(j));
}

/* Makes a 'run' record; returns NULL if the profile has no such metrics. */
static struct json *
make_run(const struct json *rec)
{
	static const char *const sections[] = {"subject", "config", "run"};
	struct json *run = record_new("run"), *metrics = json_object();
	const struct json *section;

	for (size_t i = 0; i < 3; i++) {
		section = json_get(rec, sections[i]);
		json_set(run, sections[i],
		    section ? json_dup(section) : json_object());
	}
	add_metrics(metrics, rec, "per_req");
	add_metrics(metrics, rec, "derived");
	json_set(run, "metrics", metrics);
	json_set_str(run, "status", "ok");
	if (json_first(metrics))
		return run;
	json_free(run);
	return NULL;
}

/* Prints a 'run' record for each 'profile' record that has counts per request.
 * Returns 0, or -1 after reporting each line that could not be read. */
static int
print_runs(const char *const *files, size_t n)
{
	struct jsonl *in = jsonl_open(files, n);
	struct json *rec, *run;
	int rc = in ? 0 : -1, k;

	while (in && (k = record_next(in, &rec)) != 0) {
		if (k < 0) {
			rc = -1;
			continue;
		}
		run = record_is(rec, "profile") ? make_run(rec) : NULL;
		if (run && jsonl_write(STDOUT_FILENO, run) < 0) {
			k = -1;
			rc = -1;
		}
		json_free(run);
		json_free(rec);
		if (k < 0)
			break;
	}
	if (rc == 0)
		rc = jsonl_check_some(in);
	jsonl_close(in);
	return rc;
}

static int
run_profile(void *opts, struct opt_args *a)
{
	const struct opts *o = opts;

	if (o->as_runs.n)
		return check_others(a, "--as-runs", "as-runs|quiet") < 0
		    ? -1
		    : print_runs(o->as_runs.v, o->as_runs.n);
	if (check_options(o, a) < 0)
		return -1;
	return make_profile(o, a->nrest ? a->rest : NULL);
}

int
main(int argc, char **argv)
{
	struct opts o = {.freq = 999, .graph = "auto"};

	return opt_main(&prog, argc, argv, &o, run_profile);
}
