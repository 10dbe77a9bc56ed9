/*
 * The verdict in words: what changed, by how much, how sure that is, what to do
 * next. One for each pair of subjects that was compared.
 */
#ifndef HEADLINE_H
#define HEADLINE_H

#include <stddef.h>

#include "model.h"

struct str;

struct headline {
	const struct subject *base, *contender; /* NULL: nothing was compared */
	enum model_verdict outcome; /* MODEL_VERDICTS: none was judged */
	char *what;                 /* "slower" in a few words */
	char **facts;               /* sentences */
	size_t nfacts, fcap;
	char **next; /* what to do */
	size_t nnext, ncap;
};

/* *n of them, at least one. Caller frees with headlines_free. */
struct headline *headlines_new(const struct model *, size_t *n);
void headlines_free(struct headline *, size_t n);

/* What of the input is not shown; an empty text where all is. */
void headline_left_out(struct str *, const struct model *);

#endif
