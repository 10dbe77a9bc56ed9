#include "cache.h"

#include "err.h"
#include "folder.h"
#include "halt.h"
#include "mem.h"
#include "num.h"
#include "runas.h"
#include "str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS 50

static const char *const folder_names[] = {
    "builds", "trees", "git", "logs", "locks", NULL};

/* Returns the default folder (caller frees), or NULL if unknown. */
static char *
find_default_dir(void)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (base && *base == '/')
		return mem_printf("%s/vkb", base);
	return home && *home ? mem_printf("%s/.cache/vkb", home) : NULL;
}

int
cache_open(struct cache *c, const char *wanted, struct halt *halt)
{
	char *dir = wanted ? mem_str(wanted) : find_default_dir(), *path;
	int rc = 0;

	*c = (struct cache){.halt = halt};
	if (!dir || !*dir) {
		free(dir);
		return err_fail("no folder for the cache: HOME is not set; "
				"give one with '--cache'");
	}
	if (runas_open() < 0 || folder_make(dir) < 0)
		rc = -1;
	else if (!(c->dir = realpath(dir, NULL)))
		rc = err_fail_sys("cannot use '%s'", dir);
	for (size_t i = 0; rc == 0 && folder_names[i]; i++) {
		path = mem_printf("%s/%s", c->dir, folder_names[i]);
		rc = folder_make(path);
		free(path);
	}
	if (rc == 0) {
		c->ccache = mem_printf("%s/ccache%s%s", c->dir,
		    runas_name() ? "." : "", runas_name() ? runas_name() : "");
		if (runas_name())
			rc = runas_check_path(c->dir) < 0 ||
				folder_make(c->ccache) < 0
			    ? -1
			    : runas_give(c->ccache);
	}
	free(dir);
	return rc;
}

void
cache_close(struct cache *c)
{
	free(c->dir);
	free(c->ccache);
}

char *
cache_path(const struct cache *c, const char *kind, const char *name)
{
	return mem_printf("%s/%s/%s", c->dir, kind, name);
}

int
cache_lock(const struct cache *c, const char *name)
{
	char *path = cache_path(c, "locks", name);
	int fd = open(path, O_RDWR | O_CREAT, 0666), rc;

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		rc = fd;
	else if (fd >= 0 && errno == EWOULDBLOCK)
		rc = CACHE_BUSY;
	else
		rc = err_fail_sys("cannot lock '%s'", path);
	if (rc < 0 && fd >= 0)
		close(fd);
	free(path);
	return rc;
}

void
cache_unlock(int fd)
{
	if (fd < 0)
		return;
	flock(fd, LOCK_UN); /* also for children that inherited it */
	close(fd);
}

int
cache_wait(const struct cache *c, const char *name)
{
	int fd;

	while ((fd = cache_lock(c, name)) == CACHE_BUSY) {
		if (halt_reason(c->halt, NULL))
			return err_fail("stopped");
		poll(NULL, 0, WAIT_MS);
	}
	return fd;
}

/* --- pruning */

struct cache_entry {
	char *path, *lock;
	double used; /* seconds since 1970 */
	unsigned long long bytes;
};

struct cache_entries {
	struct cache_entry *v;
	size_t n, cap;
};

/* Logs, tree files, tmp folders and what is being made share the lock of their
 * build, tree or repository. */
static char *
format_lock_name(const char *name)
{
	static const char *const ends[] = {
	    ".tree", ".tmp", ".log", ".new", NULL};

	for (size_t i = 0; ends[i]; i++)
		if (str_ends(name, ends[i]))
			return mem_strn(name, strlen(name) - strlen(ends[i]));
	return mem_str(name);
}

static void
list_things(struct cache_entries *t, const struct cache *c, const char *kind)
{
	char *dir = cache_path(c, kind, ""), *path, *mark;
	DIR *d = opendir(dir);
	struct dirent *e;
	struct stat st;
	bool there;

	while (d && (e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		path = cache_path(c, kind, e->d_name);
		mark = mem_printf("%s/build.json", path);
		there = stat(mark, &st) == 0 || lstat(path, &st) == 0;
		free(mark);
		if (!there) {
			free(path);
			continue;
		}
		*MEM_ADD(t->v, t->n, t->cap) =
		    (struct cache_entry){.path = path,
			.lock = format_lock_name(e->d_name),
			.used = (double)st.st_mtim.tv_sec +
			    (double)st.st_mtim.tv_nsec * 1e-9,
			.bytes = folder_bytes(path)};
	}
	if (d)
		closedir(d);
	free(dir);
}

static int
compare_by_use(const void *a, const void *b)
{
	const struct cache_entry *x = a, *y = b;

	if (x->used < y->used || x->used > y->used)
		return x->used < y->used ? -1 : 1;
	return strcmp(x->path, y->path);
}

/* Returns 1 if removed, 0 if in use, -1 after reporting an error. */
static int
remove_thing(const struct cache *c, const struct cache_entry *t)
{
	int fd = cache_lock(c, t->lock), rc = 1;

	if (fd < 0)
		return fd == CACHE_BUSY ? 0 : -1;
	if (folder_remove(t->path) < 0)
		rc = err_fail_sys("cannot remove '%s'", t->path);
	cache_unlock(fd);
	return rc;
}

static int
parse_limit(const char *s, double *age, long long *size)
{
	size_t n = strlen(s);

	*age = -1;
	*size = -1;
	if (n && strchr("kmg", s[n - 1]) && num_size(s, size) == 0)
		return 0;
	return n && strchr("dh", s[n - 1]) && num_duration(s, age) == 0 &&
		*age >= 0
	    ? 0
	    : -1;
}

int
cache_prune(const struct cache *c, const char *limit)
{
	struct cache_entries t = {0};
	unsigned long long sum = 0;
	struct timespec now;
	long long size;
	double age;
	int rc = 0, k;

	if (parse_limit(limit, &age, &size) < 0)
		return err_fail("option '--prune': '%s' is neither an age like "
				"30d or 12h nor a size like 500m or 20g",
		    limit);
	clock_gettime(CLOCK_REALTIME, &now);
	for (size_t i = 0; i < 4; i++) /* all but the locks */
		list_things(&t, c, folder_names[i]);
	qsort(t.v, t.n, sizeof *t.v, compare_by_use);
	for (size_t i = 0; i < t.n; i++)
		sum += t.v[i].bytes;
	for (size_t i = 0; i < t.n; i++) {
		if (age >= 0 ? (double)now.tv_sec - t.v[i].used < age
			     : sum <= (unsigned long long)size)
			break;
		k = remove_thing(c, &t.v[i]);
		if (k > 0)
			sum -= t.v[i].bytes;
		rc = k < 0 ? -1 : rc;
	}
	for (size_t i = 0; i < t.n; i++) {
		free(t.v[i].path);
		free(t.v[i].lock);
	}
	free(t.v);
	return rc;
}
