/*
 * Which case of the contender belongs to which of the baseline: equal
 * configurations; where there is none, the only one that agrees on every key
 * that both sides have (absent is unknown).
 */
#ifndef PAIRING_H
#define PAIRING_H

#include <stddef.h>

#include "cases.h"

struct pairing {
	const struct kase *side[2]; /* baseline, contender; NULL: no partner */
	char *note;                 /* on which keys it is unsure; or NULL */
	char *name;                 /* of the case, for people */
	size_t rows;                /* metrics compared; counted by judge */
};

/* In the order of the baseline's cases; caller frees with pairing_free. */
struct pairing *pairing_new(const struct cases *base, size_t base_who,
    const struct cases *contender, size_t contender_who, size_t *n);
void pairing_free(struct pairing *, size_t n);

#endif
