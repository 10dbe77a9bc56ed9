#include "folder.h"
#include "err.h"
#include "mem.h"
#include "str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int
folder_make(const char *path)
{
	char *p = mem_str(path);
	int rc = 0;

	for (char *s = p + (*p == '/'); rc == 0; s++) {
		char was = *s;

		if (was && was != '/')
			continue;
		*s = '\0';
		if (mkdir(p, 0777) < 0 && errno != EEXIST)
			rc = err_fail_sys("cannot make the folder '%s'", p);
		*s = was;
		if (!was)
			break;
	}
	free(p);
	return rc;
}

/* Does not follow links, even those that others make meanwhile. */
static int
remove_at(int at, const char *name)
{
	struct dirent *e;
	DIR *d = NULL;
	int fd, rc = 0, why;

	if (unlinkat(at, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -1;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || !(d = fdopendir(fd)))
		rc = -1;
	while (d && rc == 0 && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rc = remove_at(fd, e->d_name);
	if (rc == 0)
		rc = unlinkat(at, name, AT_REMOVEDIR);
	why = errno;
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	errno = why;
	return rc == 0 || errno == ENOENT ? 0 : -1;
}

int
folder_remove(const char *path)
{
	return remove_at(AT_FDCWD, path);
}

struct dated {
	char *path;
	struct timespec changed;
};

static int
compare_newest_first(const void *a, const void *b)
{
	const struct timespec *x = &((const struct dated *)a)->changed,
			      *y = &((const struct dated *)b)->changed;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? 1 : -1;
	return x->tv_nsec < y->tv_nsec ? 1 : x->tv_nsec > y->tv_nsec ? -1 : 0;
}

int
folder_lock(const char *path, bool wait)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_fail_sys("cannot open '%s'", path);
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	if (!wait && errno != EWOULDBLOCK)
		return fd; /* some file systems have no locks */
	if (!wait) {
		close(fd);
		return -2;
	}
	err_say("another program has locked '%s': waiting", path);
	while (flock(fd, LOCK_EX) < 0)
		if (errno != EINTR) {
			err_fail_sys("cannot lock '%s'", path);
			close(fd);
			return -1;
		}
	return fd;
}

static void
remove_unlocked(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		folder_remove(path);
	close(fd);
}

void
folder_keep_newest(const char *dir, const char *prefix, size_t n)
{
	DIR *d = opendir(dir);
	struct dated *v = NULL;
	size_t len = 0, cap = 0;
	struct dirent *e;
	struct stat st;
	char *path;

	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.' || !str_starts(e->d_name, prefix))
			continue;
		path = mem_printf("%s/%s", dir, e->d_name);
		if (lstat(path, &st) < 0 || st.st_uid != geteuid()) {
			free(path);
			continue;
		}
		*MEM_ADD(v, len, cap) = (struct dated){path, st.st_mtim};
	}
	if (d)
		closedir(d);
	if (len > n)
		qsort(v, len, sizeof *v, compare_newest_first);
	for (size_t i = 0; i < len; i++) {
		if (i >= n)
			remove_unlocked(v[i].path);
		free(v[i].path);
	}
	free(v);
}

void
folder_add_part(struct str *s, const char *name)
{
	for (const char *p = name; *p; p++)
		str_addc(s,
		    strchr("/\\ ", *p) || (unsigned char)*p < ' ' ||
			    (p == name && *p == '.')
			? '_'
			: *p);
}

int
folder_unnamed_file(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	char *name;

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd;
	name = mem_printf("%s/vkb.XXXXXX", dir);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	free(name);
	return fd;
}

unsigned long long
folder_bytes(const char *path)
{
	char *copy = mem_str(path), *roots[] = {copy, NULL};
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	unsigned long long sum = 0;
	FTSENT *e;

	while (fts && (e = fts_read(fts)))
		if (e->fts_info != FTS_DP && e->fts_info != FTS_DNR &&
		    e->fts_info != FTS_NS)
			sum +=
			    (unsigned long long)e->fts_statp->st_blocks * 512;
	if (fts)
		fts_close(fts);
	free(copy);
	return sum;
}
