/* The lock of a host: which process waits for which, and the errors of its
 * file. */
#include "tap.h"

#include "err.h"
#include "mem.h"
#include "str.h"
#include "hostlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/vkb-hostlock.XXXXXX";
static char *path, *other; /* the lock, and a file that replaces it */
static const volatile int go_on = 0, stopped = 1;

static int
take(const volatile int *stop)
{
	setenv("VKB_LOCK", path, 1);
	return hostlock_take(stop);
}

static bool
is_same_file(int fd, const char *name)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && stat(name, &b) == 0 &&
	    a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

/* Redirects stderr to a pipe, whose other end is returned. */
static int
catch_messages(int *was)
{
	int fd[2];

	*was = dup(STDERR_FILENO);
	if (*was < 0 || pipe2(fd, O_CLOEXEC) < 0)
		return -1;
	dup2(fd[1], STDERR_FILENO);
	close(fd[1]);
	return fd[0];
}

/* Returns the next line that is printed, at latest after ten seconds. */
static char *
read_message(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct str s = {0};
	char c;

	while (poll(&p, 1, 10000) > 0 && read(fd, &c, 1) == 1 && c != '\n')
		str_addc(&s, c);
	return str_take(&s);
}

/*
 * Another process holds the lock; it ends after the function that it was given.
 * Returns its pid when it has the lock.
 */
static pid_t
hold(void (*then)(void *), void *arg)
{
	int ready[2], fd;
	pid_t pid;
	char c;

	if (pipe2(ready, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
		if (fd < 0 || flock(fd, LOCK_EX) < 0 ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		then(arg);
		_exit(0);
	}
	close(ready[1]);
	if (pid > 0 && read(ready[0], &c, 1) != 1)
		pid = -1;
	close(ready[0]);
	return pid;
}

static void
sleep_on(void *arg)
{
	(void)arg;
	for (;;)
		pause();
}

/* Waits for the other process to wait, and replaces the file of the lock by
 * another. */
static void
replace_file(void *arg)
{
	free(read_message(*(int *)arg));
	if (rename(other, path) < 0)
		_exit(1);
}

static void
free_locks(void)
{
	struct stat st;
	int fd, again;

	umask(077);
	fd = take(&go_on);
	tap_ok(fd >= 0 && is_same_file(fd, path), "the file is made");
	tap_ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 0666,
	    "every user can take the lock, whatever the umask is");
	tap_str(getenv("VKB_LOCK"), "no",
	    "programs that it starts do not wait for the lock");
	tap_ok(hostlock_take(&go_on) == HOSTLOCK_NONE,
	    "VKB_LOCK=no takes no lock");
	hostlock_release(fd);
	fd = take(&stopped);
	tap_ok(fd >= 0, "a lock that was released is free");
	hostlock_release(fd);
	hostlock_release(-1);
	tap_ok(fcntl(fd, F_GETFD) < 0, "its file is closed");

	/* Programs always have descriptor 0 open (err_init): only this test
	 * closes it. */
	fd = dup(STDIN_FILENO);
	close(STDIN_FILENO);
	again = take(&go_on);
	tap_ok(again == 0 && is_same_file(0, path),
	    "the lock may have descriptor 0");
	hostlock_release(again);
	unlink(path);
	again = take(&go_on);
	tap_ok(again == 0 && is_same_file(0, path),
	    "the lock may have descriptor 0 if its file is new");
	hostlock_release(again);
	if (fd >= 0) {
		dup2(fd, STDIN_FILENO);
		close(fd);
	}
}

static void
held_locks(void)
{
	int was, messages = catch_messages(&was), fd, next;
	pid_t pid = hold(sleep_on, NULL);
	char *name, *want, *got;
	bool once;

	next = dup(0);
	close(next);
	fd = take(&stopped);
	got = read_message(messages);
	want =
	    mem_printf("(pid %ld), which measures on this host; --no-lock or "
		       "VKB_LOCK=no in the environment measures beside it",
		(long)pid);
	name = strstr(got, "waiting for '");
	tap_ok(name && strstr(name, "hostlock' (pid") && str_ends(got, want),
	    "the process that has it is named: %s", got);
	free(want);
	free(got);
	tap_ok(fd == -1, "a process that is stopped does not wait");
	tap_ok(fcntl(next, F_GETFD) < 0, "it leaves no file open");
	once = poll(&(struct pollfd){messages, POLLIN, 0}, 1, 0) == 0;
	tap_ok(once, "it prints nothing more");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);

	close(open(other, O_WRONLY | O_CREAT, 0666));
	pid = hold(replace_file, &messages);
	fd = take(&go_on);
	dup2(was, STDERR_FILENO);
	waitpid(pid, NULL, 0);
	tap_ok(fd >= 0 && is_same_file(fd, path) && access(other, F_OK) < 0,
	    "the lock is that of the current file");
	hostlock_release(fd);
	close(messages);
	close(was);
}

/* Lets flock(2) fail as it does where the kernel has no more locks. */
static int
use_up_locks(void)
{
	struct sock_filter f[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
				      offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_flock, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOLCK),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog prog = {sizeof f / sizeof *f, f};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static void
check_trouble(const char *want)
{
	int was, messages = catch_messages(&was), next = dup(0), fd;

	close(next);
	fd = take(&go_on);
	dup2(was, STDERR_FILENO);
	tap_ok(fd == -1 && strstr(err_last(), want), "%s", want);
	tap_ok(fcntl(next, F_GETFD) < 0, "no file is left open");
	close(messages);
	close(was);
}

static void
troubles(void)
{
	char *file = path;

	path = folder;
	check_trouble("', is not a file: set VKB_LOCK to another path or use "
		      "--no-lock");
	path = mem_printf("%s/none/lock", folder);
	check_trouble("--no-lock): No such file or directory");
	free(path);
	path = file;
	unlink(path);
	if (symlink(other, path) == 0)
		check_trouble("--no-lock): Too many levels of symbolic links");
	unlink(path);
	if (use_up_locks() < 0)
		tap_ok(true, "no more locks # SKIP no seccomp");
	else
		check_trouble("--no-lock): No locks available");
}

int
main(void)
{
	if (!mkdtemp(folder))
		return 1;
	path = mem_printf("%s/lock", folder);
	other = mem_printf("%s/other", folder);
	free_locks();
	held_locks();
	troubles();
	unlink(path);
	unlink(other);
	rmdir(folder);
	free(path);
	free(other);
	return tap_done();
}
