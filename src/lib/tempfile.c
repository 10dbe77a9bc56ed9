#include "tempfile.h"
#include "err.h"
#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tempfile {
	char *path; /* the final name */
	char *tmp;  /* the hidden name beside it */
	int named;  /* 'tmp' exists */
	FILE *f;
};

static char *
beside(const char *path)
{
	char *a = mem_str(path), *b = mem_str(path), *tmp;

	tmp = mem_printf(
	    "%s/.%s.%ld.tmp", dirname(a), basename(b), (long)getpid());
	free(a);
	free(b);
	return tmp;
}

static int
open_unnamed(const char *path)
{
	char *a = mem_str(path);
	int fd = open(dirname(a), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);

	free(a);
	return fd;
}

struct tempfile *
tempfile_open(const char *path)
{
	struct tempfile *t = mem_new(sizeof *t);
	int fd;

	t->path = mem_str(path);
	t->tmp = beside(path);
	fd = open_unnamed(path);
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
		fd = open(t->tmp, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
		t->named = fd >= 0;
	}
	t->f = fd < 0 ? NULL : fdopen(fd, "w+");
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

static int
commit(struct tempfile *t, bool sync)
{
	char fd[64];

	if (fflush(t->f) != 0 || ferror(t->f) ||
	    (sync && fsync(fileno(t->f)) < 0))
		goto bad;
	if (!t->named) {
		snprintf(fd, sizeof fd, "/proc/self/fd/%d", fileno(t->f));
		unlink(t->tmp);
		if (linkat(AT_FDCWD, fd, AT_FDCWD, t->tmp, AT_SYMLINK_FOLLOW) <
		    0)
			goto bad;
		t->named = 1;
	}
	if (rename(t->tmp, t->path) < 0)
		goto bad;
	t->named = 0;
	tempfile_discard(t);
	return 0;
bad:
	err_fail_sys("cannot write '%s'", t->path);
	tempfile_discard(t);
	return -1;
}

int
tempfile_commit(struct tempfile *t)
{
	return commit(t, true);
}

int
tempfile_place(struct tempfile *t)
{
	return commit(t, false);
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
	free(t->path);
	free(t->tmp);
	free(t);
}
