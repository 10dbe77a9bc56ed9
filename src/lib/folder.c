#include "folder.h"
#include "err.h"
#include "mem.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static int
remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

int
folder_remove(const char *path)
{
	if (nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) == 0)
		return 0;
	return access(path, F_OK) < 0 && errno == ENOENT ? 0 : -1;
}

void
folder_add_part(struct str *s, const char *name)
{
	for (const char *p = name; *p; p++)
		str_addc(s,
		    strchr("/\\ ", *p) || *p < ' ' || (p == name && *p == '.')
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
