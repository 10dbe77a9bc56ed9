#include "verdict.h"
#include "mem.h"
#include "power.h"
#include "ranktest.h"
#include "serial.h"
#include "stats.h"
#include "tdist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *
verdict_name(enum verdict v)
{
	static const char *const names[VERDICTS] = {"regression", "improvement",
	    "different", "likely regression", "likely improvement",
	    "likely different", "equivalent", "inconclusive", "insufficient"};

	return names[v];
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

static bool
is_constant(const double *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i] != v[0])
			return false;
	return true;
}

static bool
are_all_above(const double *v, size_t n, double least, bool or_equal)
{
	for (size_t i = 0; i < n; i++)
		if (!(v[i] > least || (or_equal && v[i] == least)))
			return false;
	return true;
}

static bool
are_equal(const double *a, const double *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i] != b[i])
			return false;
	return true;
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

/* Sets the estimate and intervals from 'p' (taken); 'logs': 'p' holds
 * logarithms. */
static void
set_intervals(struct verdict_facts *f, struct ranktest_pairs *p, bool logs,
    const double level[2])
{
	double *v[] = {&f->ratio, &f->lo95, &f->hi95, &f->lo90, &f->hi90};

	f->ratio = ranktest_pairs_median(p);
	ranktest_pairs_ci(p, 1 - level[0], &f->lo95, &f->hi95);
	ranktest_pairs_ci(p, 1 - level[1], &f->lo90, &f->hi90);
	for (size_t i = 0; logs && i < sizeof v / sizeof *v; i++)
		*v[i] = exp(*v[i]);
	ranktest_pairs_free(p);
}

/* Returns the variance of n values; their mean is set, too. */
static struct moderate
measure_noise(const double *v, size_t n, double *mean)
{
	double sd = stats_sd(v, n);

	*mean = stats_mean(v, n);
	return n < 2 ? (struct moderate){NAN, 0}
		     : (struct moderate){sd * sd, (double)n - 1};
}

static struct moderate
measure_log_noise(const double *v, size_t n, double *mean)
{
	double *logs = mem_array(n, sizeof *logs);
	struct moderate noise;

	for (size_t i = 0; i < n; i++)
		logs[i] = log(v[i]);
	noise = measure_noise(logs, n, mean);
	free(logs);
	return noise;
}

static void
measure_unpaired(struct verdict_facts *f, const double *x, const double *y,
    const double level[2])
{
	struct ranktest t = ranktest_mwu(x, f->m, y, f->n);
	double mean[2];

	f->method = t.exact ? "mwu-exact" : "mwu-normal";
	f->p = t.p;
	f->p_min = t.p_min;
	f->cliff = ranktest_cliff(t.stat, f->m, f->n);
	if (!are_all_above(x, f->m, 0, false) ||
	    !are_all_above(y, f->n, 0, true))
		return;
	set_intervals(f, ranktest_ratios(x, f->m, y, f->n), false, level);
	if (!are_all_above(y, f->n, 0, false))
		return;
	f->noise[0] = measure_log_noise(x, f->m, &mean[0]);
	f->noise[1] = measure_log_noise(y, f->n, &mean[1]);
	f->sd = sqrt((f->noise[0].var + f->noise[1].var) / 2);
	f->change = mean[1] - mean[0];
}

/* ln(y/x); 99 to 100 gives exactly minus what 100 to 99 gives. */
static double
compute_log_ratio(double x, double y)
{
	return y < x ? -log(x / y) : log(y / x);
}

static void
measure_paired(struct verdict_facts *f, const double *x, const double *y,
    const double level[2])
{
	double *d = mem_array(f->n, sizeof *d);
	struct ranktest t;

	for (size_t i = 0; i < f->n; i++)
		d[i] = compute_log_ratio(x[i], y[i]);
	t = ranktest_signed(d, f->n);
	f->paired = true;
	f->method = t.exact ? "signed-rank" : "signed-rank-normal";
	f->p = t.p;
	f->p_min = t.p_min;
	set_intervals(f, ranktest_walsh(d, f->n), true, level);
	f->noise[0] = measure_noise(d, f->n, &f->change);
	f->sd = sqrt(f->noise[0].var);
	free(d);
}

double
verdict_chance(double m, double n)
{
	return 2 * exp(m * log(m / (m + n)) + n * log(n / (m + n)));
}

