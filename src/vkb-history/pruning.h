/*
 * Removes old commits from an archive.
 */
#ifndef PRUNING_H
#define PRUNING_H

#include <stddef.h>

struct pruning {
	long long keep;     /* keep the newest N commits; -1: no limit */
	double days;        /* keep those measured since; -1: no limit */
	const char *except; /* keep refs and labels of this pattern; NULL */
};

/*
 * Removes commits that are beyond either limit and not excepted, and lists them
 * on stdout. Returns -1, after reporting it, if a file could not be read, which
 * is kept, or not be removed.
 */
int pruning_run(const char *dir, const struct pruning *);

#endif
