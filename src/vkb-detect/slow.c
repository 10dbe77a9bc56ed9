#include "slow.h"
#include "changepoint.h"
#include "finding.h"
#include "mem.h"
#include "spike.h"
#include "trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Collects the points of a level and their indexes. Returns their number. */
static size_t
collect_level(const double *v, size_t from, size_t to,
    const struct changepoint *c, size_t n, double *x, size_t *at)
{
	size_t k = 0;

	for (size_t i = from; i < to; i++) {
		while (n && (!c->spike || c->to <= i)) {
			c++;
			n--;
		}
		if (!isfinite(v[i]) || (n && c->at <= i))
			continue;
		x[k] = v[i];
		at[k++] = i;
	}
	return k;
}

static void
describe_slope(struct finding *f, const struct trend *t)
{
	double all = t->end - t->begin, ends[2];

	memset(&f->facts, 0, sizeof f->facts);
	f->facts.median[0] = t->begin;
	f->facts.median[1] = t->end;
	f->facts.ratio = f->facts.lo95 = f->facts.hi95 = NAN;
	f->facts.lo90 = f->facts.hi90 = f->facts.p_min = NAN;
	f->facts.p = f->p = t->p;
	f->pace = NAN;
	f->method = "t";
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
	size_t k = collect_level(v, from, to, c, n, x, at);
	struct trend t;
	bool found =
	    trend_find(x, k, &t) && spike_size(t.begin, t.end) > f->margin;

	if (found) {
		f->at = f->lo = at[t.first];
		f->hi = at[t.last];
		f->n[0] = t.first;
		f->n[1] = t.last - t.first + 1;
		f->doubtful = !trend_is_certain(&t, finding_strictness(f));
		describe_slope(f, &t);
	}
	free(x);
	free(at);
	return found;
}
