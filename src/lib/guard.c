#include "guard.h"
#include "err.h"
#include "folder.h"
#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct guard {
	int fd;
	pid_t pid;
};

struct ward {
	pid_t group;
	int fd; /* pidfd of its leader */
};

struct wards {
	struct ward *v;
	size_t n, cap;
	char *folder;
	int dismissed;
};

static void
drop(struct wards *w, pid_t group)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].group == group) {
			close(w->v[i].fd);
			w->v[i] = w->v[--w->n];
			return;
		}
}

static void
obey(struct wards *w, char *line)
{
	pid_t group = (pid_t)atol(line + 1);

	switch (line[0]) {
	case 'A':
		w->v = mem_grow(w->v, w->n, &w->cap, sizeof *w->v);
		w->v[w->n].group = group;
		w->v[w->n++].fd = (int)syscall(SYS_pidfd_open, group, 0);
		break;
	case 'D':
		drop(w, group);
		break;
	case 'F':
		free(w->folder);
		w->folder = mem_str(line + 1);
		break;
	case 'Q':
		w->dismissed = 1;
		break;
	}
}

static void
avenge(struct wards *w)
{
	struct pollfd fd = {.events = POLLIN};

	for (size_t i = 0; i < w->n; i++)
		kill(-w->v[i].group, SIGKILL);
	for (size_t i = 0; i < w->n; i++) {
		fd.fd = w->v[i].fd;
		if (fd.fd >= 0)
			poll(&fd, 1, 5000);
		kill(-w->v[i].group, SIGKILL); /* what was forked meanwhile */
	}
	for (int i = 0; w->folder && i < 100; i++) {
		if (folder_remove(w->folder) == 0)
			break;
		poll(NULL, 0, 10);
	}
}

static void
stand_guard(int fd)
{
	struct wards w = {0};
	char buf[8192];
	size_t n = 0;
	ssize_t k;
	char *end;

	while ((k = recv(fd, buf + n, sizeof buf - n, 0)) != 0) {
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			break;
		n += (size_t)k;
		while ((end = memchr(buf, '\n', n))) {
			*end++ = '\0';
			obey(&w, buf);
			n -= (size_t)(end - buf);
			memmove(buf, end, n);
		}
	}
	if (!w.dismissed)
		avenge(&w);
	_exit(0);
}

/* Holds nothing of the caller: neither its pipes nor its folder. */
static void
detach(int fd)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	int null;

	for (int sig = 1; sig < NSIG; sig++)
		if (sig != SIGKILL && sig != SIGSTOP && sig != SIGCHLD)
			sigaction(sig, &ignore, NULL);
	setsid();
	prctl(PR_SET_NAME, "vkb-guard");
	if (dup2(fd, 3) < 0)
		_exit(2);
	null = open("/dev/null", O_RDWR);
	for (int i = 0; i < 3; i++)
		dup2(null, i);
	if (syscall(SYS_close_range, 4, ~0U, 0) < 0)
		for (int i = 4; i < sysconf(_SC_OPEN_MAX); i++)
			close(i);
	if (chdir("/") < 0)
		_exit(2);
}

struct guard *
guard_start(void)
{
	struct guard *g = mem_new(sizeof *g);
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0) {
		err_fail_sys("cannot start the guardian");
		free(g);
		return NULL;
	}
	g->pid = fork();
	if (g->pid == 0) {
		detach(fds[1]);
		stand_guard(3);
	}
	close(fds[1]);
	g->fd = fds[0];
	if (g->pid > 0)
		return g;
	err_fail_sys("cannot start the guardian");
	close(g->fd);
	free(g);
	return NULL;
}

int
guard_folder(struct guard *g, const char *path)
{
	char *text = mem_printf("F%s\n", path);
	size_t n = strlen(text);
	ssize_t sent = send(g->fd, text, n, MSG_NOSIGNAL);

	free(text);
	return sent == (ssize_t)n ? 0
				  : err_fail_sys("cannot reach the guardian");
}

/* Async-signal-safe. */
static int
tell(struct guard *g, char what, pid_t group)
{
	char text[24], *s = text + sizeof text;

	*--s = '\n';
	for (; group > 0; group /= 10)
		*--s = (char)('0' + group % 10);
	*--s = what;
	return send(g->fd, s, (size_t)(text + sizeof text - s), MSG_NOSIGNAL) <
		0
	    ? -1
	    : 0;
}

int
guard_add(struct guard *g, pid_t group)
{
	return tell(g, 'A', group);
}

int
guard_drop(struct guard *g, pid_t group)
{
	return tell(g, 'D', group);
}

void
guard_dismiss(struct guard *g)
{
	if (!g)
		return;
	send(g->fd, "Q\n", 2, MSG_NOSIGNAL);
	close(g->fd);
	waitpid(g->pid, NULL, 0);
	free(g);
}
