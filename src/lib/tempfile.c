#include "tempfile.h"
#include "err.h"
#include "mem.h"
#include "redact.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tempfile {
	char *name; /* as the caller gave it */
	char *path; /* the final path with links resolved */
	char *tmp;  /* the hidden name beside it; NULL: written in place */
	int named;  /* 'tmp' exists */
	FILE *f;
};

static int
open_temporary(struct tempfile *t)
{
	const char *slash = strrchr(t->path, '/');
	int n = slash ? (int)(slash + 1 - t->path) : 0, fd;
	char *dir = n ? mem_strn(t->path, (size_t)n) : mem_str(".");

	t->tmp = mem_printf(
	    "%.*s.%s.%ld.tmp", n, t->path, t->path + n, (long)getpid());
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
		fd = open(t->tmp, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
		t->named = fd >= 0;
	}
	free(dir);
	return fd;
}

/* Returns stdout's or stderr's descriptor if it is open on the file, or -1. */
static int
find_inherited_fd(const struct stat *file)
{
	struct stat st;

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (fstat(fd, &st) == 0 && st.st_dev == file->st_dev &&
		    st.st_ino == file->st_ino)
			return fd;
	return -1;
}

/* Devices, such as /dev/full, and pipes are written in place. */
static int
open_fd(struct tempfile *t)
{
	struct stat st;
	int fd;

	if (stat(t->path, &st) < 0 || S_ISDIR(st.st_mode))
		return open_temporary(t);
	fd = find_inherited_fd(&st);
	if (fd >= 0)
		return fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (S_ISREG(st.st_mode))
		return open_temporary(t);
	return open(t->path, O_WRONLY | O_CLOEXEC);
}

struct tempfile *
tempfile_open(const char *path)
{
	struct tempfile *t = mem_new(sizeof *t);
	int fd;

	t->name = mem_str(path);
	t->path = realpath(path, NULL);
	if (!t->path)
		t->path = mem_str(path);
	fd = open_fd(t);
	t->f = fd < 0 ? NULL : fdopen(fd, t->tmp ? "w+" : "w");
	if (t->f)
		return t;
	err_fail_sys("cannot write '%s'", path);
	tempfile_discard(t);
	return NULL;
}

FILE *
tempfile_stream(struct tempfile *t)
{
	return t->f;
}

int
tempfile_commit(struct tempfile *t)
{
	char fd[64];

	if (fflush(t->f) != 0 || ferror(t->f))
		goto bad;
	if (!t->tmp)
		goto done;
	if (fsync(fileno(t->f)) < 0)
		goto bad;
	if (!t->named) {
		snprintf(fd, sizeof fd, "/proc/self/fd/%d", fileno(t->f));
		if (linkat(AT_FDCWD, fd, AT_FDCWD, t->path,
			AT_SYMLINK_FOLLOW) == 0)
			goto done;
		if (errno != EEXIST)
			goto bad;
		unlink(t->tmp);
		if (linkat(AT_FDCWD, fd, AT_FDCWD, t->tmp, AT_SYMLINK_FOLLOW) <
		    0)
			goto bad;
		t->named = 1;
	}
	if (rename(t->tmp, t->path) < 0)
		goto bad;
	t->named = 0;
done:
	tempfile_discard(t);
	return 0;
bad:
	err_fail_sys("cannot write '%s'", t->name);
	tempfile_discard(t);
	return -1;
}

int
tempfile_write(const char *path, const char *text, size_t n)
{
	struct tempfile *t = tempfile_open(path);
	struct str clean = {0};

	if (!t)
		return -1;
	redact_add(&clean, text, n);
	if (clean.len) /* tempfile_commit asks ferror() */
		fwrite(clean.s, 1, clean.len, t->f);
	str_free(&clean);
	return tempfile_commit(t);
}

void
tempfile_discard(struct tempfile *t)
{
	if (!t)
		return;
	if (t->f)
		fclose(t->f);
	if (t->named)
		unlink(t->tmp);
	free(t->name);
	free(t->path);
	free(t->tmp);
	free(t);
}
