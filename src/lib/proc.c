#include "proc.h"
#include "clock.h"
#include "err.h"
#include "procreaper.h"
#include "reaper.h"
#include "runas.h"
#include "mem.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct proc {
	pid_t pid, reaper;
	int fd;     /* pidfd of the child */
	int socket; /* to the reaper (procreaper.h) */
	char *name;
	bool group;
	bool ended;
	int status;
};

/* Waits until the reaper has ended what is left of the child. */
static void
dismiss_reaper(struct proc *p)
{
	int status = 0;

	if (p->socket >= 0)
		close(p->socket);
	while (p->reaper > 0 && waitpid(p->reaper, &status, 0) < 0 &&
	    errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 1)
		err_say("a process that '%s' has started and left could not be "
			"ended; 'ps' shows it as a child of process 1",
		    p->name);
}

/* Reports why a child cannot be used. Returns NULL with errno. */
static struct proc *
abandon_child(struct proc *p, int why, const char *what)
{
	dismiss_reaper(p);
	errno = why;
	err_fail_sys("cannot %s '%s'", what, p->name);
	free(p->name);
	free(p);
	errno = why;
	return NULL;
}

/* Waits until the child has executed its program. Returns 0, or its errno. */
static int
read_exec_error(int fd)
{
	int why;
	ssize_t n;

	while ((n = read(fd, &why, sizeof why)) < 0 && errno == EINTR)
		;
	return n == sizeof why ? why : 0;
}

/* Returns 0, or -1 after reporting that the user of code under test cannot run
 * the program. */
static int
check_user(const struct proc_spec *s)
{
	int rc = runas_open();

	if (rc == 0 && s->cwd)
		rc = runas_check_path(s->cwd);
	rc = rc == 0 ? runas_check_path(s->argv[0]) : rc;
	errno = EACCES;
	return rc;
}

struct proc *
proc_start(const struct proc_spec *s)
{
	struct proc *p = mem_new(sizeof *p);
	int sockets[2], error[2], why, pid;

	if (s->untrusted && check_user(s) < 0) {
		free(p);
		return NULL;
	}
	p->name = mem_str(s->argv[0]);
	p->group = s->group || s->session;
	p->socket = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return abandon_child(p, errno, "start");
	p->socket = sockets[0];
	if (pipe2(error, O_CLOEXEC) < 0) {
		why = errno;
		close(sockets[1]);
		return abandon_child(p, why, "start");
	}
	p->reaper = reaper_fork();
	why = errno;
	if (p->reaper == 0)
		procreaper_run(s, sockets[1], error[1]);
	close(sockets[1]);
	close(error[1]);
	if (p->reaper > 0) {
		pid = -EAGAIN; /* the reaper was killed */
		while (
		    recv(p->socket, &pid, sizeof pid, 0) < 0 && errno == EINTR)
			;
		why = pid < 0    ? -pid
		    : s->gate[0] ? 0
				 : read_exec_error(error[0]);
	}
	close(error[0]);
	if (p->reaper < 0 || why)
		return abandon_child(p, why, "start");
	p->pid = pid;
	p->fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	if (p->fd < 0)
		return abandon_child(p, errno, "open a pidfd for");
	fcntl(p->fd, F_SETFD, FD_CLOEXEC);
	return p;
}

pid_t
proc_pid(const struct proc *p)
{
	return p->pid;
}

int
proc_fd(const struct proc *p)
{
	return p->fd;
}

int
proc_wait(struct proc *p, int timeout_ms, int *status)
{
	int64_t deadline = clock_ns() + timeout_ms * INT64_C(1000000);
	struct pollfd fd = {.fd = p->fd, .events = POLLIN};
	int left = timeout_ms;

	while (!p->ended) {
		if (poll(&fd, 1, left) > 0) {
			p->status = SIGKILL; /* its reaper was killed */
			while (recv(p->socket, &p->status, sizeof p->status,
				   0) < 0 &&
			    errno == EINTR)
				;
			p->ended = true;
			break;
		}
		if (timeout_ms >= 0) {
			left = clock_left_ms(deadline);
			if (!left)
				return 0;
		}
	}
	if (status)
		*status = p->status;
	return 1;
}

