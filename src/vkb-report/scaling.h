/*
 * Cases that differ in one number of their config alone: how a metric goes
 * with it.
 */
#ifndef SCALING_H
#define SCALING_H

#include <stddef.h>

struct cell;
struct kase;
struct model;
struct plot;

struct scaling_group {
	char *key;                 /* pipeline */
	char *name;                /* what they have in common, for people */
	const struct kase **cases; /* rising by the number */
	double *x;
	size_t n, cap;
};

struct scaling {
	struct scaling_group *v; /* in the order of their first cases */
	size_t n, cap;
};

struct scaling *scaling_new(const struct model *);
void scaling_free(struct scaling *);

void scaling_draw(struct plot *, const struct model *,
    const struct scaling_group *, const char *metric);

#endif
