#include "rundir.h"
#include "guard.h"

#include "err.h"
#include "mem.h"
#include "tls.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

const char *
rundir_tmp(void)
{
	const char *tmp = getenv("TMPDIR");

	return tmp && *tmp ? tmp : "/tmp";
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

int
rundir_remove(const char *path)
{
	if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0)
		return 0;
	return access(path, F_OK) < 0 && errno == ENOENT ? 0 : -1;
}

/* The guardian knows the name before the folder is there. */
static int
make_new(struct rundir *r, struct guard *g)
{
	char *tmp = realpath(rundir_tmp(), NULL);
	unsigned long long x;

	if (!tmp)
		return err_fail_sys("cannot use '%s'", rundir_tmp());
	for (;;) {
		if (getrandom(&x, sizeof x, 0) != sizeof x)
			err_die("cannot get random numbers");
		r->path =
		    mem_printf("%s/vkb-serve.%08llx", tmp, x & 0xffffffff);
		if (access(r->path, F_OK) < 0)
			break;
		free(r->path);
	}
	free(tmp);
	if (!r->keep && guard_folder(g, r->path) < 0)
		return -1;
	if (mkdir(r->path, 0700) < 0)
		return err_fail_sys("cannot make folder '%s'", r->path);
	return 0;
}

static int
make_named(struct rundir *r, const char *dir)
{
	struct stat st;

	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return err_fail_sys("cannot make folder '%s'", dir);
	r->path = realpath(dir, NULL);
	if (!r->path || stat(r->path, &st) < 0)
		return err_fail_sys("cannot use folder '%s'", dir);
	if (!S_ISDIR(st.st_mode))
		return err_fail("'%s' is no folder", dir);
	if (st.st_uid != geteuid())
		return err_fail("folder '%s' belongs to another user", dir);
	return 0;
}

int
rundir_make(struct rundir *r, struct guard *g, const char *dir, bool keep)
{
	int rc;

	*r = (struct rundir){.keep = keep || dir};
	rc = dir ? make_named(r, dir) : make_new(r, g);
	if (rc < 0) {
		free(r->path);
		r->path = NULL;
	}
	return rc;
}

void
rundir_close(struct rundir *r)
{
	if (r->path && !r->keep && rundir_remove(r->path) < 0)
		err_fail_sys("cannot remove '%s'", r->path);
	free(r->path);
	r->path = NULL;
}

char *
rundir_new(struct rundir *r)
{
	char *path;

	for (;;) {
		path = mem_printf("%s/s%u", r->path, ++r->next);
		if (mkdir(path, 0700) == 0)
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
rundir_tls(struct rundir *r, const char *host)
{
	char *path;
	int rc;

	if (r->tls)
		return 0;
	path = mem_printf("%s/tls", r->path);
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		rc = err_fail_sys("cannot make folder '%s'", path);
	else
		rc = tls_make_certificates(path, host);
	r->tls = rc == 0;
	free(path);
	return rc;
}
