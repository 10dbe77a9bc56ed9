#include "outlier.h"
#include "mem.h"
#include "stats.h"
#include "tdist.h"

#include <math.h>
#include <stdlib.h>

/* The critical value for the farthest of 'left' values (Rosner 1983). */
static double
compute_critical_value(size_t left, double alpha)
{
	double n = (double)left;
	double t = tdist_quantile(1 - alpha / (2 * n), n - 2);

	return (n - 1) * t / sqrt((n - 2 + t * t) * n);
}

/* Sorted values; some were removed from both ends. */
struct remaining {
	double *v;
	size_t *at;      /* their indexes in the input */
	size_t lo, hi;   /* v[lo..hi] are left */
	size_t from, to; /* equal values with the last one removed at 'hi' */
	double mean, m2;
	double sure; /* m2 when it was last computed from the values */
};

static void
compute_moments(struct remaining *r)
{
	r->sure = r->m2 =
	    stats_squares(r->v + r->lo, r->hi - r->lo + 1, &r->mean);
}

/* Returns the index of the highest value; of equal values, the first left. */
static size_t
find_first_highest(struct remaining *r)
{
	if (r->hi < r->from || !r->to) {
		r->from = r->to = r->hi;
		while (r->from > r->lo && r->v[r->from - 1] == r->v[r->hi])
			r->from--;
	}
	return r->at[r->from + r->to - r->hi];
}

/* Removes the value farthest from the mean and returns its index. */
static size_t
remove_farthest(struct remaining *r, double *far)
{
	double low = r->mean - r->v[r->lo], high = r->v[r->hi] - r->mean;
	double n = (double)(r->hi - r->lo), d;
	size_t at = find_first_highest(r);

	if (low > high || (low == high && r->at[r->lo] < at)) {
		at = r->at[r->lo++];
		d = -low;
	} else {
		r->hi--;
		d = high;
	}
	*far = fabs(d);
	/* Welford (1962) backwards, which loses precision as m2 shrinks. */
	r->mean -= d / n;
	r->m2 -= d * d * (n + 1) / n;
	if (!(r->m2 > 1e-3 * r->sure))
		compute_moments(r);
	return at;
}

size_t
outlier_gesd(const double *v, size_t n, size_t most, double alpha,
    struct outlier *out, size_t *looked)
{
	struct remaining r = {
	    .v = mem_array(n + 1, sizeof *r.v), .at = stats_order(v, n)};
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		r.v[i] = v[r.at[i]];
	if (n) {
		r.hi = n - 1;
		compute_moments(&r);
	}
	for (*looked = 0; *looked < most && n > 2; n--, ++*looked) {
		double sd = sqrt(r.m2 / (double)(n - 1)), far;
		struct outlier *o = &out[*looked];

		if (r.v[r.lo] == r.v[r.hi] || !(sd > 0))
			break;
		o->at = remove_farthest(&r, &far);
		o->r = far / sd;
		o->lambda = compute_critical_value(n, alpha);
		if (o->r > o->lambda)
			found = *looked + 1;
	}
	free(r.v);
	free(r.at);
	return found;
}
