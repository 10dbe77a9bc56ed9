/*
 * What is old goes.
 */
#ifndef PRUNING_H
#define PRUNING_H

#include <stddef.h>

struct pruning {
	long long keep;     /* so many commits, the newest; -1: all */
	double days;        /* those measured since then; -1: all */
	const char *except; /* a pattern of refs and labels that stay; NULL */
};

/*
 * Removes what none of these keeps, and says on stdout what it was. 0; -1, and
 * said: something could not be read, which stays, or removed.
 */
int pruning_run(const char *dir, const struct pruning *);

#endif
