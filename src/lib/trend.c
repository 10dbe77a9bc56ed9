#include "trend.h"
#include "mem.h"
#include "serial.h"
#include "spike.h"
#include "stats.h"
#include "tdist.h"

#include <math.h>
#include <stdlib.h>

#define CHANCE .001
#define BETTER 5 /* logarithm of the likelihood */
#define PLACES 40
#define FITTED 4 /* parameters: level, slope and its two ends */

/* Sums of x less its mean, and of it times its index, of the first i points. */
struct sums {
	size_t n;
	double mean, squares;
	double *x, *tx;
};

/* A fit by the regressor u: 0 up to 'first', then the index, up to 'last'. */
struct fit {
	size_t first, last;
	double slope, u, uu; /* mean of u; sum of squares around it */
	double rss;
};

static struct sums
add_up(const double *x, size_t n)
{
	struct sums s = {.n = n,
	    .x = mem_array(n + 1, sizeof *s.x),
	    .tx = mem_array(n + 1, sizeof *s.tx)};

	s.squares = stats_squares(x, n, &s.mean);
	for (size_t i = 0; i < n; i++) {
		s.x[i + 1] = s.x[i] + x[i] - s.mean;
		s.tx[i + 1] = s.tx[i] + (x[i] - s.mean) * (double)i;
	}
	return s;
}

static struct fit
fit_slope(const struct sums *s, size_t first, size_t last)
{
	struct fit f = {.first = first, .last = last};
	double k = (double)(last - first), n = (double)s->n;
	double after = n - 1 - (double)last; /* points behind the slope */
	double sum = k * (k + 1) / 2 + after * k;
	double squares = k * (k + 1) * (2 * k + 1) / 6 + after * k * k;
	double ux = s->tx[last + 1] - s->tx[first] -
	    (double)first * (s->x[last + 1] - s->x[first]) -
	    k * s->x[last + 1]; /* all points add up to 0 */

	f.u = sum / n;
	f.uu = squares - sum * f.u;
	f.slope = ux / f.uu;
	f.rss = fmax(0, s->squares - f.slope * ux);
	return f;
}

/* Calls for each slope of the grid. */
typedef void visit_fit(void *arg, const struct fit *);

static void
visit_grid(const struct sums *s, visit_fit *visit, void *arg)
{
	size_t grid = (s->n - 1 + PLACES - 1) / PLACES;

	for (size_t i = 0; i + TREND_SPAN < s->n; i += grid)
		for (size_t end = 0; end + i + TREND_SPAN < s->n; end += grid) {
			struct fit f = fit_slope(s, i, s->n - 1 - end);

			visit(arg, &f);
		}
}

/* Calls for the slopes whose ends are near these, closer than the grid is. */
static void
visit_around(const struct sums *s, size_t first, size_t last, visit_fit *visit,
    void *arg)
{
	size_t by = s->n / PLACES / 4 + 1, reach = 4 * by;
	size_t from = first < reach ? first % by : first - reach;
	size_t top = last + reach < s->n ? last + reach : s->n - 1;

	for (; from <= first + reach; from += by)
		for (size_t to = top; to >= from + TREND_SPAN; to -= by) {
			struct fit f = fit_slope(s, from, to);

			visit(arg, &f);
			if (to + reach < last + by || to < by)
				break;
		}
}

static void
take_better(void *arg, const struct fit *f)
{
	struct fit *best = arg;

	if (f->rss < best->rss * (1 - 1e-9))
		*best = *f;
}

/* Moves the ends of the best slope of the grid to where it is better. */
static struct fit
refine_slope(const struct sums *s, struct fit best)
{
	for (size_t by = s->n / PLACES + 1; by; by /= 2)
		for (double before = INFINITY; best.rss < before;) {
			struct fit f = best, one;

			before = best.rss;
			for (int k = 0; k < 4; k++) {
				size_t first = f.first, last = f.last;

				first += k == 0 ? by : 0;
				first -= k == 1 && first >= by ? by : 0;
				last += k == 2 && last + by < s->n ? by : 0;
				last -= k == 3 ? by : 0;
				if (first + TREND_SPAN > last)
					continue;
				one = fit_slope(s, first, last);
				take_better(&best, &one);
			}
		}
	return best;
}

