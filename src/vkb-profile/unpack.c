#include "unpack.h"

#include "err.h"
#include "folder.h"
#include "mem.h"
#include "sink.h"
#include "tarball.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct unpacking {
	struct tarball *archive;
	const char *name; /* of the archive */
	int dir;          /* descriptor of the destination folder */
	long long bytes;  /* written so far */
	int folders;      /* made so far */
};

/*
 * Opens the folder 'name' in the folder 'at', making it if it is missing, and
 * closes 'at'. Returns its descriptor, or -1 after reporting an error.
 */
static int
enter_folder(struct unpacking *u, int at, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	bool made = mkdirat(at, name, 0777) == 0;
	int fd = made || errno == EEXIST ? openat(at, name, flags) : -1;

	if (fd < 0)
		err_fail_sys(
		    "'%s': cannot use '%s' as a folder", u->name, name);
	close(at);
	u->folders += made;
	if (fd < 0 || u->folders <= TARBALL_COUNT)
		return fd;
	close(fd);
	return err_fail(
	    "'%s' holds more than %d folders", u->name, TARBALL_COUNT);
}

/*
 * Opens the folder that 'path' is in, one component at a time. Returns its
 * descriptor, or -1 after reporting an error; *base is the last component.
 */
static int
open_parent(struct unpacking *u, const char *path, const char **base)
{
	int at = fcntl(u->dir, F_DUPFD_CLOEXEC, 0), depth = 0;
	const char *slash;
	char *name;

	*base = path;
	while (at >= 0 && (slash = strchr(*base, '/'))) {
		if (++depth > UNPACK_DEPTH) {
			close(at);
			return err_fail("'%s': '%s' is in more than %d folders",
			    u->name, path, UNPACK_DEPTH);
		}
		name = mem_strn(*base, (size_t)(slash - *base));
		at = enter_folder(u, at, name);
		free(name);
		*base = slash + 1;
	}
	return at;
}

static int
check_size(const struct unpacking *u, size_t more)
{
	if (more <= (size_t)(UNPACK_BYTES - u->bytes))
		return 0;
	return err_fail(
	    "'%s' holds more than %lld GiB", u->name, UNPACK_BYTES >> 30);
}

static int
copy_bytes(struct unpacking *u, const char *path, int fd)
{
	char buf[65536];
	long n;

	while ((n = tarball_read(u->archive, buf, sizeof buf)) > 0) {
		if (check_size(u, (size_t)n) < 0)
			return -1;
		u->bytes += n;
		if (sink_write(fd, buf, (size_t)n) < 0)
			return err_fail_sys("cannot write '%s'", path);
	}
	return n < 0 ? -1 : 0;
}

static int
write_file(
    struct unpacking *u, const struct tarball_file *f, int at, const char *base)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd, rc;

	if (check_size(u, f->len) < 0)
		return -1;
	fd = openat(at, base, flags, f->program ? 0777 : 0666);
	if (fd < 0)
		return err_fail_sys("cannot write '%s'", f->path);
	rc = copy_bytes(u, f->path, fd);
	if (close(fd) < 0 && rc == 0)
		rc = err_fail_sys("cannot write '%s'", f->path);
	return rc;
}

static int
write_entry(struct unpacking *u, const struct tarball_file *f)
{
	const char *base;
	int at, rc;

	if (f->link && !strchr(f->path, '/'))
		return err_fail("'%s': '%s' is a link where a file or a folder "
				"of a profile is expected",
		    u->name, f->path);
	at = open_parent(u, f->path, &base);
	if (at < 0)
		return -1;
	if (!f->link)
		rc = write_file(u, f, at, base);
	else if ((rc = symlinkat(f->data, at, base)) < 0)
		err_fail_sys("cannot write '%s'", f->path);
	close(at);
	return rc;
}

/* Opens 'dir', making it if it is missing; it must be empty. */
static int
open_empty(const char *dir)
{
	struct dirent *e;
	bool empty = true;
	DIR *d;
	int fd;

	if (folder_make(dir) < 0)
		return -1;
	d = opendir(dir);
	if (!d)
		return err_fail_sys("cannot read the folder '%s'", dir);
	while ((e = readdir(d)))
		empty &=
		    strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
	fd = empty ? fcntl(dirfd(d), F_DUPFD_CLOEXEC, 0) : -1;
	if (!empty)
		err_fail("the folder '%s' is not empty: an archive is "
			 "unpacked into a new or empty folder",
		    dir);
	else if (fd < 0)
		err_fail_sys("cannot use the folder '%s'", dir);
	closedir(d);
	return fd;
}

void
unpack_remove(const char *dir)
{
	char *path = realpath(dir, NULL);

	if (!path || folder_remove(path) < 0)
		err_fail_sys("cannot remove the folder '%s'", dir);
	free(path);
}

int
unpack_archive(const char *archive, const char *dir)
{
	struct unpacking u = {
	    .archive = tarball_open(archive), .name = archive, .dir = -1};
	struct tarball_file f;
	int rc = -1;

	if (u.archive && (u.dir = open_empty(dir)) >= 0) {
		while ((rc = tarball_step(u.archive, &f)) > 0)
			if ((rc = write_entry(&u, &f)) < 0)
				break;
		close(u.dir);
		if (rc < 0)
			unpack_remove(dir);
	}
	tarball_close(u.archive);
	return rc;
}
