#include "proc.h"
#include "clock.h"
#include "err.h"
#include "mem.h"
#include "reaper.h"
#include "runas.h"
#include "str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- the process between a child and this program */

enum {
	GRACE_MS = 20000, /* for a child that ends because this program did */
	LEFT_MS = 10000,  /* for what the child has started */
	LOOK_MS = 100
};

static bool
is_kept_variable(const char *variable)
{
	static const char *const names[] = {"PATH=", "TMPDIR=", "TZ=", "LANG=",
	    "LC_", "LD_", "GLIBC_TUNABLES=", "MALLOC_", "TCMALLOC_",
	    "MIMALLOC_", "OPENSSL_CONF=", "ASAN_OPTIONS=", "LSAN_OPTIONS=",
	    "MSAN_OPTIONS=", "TSAN_OPTIONS=", "UBSAN_OPTIONS="};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strncmp(variable, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* Drops all variables that a program under test does not need. */
static void
clean_environment(void)
{
	char **to = environ;

	for (char **from = environ; from && *from; from++)
		if (is_kept_variable(*from))
			*to++ = *from;
	if (to)
		*to = NULL;
}

/* Makes 'fd' of a spec the file with this number. Returns -1 with errno. */
static int
set_standard_file(int fd, int number)
{
	if (fd == PROC_NULL && (fd = open("/dev/null", O_RDWR | O_CLOEXEC)) < 0)
		return -1;
	return fd ? dup2(fd, number) : 0;
}

/* Runs between fork and exec. Returns -1 with errno; does not return if exec
 * succeeds. */
static int
exec_child(const struct proc_spec *s, pid_t reaper)
{
	sigset_t none;
	char c;
	int p;

	if (s->session ? setsid() < 0 : s->group && setpgid(0, 0) < 0)
		return -1;
	/* Drops signals that were sent to the parent's group before the child
	 * left it: the parent may pass them on. */
	if (s->session || s->group) {
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
	}
	for (int sig = 1; sig < NSIG; sig++)
		if (sig != SIGKILL && sig != SIGSTOP)
			signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (s->cpus && sched_setaffinity(0, sizeof *s->cpus, s->cpus) < 0)
		return -1;
	if (s->no_aslr) {
		p = personality(0xffffffff);
		if (p < 0 || personality((unsigned)p | ADDR_NO_RANDOMIZE) < 0)
			return -1;
	}
	if (s->untrusted) {
		clean_environment();
		if (runas_become() < 0)
			return -1;
	}
	/* Another user would undo it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -1;
	if (getppid() != reaper)
		_exit(127);
	if (s->cwd && chdir(s->cwd) < 0)
		return -1;
	if (set_standard_file(s->in, 0) < 0 ||
	    set_standard_file(s->out, 1) < 0 ||
	    set_standard_file(s->err, 2) < 0)
		return -1;
	for (size_t i = 0; s->setenv && s->setenv[i]; i += 2)
		if (setenv(s->setenv[i], s->setenv[i + 1], 1) < 0)
			return -1;
	if (s->gate[0]) {
		close(s->gate[1]);
		if (read(s->gate[0], &c, 1) != 1)
			_exit(125);
	}
	execvp(s->argv[0], (char *const *)(size_t)s->argv);
	return -1;
}

/* --- the reaper --------------------------------------------------------- */

/* Reads the parent of a process and whether it is a reaper. Returns the parent,
 * or 0. */
static pid_t
read_parent(const char *pid, bool *reaper)
{
	char path[64], text[256], *name, *end;
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof text - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	/* PID (NAME) STATE PARENT */
	name = strchr(text, '(');
	end = strrchr(text, ')');
	if (!name || !end || strlen(end) < 5)
		return 0;
	*end = '\0';
	*reaper = strcmp(name + 1, REAPER_NAME) == 0;
	return (pid_t)atol(end + 4);
}

/*
 * Reaps those children of this process that have ended, except 'child'. Kills
 * the others with 'kill_them'; other reapers are not killed, since they end
 * when they have cleaned up. Returns the number of those that are left;
 * *programs, unless it is NULL, without the reapers.
 */
static size_t
end_children(pid_t child, bool kill_them, size_t *programs)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	bool reaper;
	size_t left = 0;
	pid_t pid;

	while (d && (e = readdir(d))) {
		pid = (pid_t)atol(e->d_name);
		if (pid <= 0 || pid == child ||
		    read_parent(e->d_name, &reaper) != getpid())
			continue;
		if (waitpid(pid, NULL, WNOHANG) > 0)
			continue;
		if (kill_them && !reaper)
			kill(pid, SIGKILL);
		left++;
		if (programs && !reaper)
			++*programs;
	}
	if (d)
		closedir(d);
	return left;
}

static void
drain_signals(int signals)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof info) == sizeof info)
		;
}

/* Ends what the child, which has ended, has started and left. Returns the exit
 * status of the reaper: 0, or 1 if some of it does not end. */
static int
end_left(pid_t child, int signals)
{
	int64_t deadline = clock_ns() + LEFT_MS * INT64_C(1000000);
	struct pollfd fd = {.fd = signals, .events = POLLIN};

	waitpid(child, NULL, 0);
	/* Children of those that are killed come to this process. */
	while (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD) {
		drain_signals(signals);
		if (!end_children(0, true, NULL))
			continue;
		if (!clock_left_ms(deadline))
			return 1;
		poll(&fd, 1, LOOK_MS);
	}
	return 0;
}

