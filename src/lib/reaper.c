#include "reaper.h"
#include "err.h"
#include "folder.h"
#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * One message is one packet of a SOCK_SEQPACKET socket: whatever a path holds,
 * it cannot pass for another message.
 */
enum order { ADD_GROUP, DROP_GROUP, SET_FOLDER, DISMISS };

struct message {
	enum order order;
	pid_t group;         /* of ADD_GROUP and DROP_GROUP */
	char path[PATH_MAX]; /* of SET_FOLDER, with its NUL */
};

#define MESSAGE_HEAD offsetof(struct message, path)

struct reaper {
	int fd;
	pid_t pid;
};

struct guarded_group {
	pid_t group;
	int fd; /* pidfd of its leader; -1: it has ended */
};

struct guarded {
	struct guarded_group *v;
	size_t n, cap;
	char *folder;
	int dismissed;
};

static void
forget_group(struct guarded *w, pid_t group)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].group == group) {
			close(w->v[i].fd);
			w->v[i] = w->v[--w->n];
			return;
		}
}

static void
handle_message(struct guarded *w, const struct message *m)
{
	switch (m->order) {
	case ADD_GROUP:
		w->v = mem_grow(w->v, w->n, &w->cap, sizeof *w->v);
		w->v[w->n].group = m->group;
		w->v[w->n++].fd = (int)syscall(SYS_pidfd_open, m->group, 0);
		break;
	case DROP_GROUP:
		forget_group(w, m->group);
		break;
	case SET_FOLDER:
		free(w->folder);
		w->folder = mem_str(m->path);
		break;
	case DISMISS:
		w->dismissed = 1;
		break;
	}
}

static void
kill_groups(struct guarded *w)
{
	struct pollfd fd = {.events = POLLIN};

	for (size_t i = 0; i < w->n; i++)
		kill(-w->v[i].group, SIGKILL);
	for (size_t i = 0; i < w->n; i++) {
		fd.fd = w->v[i].fd;
		if (fd.fd >= 0)
			poll(&fd, 1, 5000);
		kill(-w->v[i].group, SIGKILL); /* forked meanwhile */
	}
	for (int i = 0; w->folder && i < 100; i++) {
		if (folder_remove(w->folder) == 0)
			break;
		poll(NULL, 0, 10);
	}
}

static void
run_reaper(int fd)
{
	struct guarded w = {0};
	struct message m;
	ssize_t n;

	while ((n = recv(fd, &m, sizeof m, 0)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < (ssize_t)MESSAGE_HEAD)
			break;
		handle_message(&w, &m);
	}
	if (!w.dismissed)
		kill_groups(&w);
	_exit(0);
}

/* Gives up the signals, session, files and folder of the caller. */
static void
detach_process(int fd)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	int null;

	for (int sig = 1; sig < NSIG; sig++)
		if (sig != SIGKILL && sig != SIGSTOP && sig != SIGCHLD)
			sigaction(sig, &ignore, NULL);
	setsid();
	prctl(PR_SET_NAME, "vkb-reaper");
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

struct reaper *
reaper_start(void)
{
	struct reaper *g = mem_new(sizeof *g);
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0) {
		err_fail_sys("cannot start the reaper process");
		free(g);
		return NULL;
	}
	g->pid = fork();
	if (g->pid == 0) {
		detach_process(fds[1]);
		run_reaper(3);
	}
	close(fds[1]);
	g->fd = fds[0];
	if (g->pid > 0)
		return g;
	err_fail_sys("cannot start the reaper process");
	close(g->fd);
	free(g);
	return NULL;
}

/* Async-signal-safe. Returns 0, or -1 with errno. */
static int
send_message(struct reaper *g, const struct message *m, size_t n)
{
	return send(g->fd, m, n, MSG_NOSIGNAL) == (ssize_t)n ? 0 : -1;
}

int
reaper_folder(struct reaper *g, const char *path)
{
	struct message m = {.order = SET_FOLDER};
	size_t n = strlen(path) + 1;

	if (n > sizeof m.path)
		return err_fail("the path '%s' is too long", path);
	memcpy(m.path, path, n);
	if (send_message(g, &m, MESSAGE_HEAD + n) == 0)
		return 0;
	return err_fail_sys("cannot reach the reaper process");
}

int
reaper_add(struct reaper *g, pid_t group)
{
	const struct message m = {.order = ADD_GROUP, .group = group};

	return send_message(g, &m, MESSAGE_HEAD);
}

int
reaper_drop(struct reaper *g, pid_t group)
{
	const struct message m = {.order = DROP_GROUP, .group = group};

	return send_message(g, &m, MESSAGE_HEAD);
}

void
reaper_dismiss(struct reaper *g)
{
	const struct message m = {.order = DISMISS};

	if (!g)
		return;
	send_message(g, &m, MESSAGE_HEAD);
	close(g->fd);
	waitpid(g->pid, NULL, 0);
	free(g);
}
