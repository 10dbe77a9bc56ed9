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

/* A walk over the cells of a histogram. Values above the range come last, as
 * one cell at the highest value. */
struct walk {
	const struct hist *h;
	size_t i;
	int64_t low, high;
	uint64_t count, below;
	bool over, end;
};

static void
step_walk(struct walk *w)
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
is_inside_cell(const struct walk *w, int64_t v)
{
	return !w->end && w->low <= v && v < w->high;
}

struct histdiff
histdiff_ks(const struct hist *a, const struct hist *b)
{
	double na = (double)hist_count(a), nb = (double)hist_count(b), diff = 0;
	struct histdiff r = {0};
	struct walk x = {.h = a}, y = {.h = b};
	int64_t last = 0, v;

	if (!(na > 0 && nb > 0))
		return (struct histdiff){.d = NAN, .w1 = NAN};
	step_walk(&x);
	step_walk(&y);
	while (!x.end || !y.end) {
		v = y.end || (!x.end && x.high <= y.high) ? x.high : y.high;
		if (!x.end && x.high == v)
			step_walk(&x);
		if (!y.end && y.high == v)
			step_walk(&y);
		/* Compares only where no cell of the other is cut. */
		if (is_inside_cell(&x, v) || is_inside_cell(&y, v))
			continue;
		r.w1 += diff * ((double)v - (double)last);
		diff = fabs((double)x.below / na - (double)y.below / nb);
		last = v;
		if (diff > r.d) {
			r.d = diff;
			r.at = v;
		}
	}
	return r;
}
