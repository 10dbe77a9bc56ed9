#include "steps.h"
#include "branch.h"
#include "changepoint.h"
#include "mem.h"

#include <math.h>
#include <stdbool.h>

/* The smallest and the largest value of a point. */
struct span {
	double least, most;
};

static struct span
find_span(const struct branch_values *s, size_t at)
{
	struct span of = {INFINITY, -INFINITY};

	for (size_t k = s->first[at]; k < s->first[at + 1]; k++) {
		of.least = fmin(of.least, s->all[k]);
		of.most = fmax(of.most, s->all[k]);
	}
	return of;
}

/* Are all values of one point beyond the margin of all of the other? */
static bool
is_beyond(struct span low, struct span high, double margin)
{
	return low.most < high.least &&
	    !(low.most >= high.least * (1 - margin));
}

size_t
steps_find(const struct branch_values *s, size_t n, double margin,
    struct changepoint **found)
{
	struct changepoint *c = mem_array(n + 1, sizeof *c);
	struct span before = {0, 0}, now;
	size_t k = 0, last = n, level = 0;
	const double *v = s->v;

	for (size_t i = 0; i < n; i++) {
		if (isnan(v[i]))
			continue;
		now = find_span(s, i);
		if (last < n &&
		    (is_beyond(now, before, margin) ||
			is_beyond(before, now, margin))) {
			c[k++] = (struct changepoint){.at = i,
			    .from = level,
			    .lo = last + 1,
			    .hi = i,
			    .p = NAN};
			level = i;
		} else if (last < n &&
		    now.most - now.least > before.most - before.least &&
		    !(now.least >= now.most * (1 - margin)))
			continue;
		last = i;
		before = now;
	}
	for (size_t i = 0; i < k; i++) {
		c[i].to = i + 1 < k ? c[i + 1].at : n;
		for (size_t j = c[i].from; j < c[i].to; j++)
			c[i].n[j >= c[i].at] += !isnan(v[j]);
	}
	*found = c;
	return k;
}
