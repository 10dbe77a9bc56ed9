/*
 * The sides of a comparison: the baselines and contenders of the input.
 */
#ifndef SIDES_H
#define SIDES_H

#include <stdbool.h>
#include <stddef.h>

#include "cases.h"

struct opt_args;
struct opt_list;

struct sides {
	struct cases base, other; /* one input: other is empty */
	bool inside;              /* one input: the baselines are named */
	size_t *who, n;           /* indexes of the baselines in base */
};

/*
 * Reads the files and finds the baselines by their names; without names the
 * first file is the baseline. Returns 1 if some input could not be read and -1
 * if a baseline was not found, after reporting it. Free with sides_free in any
 * case.
 */
int sides_read(struct sides *, const struct opt_list *baselines,
    const struct opt_args *files, enum cases_of);
void sides_free(struct sides *);

/* The cases with the contenders; is subject 'who' of these a contender? */
const struct cases *sides_contenders(const struct sides *);
bool sides_is_contender(const struct sides *, size_t who);

/* Returns the number of contenders; reports it if there is none. */
size_t sides_count(const struct sides *);

#endif
