#include "model.h"
#include "effect.h"
#include "odds.h"
#include "tdist.h"

#include <math.h>

int
model_compare_runs(const void *a, const void *b)
{
	const struct model_run *x = a, *y = b;

	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

void
model_judge(struct model_row *rows, size_t n, const struct model_prior *p,
    struct model_metric *m)
{
	effect_estimate(rows, n, p, m);
	odds_judge(rows, n, m);
}

double
model_half_width(const struct model_row *r, double conf)
{
	return sqrt(r->error.var) * tdist_quantile(.5 + conf / 2, r->error.df) +
	    r->step;
}
