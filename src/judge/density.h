/*
 * How well a change of one case agrees with no own change, and with one of any
 * size: densities of Student's t.
 */
#ifndef DENSITY_H
#define DENSITY_H

#include "moderate.h"

/* A distribution's density; 'factor' depends on df only. */
struct law {
	double var, df, factor;
};

/* One case, as the sums need it. */
struct item {
	double d, step, sessions;
	struct law law; /* of its own error */
};

/* What a case says of an own change, where the machine's is at a distance. */
struct own {
	double unchanged, changed; /* densities */
	double mean, var;          /* of a change */
	double down;               /* that it is below 0 */
	double down_all;           /* with K, that both are together */
};

/* What is known of a change that all cases share. */
struct density_k {
	double mean, var;
};

struct law density_make_law(struct moderate);

/* The density at a distance whose square is 'square', with a variance that is
 * larger by 'more'. */
double density_at(const struct law *, double square, double more);

/* P(T < t), to three digits: Wallace, Ann. Math. Stat. 30 (1959). */
double density_below(double t, double df);

/* Weighs a case that is 'off' from where it is without an own change; 'k' is
 * NULL if the densities are enough. */
struct own density_weigh(
    const struct item *, double off, double more, const struct density_k *k);

/* Weighs a change with this error of a case alone. */
struct own density_judge(double change, struct moderate error, double step);

#endif
