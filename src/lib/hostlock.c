#include "hostlock.h"
#include "err.h"
#include "mem.h"
#include "opt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define DEFAULT "/tmp/vkb.lock" /* not in TMPDIR: all users share it */
#define LOOK_MS 100             /* between checks of the lock and *stop */

/*
 * In folders that all users may write to, the kernel refuses O_CREAT for a file
 * of another user. So the file is opened first, and made if there is none.
 */
static int
open_file(const char *path)
{
	const int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	int fd = open(path, O_RDONLY | flags);

	if (fd < 0 && errno == ENOENT) {
		fd = open(path, O_RDONLY | O_CREAT | O_EXCL | flags, 0666);
		if (fd >= 0)
			fchmod(fd, 0666); /* whatever the umask is */
		else if (errno == EEXIST)
			fd = open(path, O_RDONLY | flags);
	}
	return fd;
}

/* Returns the pid that holds the lock, from /proc/locks; 0 if not found. */
static long
find_holder(int fd)
{
	FILE *f = fopen("/proc/locks", "re");
	unsigned long long inode;
	unsigned major, minor;
	char line[256];
	struct stat st;
	long pid = 0, found = 0;

	if (!f || fstat(fd, &st) < 0)
		goto out;
	while (!found && fgets(line, sizeof line, f))
		if (sscanf(line, "%*d: FLOCK %*s WRITE %ld %x:%x:%llu", &pid,
			&major, &minor, &inode) == 4 &&
		    inode == (unsigned long long)st.st_ino &&
		    makedev(major, minor) == st.st_dev)
			found = pid;
out:
	if (f)
		fclose(f);
	return found > 0 ? found : 0;
}

static void
say_waiting(int fd)
{
	long pid = find_holder(fd);
	char *path = mem_printf("/proc/%ld/cmdline", pid), command[200];
	int in = pid ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n = in >= 0 ? read(in, command, sizeof command - 1) : 0;

	while (n > 0 && !command[n - 1])
		n--;
	command[n > 0 ? n : 0] = '\0';
	for (ssize_t i = 0; i < n; i++)
		if (!command[i])
			command[i] = ' ';
	if (pid)
		err_say("waiting for '%s' (pid %ld), which measures on this "
			"host; --no-lock or VKB_LOCK=no in the "
			"environment measures beside it",
		    n > 0 ? command : "another program", pid);
	else
		err_say("waiting for another program, which measures on this "
			"host; --no-lock or VKB_LOCK=no in the "
			"environment measures beside it");
	if (in >= 0)
		close(in);
	free(path);
}

/* Returns 0, or -1 with errno, which is EINTR if *stop was set. */
static int
wait_for_lock(int fd, const volatile int *stop)
{
	bool said = false;

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -1;
		if (!said)
			say_waiting(fd);
		said = true;
		if (*stop) {
			errno = EINTR;
			return -1;
		}
		poll(NULL, 0, LOOK_MS);
	}
	return 0;
}

/* Is the file still at the path? It may have been removed or replaced. */
static bool
is_current(int fd, const char *path)
{
	struct stat mine, there;

	return fstat(fd, &mine) == 0 && lstat(path, &there) == 0 &&
	    mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
}

int
hostlock_take(const volatile int *stop)
{
	const char *path = opt_variable("VKB_LOCK");
	struct stat st;
	int fd;

	if (!path)
		path = DEFAULT;
	if (strcmp(path, "no") == 0)
		return HOSTLOCK_NONE;
	for (;;) {
		fd = open_file(path);
		if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
			break;
		if (wait_for_lock(fd, stop) < 0)
			break;
		if (is_current(fd, path)) {
			setenv("VKB_LOCK", "no", 1);
			return fd;
		}
		close(fd);
	}
	if (fd >= 0 && !S_ISREG(st.st_mode))
		err_fail("the lock of this host, '%s', is not a file: set "
			 "VKB_LOCK to another path or use --no-lock",
		    path);
	else if (errno != EINTR)
		err_fail_sys("cannot take the lock of this host, '%s' "
			     "(set VKB_LOCK to another path or use --no-lock)",
		    path);
	if (fd >= 0)
		close(fd);
	return -1;
}

void
hostlock_release(int lock)
{
	if (lock >= 0)
		close(lock);
}