/* Returns facts with the medians set and all results undefined. */
static struct verdict_facts
init_facts(const double *x, size_t m, const double *y, size_t n)
{
	struct verdict_facts f = {.m = m,
	    .n = n,
	    .ratio = NAN,
	    .lo95 = NAN,
	    .hi95 = NAN,
	    .lo90 = NAN,
	    .hi90 = NAN,
	    .p = NAN,
	    .p_min = NAN,
	    .change = NAN,
	    .wider = {1, 1},
	    .se = NAN,
	    .df = NAN,
	    .cliff = NAN,
	    .sd = NAN};
	double *sx = stats_sorted(x, m), *sy = stats_sorted(y, n);

	f.median[0] = stats_median(sx, m);
	f.median[1] = stats_median(sy, n);
	free(sx);
	free(sy);
	return f;
}

struct verdict_facts
verdict_measure_same(const double *x, size_t n, bool paired)
{
	struct verdict_facts f = init_facts(x, n, x, n);

	set_single_ratio(&f, "identical", 1);
	f.paired = paired;
	return f;
}

struct verdict_facts
verdict_measure_looked(const double *x, size_t m, const double *y, size_t n,
    bool paired, double level05, double level10)
{
	struct verdict_facts f = init_facts(x, m, y, n);
	const double level[2] = {level05, level10};

	if (paired ? are_equal(x, y, n)
		   : is_constant(x, m) && is_constant(y, n) && *x == *y) {
		set_single_ratio(&f, "identical", 1);
		f.paired = paired;
	} else if (m >= VERDICT_RUNS && n >= VERDICT_RUNS &&
	    is_constant(x, m) && is_constant(y, n)) {
		set_single_ratio(
		    &f, "exact", x[0] > 0 && y[0] >= 0 ? y[0] / x[0] : NAN);
		f.p = f.p_min = verdict_chance((double)m, (double)n);
		f.cliff = y[0] > x[0] ? 1 : -1;
	} else if (paired && are_all_above(x, m, 0, false) &&
	    are_all_above(y, n, 0, false)) {
		measure_paired(&f, x, y, level);
	} else {
		measure_unpaired(&f, x, y, level);
	}
	return f;
}

struct verdict_facts
verdict_measure(
    const double *x, size_t m, const double *y, size_t n, bool paired)
{
	return verdict_measure_looked(x, m, y, n, paired, .05, .10);
}

void
verdict_set_serial(struct verdict_facts *f, double r, const size_t series[2])
{
	f->serial = r;
	for (size_t j = 0; j < 2 && r > 0; j++) {
		double n = (double)(j ? f->n : f->m) / (double)series[j];
		double factor = serial_inflation(r, n);

		if (!(n > 1))
			continue;
		/* Autocorrelated runs also vary less around their own mean. */
		f->wider[j] = factor * (n - 1) / (n - factor);
		f->noise[j].df =
		    fmax(1, f->noise[j].df * (n / factor - 1) / (n - 1));
	}
}

void
verdict_set_error(struct verdict_facts *f, const struct moderate *prior)
{
	struct moderate e[2];
	double sum;

	if (isnan(f->change))
		return;
	f->prior = *prior;
	for (size_t j = 0; j < 2; j++) {
		e[j] = moderate_shrink(f->noise[j], prior);
		e[j].var *= f->wider[j] / (double)(j ? f->n : f->m);
	}
	sum = e[0].var + (f->paired ? 0 : e[1].var);
	f->se = sqrt(sum);
	f->df = e[0].df;
	/* Both sides are shrunk to one prior, whose df count once. */
	if (!f->paired)
		f->df = fmin(sum * sum /
			(e[0].var * e[0].var / e[0].df +
			    e[1].var * e[1].var / e[1].df),
		    f->noise[0].df + f->noise[1].df + fmax(0, prior->df));
}

bool
verdict_use_t(
    struct verdict_facts *f, bool moderated, double level05, double level10)
{
	double wide;

