#include "proc.h"
#include "clock.h"
#include "err.h"
#include "reaper.h"
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
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct proc {
	pid_t pid;
	int fd;
	bool group;
	struct reaper *reaper;
	bool ended;
	int status;
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
exec_child(const struct proc_spec *s, pid_t parent)
{
	sigset_t none;
	int p;

	if (s->death_signal) {
		if (prctl(PR_SET_PDEATHSIG, s->death_signal) < 0)
			return -1;
		if (getppid() != parent)
			_exit(127);
	}
	if (s->session ? setsid() < 0 : s->group && setpgid(0, 0) < 0)
		return -1;
	if (s->reaper && reaper_add(s->reaper, getpid()) < 0)
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
	if (s->cwd && chdir(s->cwd) < 0)
		return -1;
	if ((s->in && dup2(s->in, 0) < 0) || (s->out && dup2(s->out, 1) < 0) ||
	    (s->err && dup2(s->err, 2) < 0))
		return -1;
	if (s->clean)
		clean_environment();
	for (size_t i = 0; s->setenv && s->setenv[i]; i += 2)
		if (setenv(s->setenv[i], s->setenv[i + 1], 1) < 0)
			return -1;
	execvp(s->argv[0], (char *const *)(size_t)s->argv);
	return -1;
}

/* Reaps a child that cannot be used, and reports why. Returns NULL with errno.
 */
static struct proc *
abandon_child(struct proc *p, int why, const char *what, const char *program)
{
	if (p->pid > 0) {
		if (p->reaper)
			reaper_drop(p->reaper, p->pid);
		waitpid(p->pid, NULL, 0);
	}
	free(p);
	errno = why;
	err_fail_sys("cannot %s '%s'", what, program);
	errno = why;
	return NULL;
}

struct proc *
proc_start(const struct proc_spec *s)
{
	struct proc *p = mem_new(sizeof *p);
	pid_t parent = getpid();
	int pipefd[2], why = 0;
	ssize_t n = 0;

	p->group = s->group || s->session;
	p->reaper = s->reaper;
	if (pipe2(pipefd, O_CLOEXEC) < 0)
		return abandon_child(p, errno, "start", s->argv[0]);
	p->pid = fork();
	if (p->pid == 0) {
		exec_child(s, parent);
		why = errno;
		n = write(pipefd[1], &why, sizeof why);
		_exit(n == sizeof why ? 127 : 126);
	}
	why = errno;
	close(pipefd[1]);
	while (p->pid > 0 && (n = read(pipefd[0], &why, sizeof why)) < 0 &&
	    errno == EINTR)
		;
	close(pipefd[0]);
	if (p->pid < 0 || n > 0)
		return abandon_child(p, why, "start", s->argv[0]);
	p->fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	if (p->fd < 0) {
		why = errno;
		kill(p->group ? -p->pid : p->pid, SIGKILL);
		return abandon_child(p, why, "open a pidfd for", s->argv[0]);
	}
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
			while (waitpid(p->pid, &p->status, 0) < 0 &&
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
	/* The pid is not reused before waitpid. */
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
	if (p->reaper)
		reaper_drop(p->reaper, p->pid);
	close(p->fd);
	free(p);
}

int
proc_read(const char *const *argv, bool clean, int timeout_ms, struct str *out,
    int *status)
{
	struct proc_spec spec = {.argv = argv,
	    .clean = clean,
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
