/*
 * Foreign bytes as a release archive and as the archive of a profile: no path
 * of it leads outside, and nothing outside the folder that it is unpacked into
 * changes.
 */
#include "err.h"
#include "folder.h"
#include "mem.h"
#include "str.h"
#include "tarball.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char base[PATH_MAX]; /* holds 'in' and 'victim', and nothing else */
static char in[PATH_MAX + 8];

static void
check_file(const struct tarball_file *f)
{
	if (!*f->path || *f->path == '/' || strcmp(f->path, "..") == 0 ||
	    strncmp(f->path, "../", 3) == 0 || strstr(f->path, "/../") ||
	    strstr(f->path, "//") || strlen(f->data) > f->len ||
	    f->len > TARBALL_FILE)
		abort();
	if (f->link && (*f->data == '/' || !*f->data))
		abort();
}

static void
check_list(const char *name)
{
	struct tarball *t = tarball_open(name);
	struct tarball_file f;

	while (t && tarball_next(t, &f) > 0)
		check_file(&f);
	tarball_close(t);
}

/* A link that leads somewhere leads to a place below 'in'. */
static int
check_unpacked(
    const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	char *real;

	(void)st;
	(void)ftw;
	if (type != FTW_SL)
		return 0;
	real = realpath(path, NULL);
	if (real && strcmp(real, in) != 0 &&
	    (!str_starts(real, in) || real[strlen(in)] != '/'))
		abort();
	free(real);
	return 0;
}

static void
remove_base(void)
{
	folder_remove(base);
}

/* /dev/shm is fast; where it is missing a disk will do. */
static void
make_base(void)
{
	char name[] = "/dev/shm/vkb-fuzz.XXXXXX",
	     other[] = "/tmp/vkb-fuzz.XXXXXX";
	char *dir = mkdtemp(name), victim[PATH_MAX + 8];
	FILE *f;

	if (!dir && !(dir = mkdtemp(other)))
		abort();
	snprintf(base, sizeof base, "%s", dir);
	snprintf(in, sizeof in, "%s/in", base);
	snprintf(victim, sizeof victim, "%s/victim", base);
	atexit(remove_base);
	f = fopen(victim, "w");
	if (!f || fclose(f) != 0)
		abort();
}

static void
check_outside(void)
{
	DIR *d = opendir(base);
	struct dirent *e;
	struct stat st;

	while (d && (e = readdir(d)))
		if (*e->d_name != '.' && strcmp(e->d_name, "in") != 0 &&
		    (strcmp(e->d_name, "victim") != 0 ||
			fstatat(dirfd(d), e->d_name, &st, 0) < 0 ||
			st.st_size != 0))
			abort();
	if (d)
		closedir(d);
}

static void
check_unpacking(const char *name)
{
	int rc;

	if (!*base)
		make_base();
	rc = tarball_unpack(name, in);
	check_outside();
	if (rc < 0 && access(in, F_OK) == 0)
		abort();
	if (rc == 0 && nftw(in, check_unpacked, 16, FTW_PHYS) != 0)
		abort();
	if (folder_remove(in) < 0)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("archive", MFD_CLOEXEC);
	char name[40];

	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	check_list(name);
	check_unpacking(name);
	close(fd);
	return 0;
}