void
proc_signal(struct proc *p, int sig)
{
	/* The pid is not reused before the reaper ends. */
	if (!p->ended)
		kill(p->group ? -p->pid : p->pid, sig);
}

int
proc_stop(struct proc *p, int grace_ms)
{
	int status;

	proc_signal(p, SIGTERM);
	proc_signal(p, SIGCONT);
	if (!proc_wait(p, grace_ms, &status)) {
		proc_signal(p, SIGKILL);
		proc_wait(p, -1, &status);
	}
	return status;
}

void
proc_free(struct proc *p)
{
	if (!p)
		return;
	if (!p->ended) {
		proc_signal(p, SIGKILL);
		proc_wait(p, -1, NULL);
	}
	close(p->fd);
	dismiss_reaper(p);
	free(p->name);
	free(p);
}

const char *const proc_plain[] = {"LC_ALL", "C", NULL};

int
proc_read(const char *const *argv, bool untrusted, int timeout_ms,
    struct str *out, int *status)
{
	struct proc_spec spec = {.argv = argv,
	    .setenv = proc_plain,
	    .untrusted = untrusted,
	    .session = true,
	    .death_signal = SIGTERM};
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), rc = -1;
	struct proc *p = NULL;

	spec.in = null;
	spec.out = spec.err = memfd_create("output", MFD_CLOEXEC);
	if (null < 0 || spec.out < 0)
		err_fail_sys("cannot start '%s'", argv[0]);
	else if ((p = proc_start(&spec))) {
		if (proc_wait(p, timeout_ms, status))
			rc = 0;
		else
			err_fail("'%s' did not end within %d ms; it was killed",
			    argv[0], timeout_ms);
	}
	proc_free(p);
	if (rc == 0 &&
	    (lseek(spec.out, 0, SEEK_SET) < 0 || str_read(out, spec.out) < 0))
		rc = err_fail_sys("cannot read the output of '%s'", argv[0]);
	if (spec.out >= 0)
		close(spec.out);
	if (null >= 0)
		close(null);
	return rc;
}

/* Returns the path of a file from the folder of this program, or NULL. */
static char *
make_path_beside(const char *name)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (n < 0)
		return NULL;
	self[n] = '\0';
	return mem_printf(
	    "%.*s/%s", (int)(strrchr(self, '/') - self), self, name);
}

char *
proc_library(const char *name)
{
	char *from = mem_printf("../lib/vkb/%s", name);
	char *path = make_path_beside(from);
	char *real = path ? realpath(path, NULL) : NULL;

	free(from);
	free(path);
	return real;
}

char *
proc_beside(const char *name)
{
	char *path = make_path_beside(name);

	if (path) {
		if (access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return mem_str(name);
}

static bool
is_program(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return false;
	errno = EACCES;
	return S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

bool
proc_is_script(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char start[2] = {0};
	bool yes = fd >= 0 && read(fd, start, 2) == 2 && start[0] == '#' &&
	    start[1] == '!';

	if (fd >= 0)
		close(fd);
	return yes;
}

char *
proc_find(const char *name, const char *dirs)
{
	int why = ENOENT;
	char *path;
	size_t n;

	if (strchr(name, '/'))
		return is_program(name) ? mem_str(name) : NULL;
	for (dirs = dirs ? dirs : "/usr/bin:/bin"; *dirs && *name;
	     dirs += n + (dirs[n] == ':')) {
		n = strcspn(dirs, ":");
		path =
		    mem_printf("%.*s/%s", n ? (int)n : 1, n ? dirs : ".", name);
		if (is_program(path))
			return path;
		why = errno == EACCES ? EACCES : why;
		free(path);
	}
	errno = why;
	return NULL;
}

int
proc_exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

const char *
proc_ended(int status, char *buf, size_t n)
{
	if (WIFSIGNALED(status))
		snprintf(buf, n, "was killed by signal %d (%s)",
		    WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(buf, n, "exited with %d", WEXITSTATUS(status));
	return buf;
}
