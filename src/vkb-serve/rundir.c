#include "rundir.h"
#include "certificate.h"

#include "err.h"
#include "folder.h"
#include "opt.h"
#include "reaper.h"
#include "mem.h"
#include "runas.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "vkb-run." /* and ten hex digits */
#define YOUNG_S 60        /* the owner may not have locked it yet */

/* Returns whether the folder is ours and its owner and reaper have ended. */
static bool
is_orphaned(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	bool yes;

	if (fd < 0)
		return false;
	yes = fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	    time(NULL) - st.st_mtime > YOUNG_S &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0;
	close(fd);
	return yes;
}

/*
 * Removes folders of programs that were killed together with their reaper, as
 * at the end of a container or CI job.
 */
static void
remove_orphans(const char *tmp)
{
	const size_t n = strlen(PREFIX);
	DIR *d = opendir(tmp);
	struct dirent *e;
	char *path;

	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, PREFIX, n) != 0 ||
		    strspn(e->d_name + n, "0123456789abcdef") != 10 ||
		    e->d_name[n + 10])
			continue;
		path = mem_printf("%s/%s", tmp, e->d_name);
		if (is_orphaned(path))
			folder_remove(path);
		free(path);
	}
	if (d)
		closedir(d);
}

static void
remove_temporary(void *path)
{
	folder_remove(path);
}

/* Makes a folder under TMPDIR, after starting the reaper that removes it. */
static int
make_temporary(struct rundir *r)
{
	char *tmp = realpath(opt_tmpdir(), NULL);
	unsigned long long x;

	if (!tmp)
		return err_fail_sys("cannot use '%s'", opt_tmpdir());
	remove_orphans(tmp);
	for (;;) {
		if (getrandom(&x, sizeof x, 0) != sizeof x)
			err_die("cannot get random numbers");
		r->path = mem_printf("%s/%s%010llx", tmp,
		    r->keep ? "vkb-kept." : PREFIX, x & 0xffffffffff);
		if (access(r->path, F_OK) < 0)
			break;
		free(r->path);
	}
	free(tmp);
	if (!r->keep && reaper_start(remove_temporary, r->path) < 0)
		return -1;
	if (mkdir(r->path, runas_folder_mode()) < 0)
		return err_fail_sys("cannot make folder '%s'", r->path);
	/* Without locks in the file system, orphans are not removed. */
	r->lock = open(r->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->lock >= 0)
		flock(r->lock, LOCK_SH | LOCK_NB);
	return 0;
}

static int
make_named(struct rundir *r, const char *dir)
{
	struct stat st;

	if (mkdir(dir, runas_folder_mode()) < 0 && errno != EEXIST)
		return err_fail_sys("cannot make folder '%s'", dir);
	r->path = realpath(dir, NULL);
	if (!r->path || stat(r->path, &st) < 0)
		return err_fail_sys("cannot use folder '%s'", dir);
	if (!S_ISDIR(st.st_mode))
		return err_fail("'%s' is not a folder", dir);
	if (st.st_uid != geteuid())
		return err_fail("folder '%s' belongs to another user", dir);
	return 0;
}

int
rundir_make(struct rundir *r, const char *dir, bool keep)
{
	int rc;

	*r = (struct rundir){.keep = keep || dir, .lock = -1};
	rc = runas_open();
	if (rc == 0)
		rc = dir ? make_named(r, dir) : make_temporary(r);
	rc = rc == 0 ? runas_check_path(r->path) : rc;
	if (rc < 0) {
		free(r->path);
		r->path = NULL;
	}
	return rc;
}

void
rundir_close(struct rundir *r)
{
	if (r->path && !r->keep && folder_remove(r->path) < 0)
		err_fail_sys("cannot remove '%s'", r->path);
	reaper_dismiss();
	if (r->path && r->lock >= 0)
		close(r->lock);
	free(r->path);
	r->path = NULL;
}

char *
rundir_make_folder(struct rundir *r)
{
	char *path;

	for (;;) {
		path = mem_printf("%s/s%u", r->path, ++r->next);
		if (mkdir(path, runas_folder_mode()) == 0)
			return path;
		if (errno != EEXIST)
			break;
		free(path);
	}
	err_fail_sys("cannot make folder '%s'", path);
	free(path);
	return NULL;
}

int
rundir_make_certificates(struct rundir *r, const char *host)
{
	char *path, *key;
	int rc;

	if (r->tls)
		return 0;
	path = mem_printf("%s/tls", r->path);
	if (mkdir(path, runas_folder_mode()) < 0 && errno != EEXIST)
		rc = err_fail_sys("cannot make folder '%s'", path);
	else
		rc = certificate_make(path, host);
	if (rc == 0) {
		key = mem_printf("%s/server.key", path);
		rc = runas_give(key);
		free(key);
	}
	r->tls = rc == 0;
	free(path);
	return rc;
}
