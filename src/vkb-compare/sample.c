#include "sample.h"
#include "mem.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct sample sample_none;

void
sample_add(
    struct sample *s, const double *v, const struct round *rounds, size_t n)
{
	s->v = mem_resize(s->v, s->n + n, sizeof *s->v);
	s->rounds = mem_resize(s->rounds, s->n + n, sizeof *s->rounds);
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(v[i]))
			continue;
		s->v[s->n] = v[i];
		s->rounds[s->n++] =
		    rounds ? rounds[i] : (struct round){.block = NAN};
	}
}

double
sample_median(const struct sample *s)
{
	double *sorted = stats_sorted(s->v, s->n);
	double median = stats_median(sorted, s->n);

	free(sorted);
	return median;
}

static int
compare_numbers(double x, double y)
{
	if (isnan(x) || isnan(y))
		return !isnan(y) - !isnan(x);
	return (x > y) - (x < y);
}

int
sample_compare(const struct sample *a, const struct sample *b, bool rounds)
{
	int c = (a->n > b->n) - (a->n < b->n);

	for (size_t i = 0; i < a->n && !c; i++)
		c = compare_numbers(a->v[i], b->v[i]);
	for (size_t i = 0; i < a->n && !c && rounds; i++) {
		const struct round *x = &a->rounds[i], *y = &b->rounds[i];

		c = compare_numbers(x->block, y->block);
		c = c ? c
		      : strcmp(x->session ? x->session : "",
			    y->session ? y->session : "");
	}
	return c;
}

void
sample_free(struct sample *s)
{
	free(s->v);
	free(s->rounds);
	*s = (struct sample){0};
}
