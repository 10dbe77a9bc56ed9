#include "level.h"
#include "spike.h"
#include "stats.h"
#include "tdist.h"

#include <math.h>

struct level
level_measure(const double *x, size_t from, size_t to)
{
	struct level l = {.from = from, .n = to - from};

	l.m2 = stats_squares(x + from, l.n, &l.mean);
	return l;
}

/* Chan, Golub & LeVeque, American Statistician 37 (1983). */
struct level
level_merge(const struct level *a, const struct level *b)
{
	double n = (double)(a->n + b->n), d = b->mean - a->mean;
	struct level l = *a;

	l.n += b->n;
	l.mean += d * (double)b->n / n;
	l.m2 += b->m2 + d * d * (double)a->n * (double)b->n / n;
	return l;
}

/* Returns p of Student's t test. Otava uses variances of populations. */
double
level_p(const struct level *a, const struct level *b, bool otava)
{
	double m = (double)a->n, n = (double)b->n, df = m + n - 2;
	double ss =
	    otava ? a->m2 * (m - 1) / m + b->m2 * (n - 1) / n : a->m2 + b->m2;
	double d = fabs(b->mean - a->mean), se;

	if (df < 1)
		return 1;
	se = sqrt(ss / df * (1 / m + 1 / n));
	return se > 0 ? 2 * tdist_sf(d / se, df) : d == 0;
}

double
level_size(const struct level *a, const struct level *b)
{
	return spike_size(a->mean, b->mean);
}
