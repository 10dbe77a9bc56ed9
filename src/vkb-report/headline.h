/*
 * The verdict in words for each pair of subjects that was compared: what
 * changed, by how much, how certain that is, and what to do next.
 */
#ifndef HEADLINE_H
#define HEADLINE_H

#include <stddef.h>

#include "model.h"

struct str;

struct sentences {
	char **v;
	size_t n, cap;
};

struct headline {
	const struct subject *base, *contender; /* NULL: nothing was compared */
	enum model_verdict outcome; /* MODEL_VERDICTS: nothing was judged */
	char *what;                 /* "Worse", in a few words */
	struct sentences facts, advice;
};

/* Returns *n headlines, at least one; free them with headlines_free. */
struct headline *headlines_new(const struct model *, size_t *n);
void headlines_free(struct headline *, size_t n);

/* Appends what of the input is not shown; an empty text if everything is. */
void headline_left_out(struct str *, const struct model *);

#endif
