#include "appendfile.h"
#include "err.h"

#include <errno.h>
#include <fcntl.h>
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

int
appendfile_lock_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0) {
		err_fail_sys("cannot open the folder '%s'", path);
		return -2;
	}
	if (!is_taken(fd, LOCK_EX))
		return fd;
	close(fd);
	return -1;
}