/* Ends a child that runs although the program that started it has ended. */
static void
end_orphan(const struct proc_spec *s, pid_t child, pid_t target, int pidfd)
{
	struct pollfd fd = {.fd = pidfd, .events = POLLIN};

	if (s->death_signal != SIGKILL) {
		if (s->death_signal)
			kill(target, s->death_signal);
		if (poll(&fd, 1, GRACE_MS) > 0)
			return;
	}
	kill(target, SIGKILL);
	kill(child, SIGKILL);
	poll(&fd, 1, LEFT_MS);
}

/* The reaper of a child, which runs. Waits until the other end of the socket,
 * descriptor 3, is closed. */
static _Noreturn void
watch_child(const struct proc_spec *s, pid_t child)
{
	pid_t target = s->group || s->session ? -child : child;
	struct pollfd fd[3] = {{.fd = 3, .events = POLLIN}, {.events = POLLIN},
	    {.events = POLLIN}};
	siginfo_t end;
	sigset_t set;
	size_t left;
	int status;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	fd[1].fd = (int)syscall(SYS_pidfd_open, child, 0);
	fd[2].fd = signalfd(-1, &set, SFD_NONBLOCK);
	if (fd[1].fd < 0 || fd[2].fd < 0) {
		kill(target, SIGKILL);
		_exit(2);
	}
	for (;;) {
		while (poll(fd, 3, -1) < 0 && errno == EINTR)
			;
		if (fd[0].revents) {
			if (recv(3, &status, sizeof status, 0) <= 0)
				break;
			left = 0;
			end_children(child, false, &left);
			status = left > 0;
			send(3, &status, sizeof status, MSG_NOSIGNAL);
		}
		if (fd[1].fd >= 0 && fd[1].revents &&
		    waitid(P_PID, (id_t)child, &end, WEXITED | WNOWAIT) == 0) {
			status = end.si_code == CLD_EXITED
			    ? (end.si_status & 255) << 8
			    : end.si_status |
				(end.si_code == CLD_DUMPED ? 128 : 0);
			send(3, &status, sizeof status, MSG_NOSIGNAL);
			close(fd[1].fd);
			fd[1].fd = -1;
		}
		if (fd[2].revents) {
			drain_signals(fd[2].fd);
			end_children(child, false, NULL);
		}
	}
	if (fd[1].fd >= 0)
		end_orphan(s, child, target, fd[1].fd);
	if (target < 0)
		kill(target, SIGKILL);
	_exit(end_left(child, fd[2].fd));
}

/*
 * Runs in a child of reaper_fork: starts the process of the spec, whose error
 * of exec goes to the pipe 'error', and adopts what that starts and leaves (as
 * a "child subreaper"). Sends two packets of one int to 'socket': the pid, or
 * the negative errno of fork; and the wait status, when it has ended. It does
 * not reap it, so that its pid and process group cannot be of others. It
 * answers a packet with another one: 1 if something that the process has left
 * still runs, or 0. When the other end of the socket is closed, it ends all
 * that is left, and exits with 0; with 1 if something does not end.
 */
static _Noreturn void
run_reaper(const struct proc_spec *s, int socket, int error)
{
	pid_t reaper = getpid(), child;
	int answer;
	ssize_t n;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	child = fork();
	if (child == 0) {
		exec_child(s, reaper);
		answer = errno;
		if (s->gate[0])
			err_say("cannot run '%s': %s", s->argv[0],
			    strerror(answer));
		n = write(error, &answer, sizeof answer);
		_exit(n == sizeof answer && answer != ENOENT ? 126 : 127);
	}
	answer = child < 0 ? -errno : child;
	reaper_detach(socket);
	send(3, &answer, sizeof answer, MSG_NOSIGNAL);
	if (child < 0)
		_exit(2);
	watch_child(s, child);
}

struct proc {
	pid_t pid, reaper;
	int fd;     /* pidfd of the child */
	int socket; /* to the reaper, see run_reaper */
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
		run_reaper(s, sockets[1], error[1]);
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

int
proc_pipe(const struct proc_spec *s, struct proc **p)
{
	struct proc_spec spec = *s;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_fail_sys("cannot start '%s'", s->argv[0]);
	spec.out = fds[1];
	*p = proc_start(&spec);
	close(fds[1]);
	if (*p)
		return fds[0];
	close(fds[0]);
	return -1;
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

bool
proc_left(struct proc *p)
{
	int answer = 1;
	ssize_t n = 0;

	proc_wait(p, -1, NULL);
	if (send(p->socket, &answer, sizeof answer, MSG_NOSIGNAL) > 0)
		while ((n = recv(p->socket, &answer, sizeof answer, 0)) < 0 &&
		    errno == EINTR)
			;
	return n <= 0 || answer;
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
	    .in = PROC_NULL,
	    .session = true,
	    .death_signal = SIGTERM};
	struct proc *p = NULL;
	int rc = -1;

	spec.out = spec.err = memfd_create("output", MFD_CLOEXEC);
	if (spec.out < 0)
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

int
proc_call(const char **argv, int worst, const char *made, int timeout_ms)
{
	const char *name = argv[0];
	char *program = proc_beside(name), buf[64];
	struct str said = {0};
	int status, rc;

	argv[0] = program;
	rc = proc_read(argv, false, timeout_ms, &said, &status);
	if (rc == 0) {
		rc = !WIFEXITED(status) || WEXITSTATUS(status) > worst ? -1
		    : made && access(made, F_OK) < 0                   ? -2
						     : WEXITSTATUS(status);
		if (rc < 0)
			err_say("%s %s%s%s", name,
			    proc_ended(status, buf, sizeof buf),
			    said.len ? ": " : "", said.len ? said.s : "");
	}
	str_free(&said);
	free(program);
	return rc;
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
