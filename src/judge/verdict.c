#include "verdict.h"
#include "counted.h"
#include "model.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Instructions that a system call which switches threads takes the time of. */
#define SYSCALL_COST 10000.0

/* In records, and for people. */
static const struct {
	const char *name, *word;
} names[VERDICTS] = {
    [VERDICT_REGRESSION] = {"regression", "worse"},
    [VERDICT_IMPROVEMENT] = {"improvement", "better"},
    [VERDICT_DIFFERENT] = {"different", "different"},
    [VERDICT_LIKELY_REGRESSION] = {"likely regression", "likely worse"},
    [VERDICT_LIKELY_IMPROVEMENT] = {"likely improvement", "likely better"},
    [VERDICT_LIKELY_DIFFERENT] = {"likely different", "likely different"},
    [VERDICT_EQUIVALENT] = {"equivalent", "no change"},
    [VERDICT_INCONCLUSIVE] = {"inconclusive", "undecided"},
    [VERDICT_INSUFFICIENT] = {"insufficient", "too few runs"},
};

const char *
verdict_name(enum verdict v)
{
	return names[v].name;
}

const char *
verdict_word(enum verdict v)
{
	return names[v].word;
}

enum verdict
verdict_find(const char *name)
{
	enum verdict v = 0;

	while (v < VERDICTS && strcmp(verdict_name(v), name) != 0)
		v++;
	return v;
}

const enum verdict verdict_order[VERDICTS] = {VERDICT_REGRESSION,
    VERDICT_LIKELY_REGRESSION, VERDICT_IMPROVEMENT, VERDICT_LIKELY_IMPROVEMENT,
    VERDICT_DIFFERENT, VERDICT_LIKELY_DIFFERENT, VERDICT_INCONCLUSIVE,
    VERDICT_INSUFFICIENT, VERDICT_EQUIVALENT};

size_t
verdict_rank(enum verdict v)
{
	size_t rank = 0;

	while (rank < VERDICTS && verdict_order[rank] != v)
		rank++;
	return rank;
}

enum verdict
verdict_foremost(const size_t count[VERDICTS])
{
	for (size_t i = 0; i < VERDICTS; i++)
		if (count[verdict_order[i]])
			return verdict_order[i];
	return VERDICTS;
}

bool
verdict_is_likely(enum verdict v)
{
	return v >= VERDICT_LIKELY_REGRESSION && v <= VERDICT_LIKELY_DIFFERENT;
}

bool
verdict_is_hopeless(double needed, double have, double minutes)
{
	return isnan(minutes) ? needed > 100 && needed > 10 * have
			      : minutes > 60;
}

/* Sets an exact ratio. Without two values on each side it has no interval. */
static void
set_single_ratio(struct verdict_facts *f, const char *method, double ratio)
{
	f->method = method;
	f->ratio = ratio;
	if (f->m > 1 && f->n > 1)
		f->lo95 = f->hi95 = f->lo90 = f->hi90 = ratio;
}

struct verdict_facts
verdict_start(const double *x, size_t m, const double *y, size_t n)
{
	struct verdict_facts f = {.m = m,
	    .n = n,
	    .method = "runs",
	    .ratio = NAN,
	    .lo95 = NAN,
	    .hi95 = NAN,
	    .lo90 = NAN,
	    .hi90 = NAN,
	    .change = NAN,
	    .se = NAN,
	    .df = NAN,
	    .wide = NAN,
	    .least = NAN,
	    .rest = NAN,
	    .p = NAN,
	    .sd = NAN};
	double *sx = stats_sorted(x, m), *sy = stats_sorted(y, n);

	f.median[0] = stats_median(sx, m);
	f.median[1] = stats_median(sy, n);
	free(sx);
	free(sy);
	return f;
}

void
verdict_take_change(struct verdict_facts *f, const struct model_row *r)
{
	double wide;

	f->change = r->change;
	if (f->median[0] > 0 && f->median[1] >= 0)
		f->ratio = r->logs ? exp(f->change) : 1 + f->change;
	if (r->own.df < 1)
		return;
	f->se = sqrt(r->error.var);
	f->df = r->error.df;
	if (!r->logs)
		return;
	wide = model_half_width(r, .95);
	f->lo95 = exp(f->change - wide);
	f->hi95 = exp(f->change + wide);
}

void
verdict_take(struct verdict_facts *f, const struct model_row *r)
{
	verdict_take_change(f, r);
	f->paired = r->pairs > 0;
	f->method = r->pairs ? "rounds" : r->shared > 0 ? "sessions" : "runs";
	if (r->own.df < 1)
		return;
	f->wide = model_half_width(r, .90);
	f->least = r->least;
	f->p = fmax(r->down, r->up);
	f->up = r->up > r->down;
	if (!r->logs)
		return;
	f->lo90 = exp(f->change - f->wide);
	f->hi90 = exp(f->change + f->wide);
}

void
verdict_make_identical(struct verdict_facts *f)
{
	f->lo95 = f->hi95 = f->lo90 = f->hi90 = NAN;
	set_single_ratio(f, "identical", 1);
	f->change = f->least = f->wide = 0;
	f->rest = NAN;
	f->p = 0;
}

static void
find_range(const double *v, size_t n, double *least, double *most)
{
	*least = *most = v[0];
	for (size_t i = 1; i < n; i++) {
		*least = fmin(*least, v[i]);
		*most = fmax(*most, v[i]);
	}
}

