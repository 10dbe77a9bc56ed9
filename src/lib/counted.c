#include "counted.h"
#include "metric.h"

#include <math.h>

bool
counted_may_be(const struct metric *m)
{
	return m->exact_margin > 0;
}

void
counted_make_exact(struct metric *m)
{
	m->exact = true;
	m->margin = m->exact_margin;
	m->grows = false;
}

size_t
counted_keep(bool counted, double *v, const double *counts, size_t n)
{
	size_t dropped = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(v[i]) && isnan(counts[i]) == counted) {
			v[i] = NAN;
			dropped++;
		}
	return dropped;
}

bool
counted_any(const double *v, const double *counts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isnan(v[i]) && !isnan(counts[i]))
			return true;
	return false;
}
