#include "fdlimit.h"
#include "err.h"

#include <dirent.h>
#include <sys/resource.h>

#define SPARE 256 /* files that are opened beside them */

/* Returns how many files are open. */
static uint64_t
count_open(void)
{
	DIR *d = opendir("/proc/self/fd");
	uint64_t n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

int
fdlimit_raise(uint64_t n, const char *what)
{
	rlim_t need = (rlim_t)(count_open() + n + SPARE);
	struct rlimit l, more;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur >= need)
		return 0;
	more = l;
	more.rlim_cur = need;
	if (more.rlim_max < need) /* root may raise it */
		more.rlim_max = need;
	if (setrlimit(RLIMIT_NOFILE, &more) == 0)
		return 0;
	return err_fail(
	    "%llu %s need a limit of %llu open files, which is %llu "
	    "here: raise it with 'ulimit -n', or have fewer",
	    (unsigned long long)n, what, (unsigned long long)need,
	    (unsigned long long)l.rlim_max);
}
