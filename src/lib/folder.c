#include "folder.h"
#include "err.h"
#include "mem.h"
#include "str.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
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

unsigned long long
folder_bytes(const char *path)
{
	unsigned long long sum = 0;
	struct dirent *e;
	struct stat st;
	char *sub;
	DIR *d;

	if (lstat(path, &st) < 0)
		return 0;
	sum = (unsigned long long)st.st_blocks * 512;
	if (!S_ISDIR(st.st_mode) || !(d = opendir(path)))
		return sum;
	while ((e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		sub = mem_printf("%s/%s", path, e->d_name);
		sum += folder_bytes(sub);
		free(sub);
	}
	closedir(d);
	return sum;
}
