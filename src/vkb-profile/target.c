#include "target.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

char *
target_find_exe(pid_t pid)
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

int
target_check(pid_t pid)
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

struct json *
target_describe(pid_t pid)
{
	struct json *j = json_object();
	char *comm = read_process_file(pid, "comm", NULL),
	     *exe = target_find_exe(pid);

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

pid_t
target_by_port(int port)
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

pid_t
target_by_name(const char *name)
{
	struct wanted w = {
	    .name = name, .what = mem_printf("are called '%s'", name)};
	pid_t pid = find_only(&w, is_called, " or --port");

	return pid ? pid : err_fail("no process is called '%s'", name);
}
