#include "slow.h"
#include "changepoint.h"
#include "finding.h"
#include "mem.h"
#include "spike.h"
#include "trend.h"
#include "weighing.h"

#include <math.h>
#include <stdlib.h>

static void
describe_slope(struct finding *f, const struct trend *t)
{
	double all = t->end - t->begin, ends[2];

	f->facts = verdict_start(&t->begin, 1, &t->end, 1);
	f->pace = NAN;
	f->method = "slope";
	f->kind = FINDING_TREND;
	f->way =
	    (enum finding_kind)verdict_direction(f->metric.better, all > 0);
	if (!(t->begin > 0) || !(t->end > 0))
		return;
	ends[0] = 1 + t->lo / t->begin;
	ends[1] = 1 + t->hi / t->begin;
	f->facts.ratio = t->end / t->begin;
	f->facts.lo95 = fmax(0, ends[0]);
	f->facts.hi95 = ends[1];
	f->pace = (f->facts.ratio - 1) / (double)(f->n[1] - 1);
}

bool
slow_find(struct finding *f, const double *v, size_t from, size_t to,
    const struct changepoint *c, size_t n)
{
	double *x = mem_array(to - from + 1, sizeof *x);
	size_t *at = mem_array(to - from + 1, sizeof *at);
	size_t k = weighing_collect(v, from, to, c, n, x, at);
	struct trend t;
	bool found =
	    trend_find(x, k, &t) && spike_size(t.begin, t.end) > f->margin;

	if (found) {
		f->at = f->lo = at[t.first];
		f->hi = at[t.last];
		f->n[0] = t.first;
		f->n[1] = t.last - t.first + 1;
		describe_slope(f, &t);
		weighing_slope(f, &t);
	}
	free(x);
	free(at);
	return found;
}
