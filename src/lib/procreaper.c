#include "procreaper.h"
#include "clock.h"
#include "err.h"
#include "proc.h"
#include "reaper.h"
#include "runas.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

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
	if ((s->in && dup2(s->in, 0) < 0) || (s->out && dup2(s->out, 1) < 0) ||
	    (s->err && dup2(s->err, 2) < 0))
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
 * when they have cleaned up. Returns the number of those that are left.
 */
static size_t
end_children(pid_t child, bool kill_them)
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
		if (!end_children(0, true))
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
		if (fd[0].revents)
			break;
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
			end_children(child, false);
		}
	}
	if (fd[1].fd >= 0)
		end_orphan(s, child, target, fd[1].fd);
	if (target < 0)
		kill(target, SIGKILL);
	_exit(end_left(child, fd[2].fd));
}

_Noreturn void
procreaper_run(const struct proc_spec *s, int socket, int error)
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