	if (!(f->se > 0) || !(f->df > 0))
		return false;
	f->method = moderated ? "moderated-t" : "t";
	f->ratio = exp(f->change);
	f->p = 2 * tdist_sf(fabs(f->change) / f->se, f->df);
	f->p_min = 0;
	wide = f->se * tdist_quantile(1 - level05 / 2, f->df);
	f->lo95 = exp(f->change - wide);
	f->hi95 = exp(f->change + wide);
	wide = f->se * tdist_quantile(1 - level10 / 2, f->df);
	f->lo90 = exp(f->change - wide);
	f->hi90 = exp(f->change + wide);
	return true;
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

/* Sets the intervals to all ratios of a value of y to one of x. */
static void
set_spread(struct verdict_facts *f, const double *x, const double *y)
{
	double least[2], most[2];

	find_range(x, f->m, &least[0], &most[0]);
	find_range(y, f->n, &least[1], &most[1]);
	if (!(least[0] > 0) || !(least[1] >= 0))
		return;
	f->lo95 = f->lo90 = least[1] / most[0];
	f->hi95 = f->hi90 = most[1] / least[0];
}

struct verdict_facts
verdict_measure_exact(const double *x, size_t m, const double *y, size_t n)
{
	struct verdict_facts f = init_facts(x, m, y, n);
	double a = f.median[0], b = f.median[1];

	f.assumed = true;
	f.method = "assumed";
	f.ratio = a > 0 && b >= 0 ? b / a : NAN;
	if (is_constant(x, m) && is_constant(y, n)) {
		set_single_ratio(&f, f.method, f.ratio);
		f.sd = 0;
	} else {
		set_spread(&f, x, y);
	}
	return f;
}

bool
verdict_is_spread(const struct verdict_facts *f)
{
	return f->assumed && isnan(f->sd) && !isnan(f->lo90);
}

/* Returns the ratio, or if it is undefined, the ratio of the medians. */
static double
estimate_ratio(const struct verdict_facts *f)
{
	if (!isnan(f->ratio))
		return f->ratio;
	if (f->median[0] > 0 && f->median[1] >= 0)
		return f->median[1] / f->median[0];
	if (f->median[0] == f->median[1])
		return 1;
	return f->median[1] > f->median[0] ? INFINITY : 0;
}

const char *
verdict_word(enum verdict v)
{
	static const char *const words[VERDICTS] = {
	    [VERDICT_REGRESSION] = "worse",
	    [VERDICT_LIKELY_REGRESSION] = "likely worse",
	    [VERDICT_IMPROVEMENT] = "better",
	    [VERDICT_LIKELY_IMPROVEMENT] = "likely better",
	    [VERDICT_DIFFERENT] = "different",
	    [VERDICT_LIKELY_DIFFERENT] = "likely different",
	    [VERDICT_EQUIVALENT] = "no change",
	    [VERDICT_INCONCLUSIVE] = "undecided",
	    [VERDICT_INSUFFICIENT] = "too few runs"};

	return words[v];
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

enum verdict
verdict_decide(const struct verdict_facts *f, enum metric_better better,
    double margin, double p, double alpha, bool *certain)
{
	/* Symmetric in logarithms: swapping the sides keeps the margin. */
	double low = 1 - margin, high = 1 / low, rho = estimate_ratio(f);
	bool exact = isnan(f->p), beyond = rho < low || rho > high;

	/* A rise from 0 has no interval, and without noise needs none. */
	*certain = false;
	if (!f->assumed && (f->m < VERDICT_RUNS || f->n < VERDICT_RUNS))
		return VERDICT_INSUFFICIENT;
	if (verdict_is_spread(f)) {
		beyond = f->hi90 < low || f->lo90 > high;
		if (!beyond && !(f->lo90 > low && f->hi90 < high))
			return VERDICT_INCONCLUSIVE;
	}
	if ((exact || p < alpha) && beyond) {
		*certain = (f->assumed && f->sd == 0) ||
		    (rho < low ? f->hi90 < low : f->lo90 > high);
		return verdict_direction(better, rho > high);
	}
	if (beyond && (f->lo95 > 1 || f->hi95 < 1))
		return verdict_direction(better, rho > high) +
		    VERDICT_LIKELY_REGRESSION;
	if (exact || (f->lo90 > low && f->hi90 < high))
		return VERDICT_EQUIVALENT;
	return VERDICT_INCONCLUSIVE;
}

/* Returns the order of those that are not NAN, and sets *tests to their number.
 * The others are NAN in 'adjusted' too. Caller frees. */
static size_t *
order_p_values(const double *p, double *adjusted, size_t n, size_t *tests)
{
	size_t *order;

	for (size_t i = 0; i < n; i++)
		adjusted[i] = isnan(p[i]) ? INFINITY : p[i];
	order = stats_order(adjusted, n);
	for (*tests = 0; *tests < n && !isnan(p[order[*tests]]);)
		++*tests;
	for (size_t i = *tests; i < n; i++)
		adjusted[order[i]] = NAN;
	return order;
}

void
verdict_holm(const double *p, double *adjusted, size_t n)
{
	size_t tests, *order = order_p_values(p, adjusted, n, &tests);
	double most = 0;

	for (size_t i = 0; i < tests; i++) {
		most = fmax(most, fmin(1, (double)(tests - i) * p[order[i]]));
		adjusted[order[i]] = most;
	}
	free(order);
}

void
verdict_bh(const double *p, double *adjusted, size_t n)
{
	size_t tests, *order = order_p_values(p, adjusted, n, &tests);
	double least = 1;

	for (size_t i = tests; i-- > 0;) {
		double all = p[order[i]] * (double)tests;

		least = fmin(least, all / (double)(i + 1));
		adjusted[order[i]] = least;
	}
	free(order);
}
