/*
 * Pairs each case of the baseline with one of the contender: the one of equal
 * configuration or, if there is none, the only one that agrees on every key
 * that both have.
 */
#ifndef PAIRING_H
#define PAIRING_H

#include <stddef.h>

#include "cases.h"
#include "reference.h"

struct pairing {
	const struct kase *side[2]; /* baseline, contender; NULL: no partner */
	char *note;                 /* keys that only one side has, or NULL */
	char *name[2];   /* of the case on each side, for people; NULL: no
			  * partner; set by judge.c */
	size_t rows;     /* metrics compared; counted by judge.c */
	char *functions; /* what accounts for a change of its instructions, or
			  * NULL */
	char *syscalls;  /* those that changed, or NULL */
	char *together;  /* what its count and time say (together.h), or NULL */
	enum reference_state reference; /* set by reference.c */
	double busy[2]; /* percent of other programs; set by busy.c */
};

/* In the order of the baseline's cases; caller frees with pairing_free. */
struct pairing *pairing_new(const struct cases *base, size_t base_who,
    const struct cases *contender, size_t contender_who, size_t *n);
void pairing_free(struct pairing *, size_t n);

#endif
