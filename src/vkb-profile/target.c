#include "target.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "str.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pids {
	pid_t *v;
	size_t n, cap;
};

static void
add_pid(struct pids *p, pid_t pid)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i] == pid)
			return;
	p->v = mem_grow(p->v, p->n, &p->cap, sizeof *p->v);
	p->v[p->n++] = pid;
}

/* Returns the content of a small file, ended by NUL, or NULL with errno set.
 * Caller frees. */
static char *
read_small_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "re");
	struct str s = {0};
	char buf[4096];
	size_t n;

	if (!f)
		return NULL;
	while ((n = fread(buf, 1, sizeof buf, f)) > 0)
		str_addn(&s, buf, n);
	fclose(f);
	if (len)
		*len = s.len;
	return str_take(&s);
}

static char *
read_process_file(pid_t pid, const char *file, size_t *len)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, file);
	return read_small_file(path, len);
}

static char *
read_link(const char *path)
{
	char to[PATH_MAX];
	ssize_t n = readlink(path, to, sizeof to - 1);

	return n < 0 ? NULL : mem_strn(to, (size_t)n);
}

static char *
read_comm(pid_t pid)
{
	char *s = read_process_file(pid, "comm", NULL);

	if (s)
		s[strcspn(s, "\n")] = '\0';
	return s;
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
target_exe(pid_t pid)
{
	char path[64], *s;

	snprintf(path, sizeof path, "/proc/%ld/exe", (long)pid);
	s = read_link(path);
	if (s && access(s, R_OK) < 0) { /* deleted, or in another root */
		free(s);
		s = access(path, R_OK) == 0 ? mem_str(path) : NULL;
	}
	return s;
}

char *
target_in_path(const char *name)
{
	const char *dirs = getenv("PATH");
	char *path;
	size_t n;

	if (strchr(name, '/'))
		return access(name, R_OK) == 0 ? mem_str(name) : NULL;
	for (; dirs && *dirs; dirs += n + (dirs[n] == ':')) {
		n = strcspn(dirs, ":");
		path =
		    mem_printf("%.*s%s/%s", (int)n, dirs, n ? "" : ".", name);
		if (access(path, X_OK) == 0)
			return path;
		free(path);
	}
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
	char *comm = read_comm(pid), *exe = target_exe(pid);

	json_set_num(j, "pid", (double)pid);
	if (comm && str_utf8(comm, strlen(comm)))
		json_set_str(j, "comm", comm);
	if (exe && str_utf8(exe, strlen(exe)))
		json_set_str(j, "exe", exe);
	free(comm);
	free(exe);
	return j;
}

static int
for_each_process(void (*see)(pid_t, void *), void *arg)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	long long pid;

	if (!d)
		return err_fail_sys("cannot read '/proc'");
	while ((e = readdir(d)))
		if (num_int(e->d_name, &pid) == 0 && pid > 0)
			see((pid_t)pid, arg);
	closedir(d);
	return 0;
}

/* Returns the pid if there is one; else -1, after listing them if several.
 * Frees p->v. */
static pid_t
choose_only(struct pids *p, const char *what, const char *option)
{
	struct str s = {0};
	pid_t pid = -1;
	char *line;

	if (p->n == 1)
		pid = p->v[0];
	else if (p->n > 1) {
		str_printf(&s, "%zu processes %s; choose one by --pid%s:", p->n,
		    what, option);
		for (size_t i = 0; i < p->n; i++) {
			line = read_command_line(p->v[i]);
			str_printf(&s, "\n%ld  %s", (long)p->v[i],
			    line ? line : "[no command line]");
			free(line);
		}
		err_say("%s", s.s);
	}
	str_free(&s);
	free(p->v);
	return pid;
}

/* --- by port ------------------------------------------------------------ */

struct sockets {
	unsigned long *inode;
	size_t n, cap;
	unsigned uid; /* owner of the last socket */
	struct pids found;
	bool hidden; /* some process has files that we may not list */
};

/*
 * Line format, see proc(5): sl local_address rem_address st tx:rx tr:tm
 * retrnsmt uid timeout inode; addresses and states are hexadecimal, 0A is
 * LISTEN.
 */
static void
read_listeners(const char *path, int port, struct sockets *s)
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
		s->inode = mem_grow(s->inode, s->n, &s->cap, sizeof *s->inode);
		s->inode[s->n++] = inode;
		s->uid = uid;
	}
	free(line);
	if (f)
		fclose(f);
}

static bool
is_listener(const struct sockets *s, const char *link)
{
	unsigned long inode;

	if (!link || sscanf(link, "socket:[%lu]", &inode) != 1)
		return false;
	for (size_t i = 0; i < s->n; i++)
		if (s->inode[i] == inode)
			return true;
	return false;
}

static void
match_open_files(pid_t pid, void *arg)
{
	struct sockets *s = arg;
	struct dirent *e;
	char path[320], *to;
	bool has = false;
	DIR *d;

	snprintf(path, sizeof path, "/proc/%ld/fd", (long)pid);
	d = opendir(path);
	if (!d) {
		s->hidden |= errno == EACCES;
		return;
	}
	while (!has && (e = readdir(d))) {
		snprintf(
		    path, sizeof path, "/proc/%ld/fd/%s", (long)pid, e->d_name);
		to = read_link(path);
		has = is_listener(s, to);
		free(to);
	}
	closedir(d);
	if (has)
		add_pid(&s->found, pid);
}

pid_t
target_by_port(int port)
{
	struct sockets s = {0};
	char *what = mem_printf("listen on port %d", port);
	pid_t pid = -1;

	read_listeners("/proc/net/tcp", port, &s);
	read_listeners("/proc/net/tcp6", port, &s);
	if (!s.n)
		err_say("no process listens on TCP port %d", port);
	else if (for_each_process(match_open_files, &s) == 0) {
		if (!s.found.n)
			err_say("port %d belongs to a process of user %u%s",
			    port, s.uid,
			    s.hidden ? "; run vkb-profile as that user, or use "
				       "--pid"
				     : " in another container");
		pid = choose_only(&s.found, what, "");
		s.found.v = NULL;
	}
	free(s.found.v);
	free(s.inode);
	free(what);
	return pid;
}

/* --- by name ------------------------------------------------------------ */

struct wanted {
	const char *name;
	struct pids found;
};

static const char *
find_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Compares argv[0] and the program too: comm has only 15 bytes, and the process
 * can change it. */
static void
match_name(pid_t pid, void *arg)
{
	struct wanted *w = arg;
	char *comm = read_comm(pid),
	     *argv0 = read_process_file(pid, "cmdline", NULL);
	char *exe, path[64];
	bool is;

	snprintf(path, sizeof path, "/proc/%ld/exe", (long)pid);
	exe = read_link(path);
	is = (comm && strcmp(comm, w->name) == 0) ||
	    (argv0 && strcmp(find_base_name(argv0), w->name) == 0) ||
	    (exe && strcmp(find_base_name(exe), w->name) == 0);
	if (is && pid != getpid())
		add_pid(&w->found, pid);
	free(comm);
	free(argv0);
	free(exe);
}

pid_t
target_by_name(const char *name)
{
	struct wanted w = {.name = name};
	char *what = mem_printf("are called '%s'", name);
	pid_t pid = -1;

	if (for_each_process(match_name, &w) == 0) {
		if (!w.found.n)
			err_say("no process is called '%s'", name);
		pid = choose_only(&w.found, what, " or --port");
		w.found.v = NULL;
	}
	free(w.found.v);
	free(what);
	return pid;
}