/* A profile likelihood: what the slopes of the grid change in all, within
 * 'rss' of squares. */
struct profile {
	double rss;
	struct trend *t;
};

static void
widen_interval(void *arg, const struct fit *f)
{
	struct profile *p = arg;
	double span = (double)(f->last - f->first), half;

	if (f->rss > p->rss)
		return;
	half = sqrt((p->rss - f->rss) / f->uu);
	p->t->lo = fmin(p->t->lo, (f->slope - half) * span);
	p->t->hi = fmax(p->t->hi, (f->slope + half) * span);
}

/* Returns the sum of squares that the best step leaves. */
static double
fit_best_step(const struct sums *s)
{
	double best = 0;

	for (size_t i = SPIKE_POINTS; i + SPIKE_POINTS <= s->n; i++) {
		double m = (double)i, n = (double)(s->n - i);

		best = fmax(best, s->x[i] * s->x[i] * (1 / m + 1 / n));
	}
	return fmax(0, s->squares - best);
}

/* Returns f of the residuals of a fit. */
static double
measure_inflation(const double *x, const struct sums *s, const struct fit *f)
{
	double last = 0, products = 0;

	for (size_t i = 0; i < s->n; i++) {
		size_t at = i < f->first ? f->first : i;
		double u = (double)((at < f->last ? at : f->last) - f->first);
		double e = x[i] - s->mean - f->slope * (u - f->u);

		products += i ? e * last : 0;
		last = e;
	}
	return serial_inflation(
	    serial_correct(f->rss > 0 ? products / f->rss : 0, s->n),
	    (double)s->n);
}

/* Sets the interval, with n / inflation points that count. */
static void
measure_interval(struct trend *t, const struct sums *s, double inflation)
{
	double q = tdist_quantile(.975, t->df);
	double left = (double)s->n - FITTED * inflation;
	struct profile p = {t->rss * (1 + q * q * inflation / left), t};

	t->lo = t->hi = t->end - t->begin;
	visit_grid(s, widen_interval, &p);
	visit_around(s, t->first, t->last, widen_interval, &p);
}

bool
trend_find(const double *x, size_t n, struct trend *t)
{
	double inflation, count;
	bool found = false;
	struct sums s;
	struct fit f;

	if (n < TREND_LEAST)
		return false;
	s = add_up(x, n);
	f = fit_slope(&s, 0, n - 1);
	visit_grid(&s, take_better, &f);
	f = refine_slope(&s, f);
	inflation = measure_inflation(x, &s, &f);
	count = (double)n / inflation;
	*t = (struct trend){.first = f.first,
	    .last = f.last,
	    .begin = s.mean - f.slope * f.u,
	    .df = count - FITTED,
	    .rss = f.rss};
	t->end = t->begin + f.slope * (double)(f.last - f.first);
	if (t->df >= 1 && f.slope != 0) {
		double se = sqrt(f.rss / ((double)n - FITTED * inflation) *
		    inflation / f.uu);
		double p = se > 0 ? 2 * tdist_sf(fabs(f.slope) / se, t->df) : 0;

		t->se = se * (double)(f.last - f.first);
		found = p < CHANCE &&
		    count / 2 * log(fit_best_step(&s) / f.rss) > BETTER;
	}
	if (found)
		measure_interval(t, &s, inflation);
	free(s.x);
	free(s.tx);
	return found;
}

double
trend_bend(const double *x, size_t n, double mean, double m2)
{
	double c = (double)(n - 1) / 2, bend = ((double)n * (double)n - 1) / 12;
	double sxt = 0, stt = 0, sxp = 0, spp = 0;

	for (size_t i = 0; i < n; i++) {
		double t = (double)i - c, p = t * t - bend, d = x[i] - mean;

		sxt += d * t;
		stt += t * t;
		sxp += d * p;
		spp += p * p;
	}
	return fmax(0, m2 - sxt * sxt / stt - sxp * sxp / spp);
}
