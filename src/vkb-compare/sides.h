/*
 * The sides of a comparison: the baselines and contenders of the input.
 */
#ifndef SIDES_H
#define SIDES_H

#include <stddef.h>

#include "cases.h"

struct opt_args;
struct opt_list;

struct sides {
	struct cases base, other;       /* one input: other is empty */
	const struct cases *contenders; /* one of them */
	size_t *who, n;                 /* indexes of the baselines in base */
	size_t *whom, m; /* indexes of the contenders in theirs */
};

/*
 * Reads the files and finds the baselines by their names; without names the
 * first file is the baseline. All other subjects are contenders. Returns 1 if
 * some input could not be read and -1 if a baseline was not found, or there is
 * no contender, after reporting it. Free with sides_free in any case.
 */
int sides_read(struct sides *, const struct opt_list *baselines,
    const struct opt_args *files, enum cases_of);
void sides_free(struct sides *);

#endif
