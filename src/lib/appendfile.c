#include "appendfile.h"
#include "err.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Does another program have a lock that excludes this one? */
static bool
is_taken(int fd, int lock)
{
	return flock(fd, lock | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

int
appendfile_open(const char *path, bool alone)
{
	int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	struct stat st;

	if (fd < 0 && errno == EACCES)
		fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return err_fail_sys("cannot append to '%s'", path);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    is_taken(fd, alone ? LOCK_EX : LOCK_SH)) {
		close(fd);
		return err_fail("another program writes to '%s': wait for its "
				"end, or name another file",
		    path);
	}
	return fd;
}

/* Returns the offset after the last newline, or -1, error reported. */
static off_t
find_last_newline(int fd, const char *name, off_t size)
{
	char buf[4096], *newline;
	size_t n;

	for (; size > 0; size -= (off_t)n) {
		n = size < (off_t)sizeof buf ? (size_t)size : sizeof buf;
		if (pread(fd, buf, n, size - (off_t)n) != (ssize_t)n)
			return err_fail_sys("cannot read '%s'", name);
		newline = memrchr(buf, '\n', n);
		if (newline)
			return size - (buf + n - newline - 1);
	}
	return 0;
}

int
appendfile_check_end(int fd, const char *name, bool repair)
{
	struct stat st;
	off_t end;

	if (fstat(fd, &st) < 0)
		return err_fail_sys("cannot get the size of '%s'", name);
	/* Opened to write too, a pipe would have no end. */
	if (!S_ISREG(st.st_mode))
		return repair
		    ? err_fail(
			  "option '--resume': '%s' is not a regular file", name)
		    : 0;
	end = find_last_newline(fd, name, st.st_size);
	if (end < 0)
		return -1;
	if (end == st.st_size)
		return 0;
	if (!repair)
		return err_fail("'%s' ends in a torn record: '--resume' "
				"repairs it",
		    name);
	err_say("%s: cut off a torn last line of %lld bytes", name,
	    (long long)(st.st_size - end));
	if (ftruncate(fd, end) < 0)
		return err_fail_sys("cannot truncate '%s'", name);
	return 0;
}
