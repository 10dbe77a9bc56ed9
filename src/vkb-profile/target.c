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
add(struct pids *p, pid_t pid)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i] == pid)
			return;
	p->v = mem_grow(p->v, p->n, &p->cap, sizeof *p->v);
	p->v[p->n++] = pid;
}

/* All of a small file; NULL with errno. */
static char *
contents(const char *path, size_t *len)
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
of_process(pid_t pid, const char *file, size_t *len)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, file);
	return contents(path, len);
}

static char *
link_of(const char *path)
{
	char to[PATH_MAX];
	ssize_t n = readlink(path, to, sizeof to - 1);

	return n < 0 ? NULL : mem_strn(to, (size_t)n);
}

static char *
comm_of(pid_t pid)
{
	char *s = of_process(pid, "comm", NULL);

	if (s)
		s[strcspn(s, "\n")] = '\0';
	return s;
}

/* Its command line, with blanks between the words; a kernel thread has none. */
static char *
line_of(pid_t pid)
{
	size_t n = 0;
	char *s = of_process(pid, "cmdline", &n);

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
	s = link_of(path);
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
	stat = of_process(pid, "stat", NULL);
	end = stat ? strrchr(stat, ')') : NULL;
	dead = !end || end[1] != ' ' || strchr("ZX", end[2]) != NULL;
	free(stat);
	return dead ? err_fail("process %ld has ended", (long)pid) : 0;
}

struct json *
target_describe(pid_t pid)
{
	struct json *j = json_object();
	char *comm = comm_of(pid), *exe = target_exe(pid);

	json_set_num(j, "pid", (double)pid);
	if (comm && str_utf8(comm, strlen(comm)))
		json_set_str(j, "comm", comm);
	if (exe && str_utf8(exe, strlen(exe)))
		json_set_str(j, "exe", exe);
	free(comm);
	free(exe);
	return j;
}

/* Each process there is. */
static int
each(void (*see)(pid_t, void *), void *arg)
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

/* The one that was found, or -1: "WHAT 'x' ...", and each of several. */
static pid_t
only(struct pids *p, const char *what, const char *option)
{
	struct str s = {0};
	pid_t pid = -1;
	char *line;

	if (p->n == 1)
		pid = p->v[0];
	else if (p->n > 1) {
		str_printf(&s, "%zu processes %s, choose one by --pid%s:", p->n,
		    what, option);
		for (size_t i = 0; i < p->n; i++) {
			line = line_of(p->v[i]);
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
	unsigned uid; /* of the last one */
	struct pids found;
	bool hidden; /* the files of some process could not be seen */
};

/*
 * proc(5): sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout
 * inode; numbers of addresses and states are hexadecimal, 0A is LISTEN.
 */
static void
listeners(const char *path, int port, struct sockets *s)
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
is_one(const struct sockets *s, const char *link)
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
see_files(pid_t pid, void *arg)
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
		to = link_of(path);
		has = is_one(s, to);
		free(to);
	}
	closedir(d);
	if (has)
		add(&s->found, pid);
}

pid_t
target_by_port(int port)
{
	struct sockets s = {0};
	char *what = mem_printf("listen on port %d", port);
	pid_t pid = -1;

	listeners("/proc/net/tcp", port, &s);
	listeners("/proc/net/tcp6", port, &s);
	if (!s.n)
		err_say("nothing listens on TCP port %d here", port);
	else if (each(see_files, &s) == 0) {
		if (!s.found.n)
			err_say("port %d is that of a process of user %u%s",
			    port, s.uid,
			    s.hidden ? ", whose files you may not see: run "
				       "this as that user, or name it by --pid"
				     : ", which is in another container");
		pid = only(&s.found, what, "");
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
last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A kernel keeps 15 bytes of a command name; threads may change it. */
static void
see_name(pid_t pid, void *arg)
{
	struct wanted *w = arg;
	char *comm = comm_of(pid), *argv0 = of_process(pid, "cmdline", NULL);
	char *exe, path[64];
	bool is;

	snprintf(path, sizeof path, "/proc/%ld/exe", (long)pid);
	exe = link_of(path);
	is = (comm && strcmp(comm, w->name) == 0) ||
	    (argv0 && strcmp(last_part(argv0), w->name) == 0) ||
	    (exe && strcmp(last_part(exe), w->name) == 0);
	if (is && pid != getpid())
		add(&w->found, pid);
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

	if (each(see_name, &w) == 0) {
		if (!w.found.n)
			err_say("no process is called '%s'", name);
		pid = only(&w.found, what, " or --port");
		w.found.v = NULL;
	}
	free(w.found.v);
	free(what);
	return pid;
}
