#include "histdiff.h"
#include "hist.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

const double histdiff_quantiles[] = {.5, .75, .9, .95, .99, .999, .9999, 0};

int
histdiff_shown(uint64_t n, double q)
{
	return (double)n * (1 - q) >= 10 - 1e-9;
}

/* The cells of one histogram in order; what lies above the range comes last,
 * at the highest value. */
struct walk {
	const struct hist *h;
	size_t i;
	int64_t low, high;
	uint64_t count, below;
	bool over, end;
};

static void
step(struct walk *w)
{
	w->below += w->count;
	if (!w->over && hist_cell(w->h, &w->i, &w->low, &w->high, &w->count))
		return;
	w->end = w->over || !hist_over(w->h);
	w->over = true;
	w->low = w->high = hist_max(w->h);
	w->count = w->end ? 0 : hist_over(w->h);
}

static bool
inside(const struct walk *w, int64_t v)
{
	return !w->end && w->low <= v && v < w->high;
}

/*
 * P(K > x) of Kolmogorov's distribution: its series, and for small x,
 * where that one needs many terms, its theta transform.
 */
static double
kolmogorov(double x)
{
	double sum = 0, k;

	if (!(x > 0))
		return 1;
	if (x < 1) {
		for (k = 1; k < 20; k += 2)
			sum += exp(-k * k * M_PI * M_PI / (8 * x * x));
		return 1 - sqrt(2 * M_PI) / x * sum;
	}
	for (k = 1; k < 20; k++)
		sum += (fmod(k, 2) > 0 ? 2 : -2) * exp(-2 * k * k * x * x);
	return sum;
}

struct histdiff
histdiff_ks(const struct hist *a, const struct hist *b)
{
	double na = (double)hist_count(a), nb = (double)hist_count(b), diff = 0;
	struct histdiff r = {0};
	struct walk x = {.h = a}, y = {.h = b};
	int64_t last = 0, v;

	if (!(na > 0 && nb > 0))
		return (struct histdiff){.d = NAN, .p = NAN, .w1 = NAN};
	step(&x);
	step(&y);
	while (!x.end || !y.end) {
		v = y.end || (!x.end && x.high <= y.high) ? x.high : y.high;
		if (!x.end && x.high == v)
			step(&x);
		if (!y.end && y.high == v)
			step(&y);
		/* A coarse cell of the other is not known in parts. */
		if (inside(&x, v) || inside(&y, v))
			continue;
		r.w1 += diff * ((double)v - (double)last);
		diff = fabs((double)x.below / na - (double)y.below / nb);
		last = v;
		if (diff > r.d) {
			r.d = diff;
			r.at = v;
		}
	}
	r.p = kolmogorov(r.d * sqrt(na * nb / (na + nb)));
	return r;
}
