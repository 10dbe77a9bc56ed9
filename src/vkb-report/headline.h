/*
 * The verdict in words for each pair of subjects that was compared, as
 * vkb-compare wrote it into the record of the comparison.
 */
#ifndef HEADLINE_H
#define HEADLINE_H

#include <stdbool.h>
#include <stddef.h>

#include "model.h"

struct str;

struct sentences {
	char **v;
	size_t n, cap;
};

struct headline {
	const struct subject *base, *contender; /* NULL: nothing was compared */
	enum verdict outcome;   /* VERDICTS: nothing was judged */
	size_t count[VERDICTS]; /* judged results of each verdict */
	char *caution;          /* what limits all results, or NULL */
	char *what; /* "Worse: SET (certain); no change: 8 cases." */
	char *next; /* a command that says more, or NULL */
	struct sentences facts;
};

/* Is the delta of the same pair of subjects? */
bool headline_has(const struct headline *, const struct delta *);

/* Returns *n headlines, at least one; free them with headlines_free. */
struct headline *headlines_new(const struct model *, size_t *n);
void headlines_free(struct headline *, size_t n);

/* Appends what of the input is not shown; an empty text if everything is. */
void headline_left_out(struct str *, const struct model *);

#endif
