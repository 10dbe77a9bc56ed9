/*
 * Who is compared with whom: the baselines and contenders of the input.
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
	bool inside;              /* the baselines are named: one input */
	size_t *who;              /* the baselines, in base */
	size_t n;
};

/* What is read of the files: of histograms too, or of no values at all, and
 * then of build records too. */
enum sides_of { SIDES_VALUES, SIDES_HISTS, SIDES_SUBJECTS };

/*
 * Reads the files and finds the baselines by their names; without any name the
 * first file is the baseline. 0; 1 if some input could not be read; -1 if a
 * baseline was not found; both are reported. Free with sides_free in any case.
 */
int sides_read(struct sides *, const struct opt_list *baselines,
    const struct opt_args *files, enum sides_of);
void sides_free(struct sides *);

/* The cases that hold the contenders; is the subject at 'who' one of them? */
const struct cases *sides_contenders(const struct sides *);
bool sides_is_contender(const struct sides *, size_t who);

/* How many contenders there are; if 0, that is reported. */
size_t sides_count(const struct sides *);

#endif