struct verdict_facts
verdict_measure_exact(const double *x, size_t m, const double *y, size_t n)
{
	struct verdict_facts f = verdict_start(x, m, y, n);
	double a = f.median[0], b = f.median[1], least[2], most[2];

	find_range(x, m, &least[0], &most[0]);
	find_range(y, n, &least[1], &most[1]);
	f.assumed = true;
	f.method = "assumed";
	f.ratio = a > 0 && b >= 0 ? b / a : NAN;
	if (least[0] == most[0] && least[1] == most[1]) {
		set_single_ratio(&f, f.method, f.ratio);
		f.sd = 0;
	} else if (least[0] > 0 && least[1] >= 0) {
		f.lo95 = f.lo90 = least[1] / most[0];
		f.hi95 = f.hi90 = most[1] / least[0];
	}
	return f;
}

bool
verdict_is_spread(const struct verdict_facts *f)
{
	return f->assumed && isnan(f->sd) && !isnan(f->lo90);
}

/* Returns the ratio, or where it is undefined, 0, 1 or INFINITY. */
static double
estimate_ratio(const struct verdict_facts *f)
{
	if (!isnan(f->ratio))
		return f->ratio;
	return f->median[0] == f->median[1] ? 1
	    : f->median[1] > f->median[0]   ? INFINITY
					    : 0;
}

const char *
verdict_name_zero(double before, double now)
{
	if (before == 0 && now == 0)
		return "0 as before";
	if (before == 0 && now > 0)
		return "up from 0";
	return now == 0 && before > 0 ? "down to 0" : NULL;
}

enum verdict
verdict_direction(enum metric_better better, bool up)
{
	if (better == METRIC_NEITHER)
		return VERDICT_DIFFERENT;
	return (better == METRIC_HIGHER) == up ? VERDICT_IMPROVEMENT
					       : VERDICT_REGRESSION;
}

bool
verdict_is_beyond(const struct verdict_facts *f, double estimate, double margin)
{
	return f->up == (estimate > 0) && fabs(estimate) > -log1p(-margin);
}

struct claim
verdict_make_claim(const struct verdict_facts *f, double margin)
{
	bool enough = f->m >= VERDICT_RUNS && f->n >= VERDICT_RUNS;

	return (struct claim){.p = f->p,
	    .beyond = !f->assumed && enough &&
		verdict_is_beyond(f, f->least, margin) &&
		(verdict_is_beyond(f, f->change, margin) ||
		    verdict_is_beyond(f, f->rest, margin))};
}

/* The verdict of a metric without noise. */
static enum verdict
decide_exact(
    const struct verdict_facts *f, enum metric_better better, double margin)
{
	/* Symmetric in logarithms: swapping the sides keeps the margin. */
	double low = 1 - margin, high = 1 / low, rho = estimate_ratio(f);

	if (verdict_is_spread(f)) {
		if (f->lo90 > low && f->hi90 < high)
			return VERDICT_EQUIVALENT;
		return f->hi90 < low || f->lo90 > high
		    ? verdict_direction(better, rho > high)
		    : VERDICT_INCONCLUSIVE;
	}
	return rho < low || rho > high ? verdict_direction(better, rho > high)
				       : VERDICT_EQUIVALENT;
}

enum verdict
verdict_decide(const struct verdict_facts *f, enum metric_better better,
    double margin, enum claim_word word)
{
	enum verdict way = verdict_direction(better, f->up);
	double most = -log1p(-margin);

	if (f->assumed)
		return decide_exact(f, better, margin);
	if (f->m < VERDICT_RUNS || f->n < VERDICT_RUNS)
		return VERDICT_INSUFFICIENT;
	if (word == CLAIM_CHANGE)
		return way;
	if (word == CLAIM_LIKELY_CHANGE)
		return way + VERDICT_LIKELY_REGRESSION;
	return fabs(f->change) + f->wide <= most ? VERDICT_EQUIVALENT
						 : VERDICT_INCONCLUSIVE;
}

bool
verdict_is_slight(const char *name, const struct verdict_facts *rise)
{
	return strcmp(name, COUNTED_METRIC) == 0 && rise->ratio > 1 &&
	    rise->ratio < 1 + VERDICT_SLIGHT;
}

const char *
verdict_name_outweighed(const char *name, const struct verdict_facts *rise)
{
	return verdict_is_slight(name, rise)
	    ? "not slower"
	    : "outweighed by less work or time";
}

bool
verdict_outweighs(const struct verdict_other *by, const char *name,
    const struct verdict_facts *rise)
{
	bool work = strcmp(by->name, COUNTED_METRIC) == 0;
	bool time = by->time ||
	    strcmp(metric_base(by->name), "server_cpu_us_per_req") == 0;
	bool sure = by->verdict == VERDICT_IMPROVEMENT;
	double saved = by->facts->median[0] - by->facts->median[1];
	double calls = rise->median[1] - rise->median[0];

	if (verdict_is_slight(name, rise))
		return by->time && (sure || by->verdict == VERDICT_EQUIVALENT);
	if (strcmp(name, "allocations_per_req") == 0)
		return (sure || by->verdict == VERDICT_LIKELY_IMPROVEMENT) &&
		    (time || work);
	return strcmp(name, "syscalls_per_req") == 0 && sure &&
	    (time || (work && saved > SYSCALL_COST * calls));
}
