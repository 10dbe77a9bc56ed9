/* Runs that resemble their neighbours: what they are worth, and what it does to
 * false alarms. */
#include "tap.h"

#include "rng.h"
#include "serial.h"
#include "verdict.h"

#include <string.h>

enum { SIMULATIONS = 1000 };

static double
normal(struct rng *r)
{
	return sqrt(2 * rng_exponential(r)) * cos(2 * M_PI * rng_unit(r));
}

/* A first-order autoregression of variance 1. */
static void
walk(struct rng *rng, double r, double *v, size_t n, double cv)
{
	double e = normal(rng);

	for (size_t i = 0; i < n; i++) {
		v[i] = 1e5 * exp(cv * e);
		e = r * e + sqrt(1 - r * r) * normal(rng);
	}
}

struct rates {
	int plain, allowed; /* p below .05, of SIMULATIONS */
	int before, alarms; /* the same with a margin of 2 % */
	int equal;          /* shown to be, beyond what the margin allows */
};

static struct rates
simulate(uint64_t seed, size_t n, double r, double cv, double change)
{
	struct rates o = {0};
	struct rng rng;

	rng_seed(&rng, seed, 0);
	for (int i = 0; i < SIMULATIONS; i++) {
		double x[40], y[40];
		struct serial s;
		struct verdict_facts f;
		enum verdict v;
		bool certain;

		walk(&rng, r, x, n, cv);
		walk(&rng, r, y, n, cv);
		for (size_t k = 0; k < n; k++)
			y[k] *= 1 + change;
		s = serial_measure(x, n, y, n);
		f = verdict_measure_looked(x, n, y, n, false, .05, .10, &s);
		o.plain += f.p < .05;
		v = verdict_decide(&f, METRIC_HIGHER, .02, f.p, .05, &certain);
		o.before += v <= VERDICT_IMPROVEMENT;
		v = verdict_decide(
		    &f, METRIC_HIGHER, .02, verdict_p(&f), .05, &certain);
		o.allowed += verdict_p(&f) < .05;
		o.alarms += v <= VERDICT_IMPROVEMENT;
		o.equal += v == VERDICT_EQUIVALENT;
	}
	return o;
}

static void
rates(void)
{
	struct rates o;

	o = simulate(1, 10, .4, .02, 0);
	tap_ok(
	    o.plain > 140 && o.allowed < 115 && o.before > 90 && o.alarms <= 65,
	    "10 runs at .4: %d of 1000 without, %d with; beyond 2%% %d and %d",
	    o.plain, o.allowed, o.before, o.alarms);
	o = simulate(2, 20, .4, .02, 0);
	tap_ok(o.plain > 150 && o.allowed < 100 && o.alarms <= 50,
	    "20 runs at .4: %d, %d, %d", o.plain, o.allowed, o.alarms);
	o = simulate(3, 40, .6, .02, 0);
	tap_ok(o.plain > 270 && o.allowed < 90 && o.alarms <= 50,
	    "40 runs at .6: %d, %d, %d", o.plain, o.allowed, o.alarms);
	o = simulate(4, 20, 0, .02, 0);
	tap_ok(o.plain - o.allowed < 15 && o.allowed > 25,
	    "independent ones: %d and %d", o.plain, o.allowed);
	o = simulate(5, 20, 0, .02, -.05);
	tap_ok(o.alarms > 970, "-5%% is found in %d of 1000", o.alarms);
	o = simulate(6, 20, .6, .02, .02 / .98);
	tap_ok(o.equal <= 100,
	    "a change as large as the margin is \"none\" in "
	    "%d of 1000",
	    o.equal);
}

/* A rank test of eight runs worth two cannot say it. */
static void
large(void)
{
	double x[] = {6.1, 6.2, 6.2, 6.3, 6.4, 6.3, 6.5, 6.4}, y[8];
	struct serial s;
	struct verdict_facts f;

	for (int i = 0; i < 8; i++)
		y[i] = 30 * x[i];
	s = serial_measure(x, 8, y, 8);
	f = verdict_measure_looked(x, 8, y, 8, false, .05, .10, &s);
	tap_ok(s.effective[0] < 3 && verdict_p(&f) < .05 && f.lo90 > 5,
	    "a factor of thirty is not noise: worth %.1f, p %.2g",
	    s.effective[0], verdict_p(&f));
	y[3] = 0;
	f = verdict_measure_looked(x, 8, y, 8, false, .05, .10, &s);
	tap_ok(f.serial.r == 0 && verdict_p(&f) == f.p,
	    "without logarithms the ranks stay");
}

static void
defined(void)
{
	double up[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, down[10], flat[10];
	double saw[] = {1, 9, 2, 8, 3, 7, 1, 9, 2, 8}, big[10];
	struct serial s, t;
	double df;

	for (int i = 0; i < 10; i++) {
		down[i] = up[9 - i];
		flat[i] = 3;
		big[i] = exp(up[i]);
	}
	for (size_t n = 0; n < SERIAL_LEAST; n++) {
		s = serial_measure(up, n, up, 10);
		tap_ok(s.r == 0 && s.effective[0] == (double)n &&
			s.effective[1] == 10,
		    "%zu runs say nothing", n);
	}
	s = serial_measure(flat, 10, flat, 10);
	tap_ok(s.r == 0, "equal values give no correlation");
	s = serial_measure(saw, 10, saw, 10);
	tap_ok(s.r == 0 && s.effective[0] == 10, "a saw is worth what it is");
	s = serial_measure(up, 10, down, 10);
	tap_ok(s.r == .99 && s.effective[0] > 1 && s.effective[0] < 1.1,
	    "a trend is worth one run");
	t = serial_measure(big, 10, down, 10);
	tap_ok(s.r == t.r && s.effective[0] == t.effective[0],
	    "whatever its scale");
	s = serial_measure(up, 8, saw, 10);
	t = serial_measure(saw, 10, up, 8);
	tap_ok(s.r == t.r && s.effective[0] == t.effective[1] &&
		s.effective[1] == t.effective[0],
	    "the sides are treated alike");
	s = (struct serial){.5, {4, 5}};
	tap_near(serial_inflation(&s, 12, 15), 3, 1e-12, "a third is left");
	tap_near(serial_se(&s, 12, 15, (double[]){2, 5}, &df),
	    sqrt(4. * 11 / 12 / 3 + 25. * 14 / 15 / 4), 1e-12,
	    "the standard error is of what runs are worth");
	tap_ok(df > 4 && df < 7, "Welch's degrees of freedom too: %g", df);
	serial_se(
	    &(struct serial){.99, {1.01, 1.01}}, 10, 10, (double[]){1, 1}, &df);
	tap_ok(df == 1, "at least one degree of freedom is left");
	s = serial_independent(12, 15);
	tap_near(serial_se(&s, 12, 15, (double[]){2, 5}, &df),
	    sqrt(4. / 12 + 25. / 15), 1e-12,
	    "the standard error of independent runs is that of all runs");
	s = serial_independent(12, 15);
	tap_ok(s.r == 0 && serial_inflation(&s, 12, 15) == 1,
	    "independent runs: no effect");
}

int
main(void)
{
	defined();
	large();
	rates();
	return tap_done();
}
