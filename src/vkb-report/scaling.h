/*
 * Groups of cases that differ in one number of their config: a metric by
 * number.
 */
#ifndef SCALING_H
#define SCALING_H

#include <stdbool.h>
#include <stddef.h>

struct kase;
struct model;

struct scaling_point {
	double x; /* the number of the case */
	const struct kase *kase;
};

struct scaling_group {
	char *key;                    /* such as pipeline */
	char *name;                   /* what the cases share, for people */
	struct scaling_point *points; /* in rising order of x */
	size_t n, cap;
};

struct scaling {
	struct scaling_group *v; /* ordered by their first cases */
	size_t n, cap;
};

struct scaling *scaling_new(const struct model *);
void scaling_free(struct scaling *);

/*
 * Do the cases differ in their rate? Then a latency is drawn by the rate that
 * was achieved, not by the one that was asked for.
 */
bool scaling_is_by_rate(const struct scaling_group *);

/* Do the cases differ in the size of their values? */
bool scaling_is_by_size(const struct scaling_group *);

#endif
