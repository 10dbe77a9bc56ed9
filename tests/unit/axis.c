/* The axes of plots: for all values, ticks are few, rise, lie on the axis, and
 * have different labels. */
#include "rng.h"
#include "tap.h"
#include "axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int
good(const struct axis *a, size_t wanted)
{
	double v[AXIS_TICKS];
	size_t n = axis_ticks(a, wanted, v);
	char buf[NUM_BUF], was[NUM_BUF] = "";

	if (n > AXIS_TICKS)
		return 0;
	for (size_t i = 0; i < n; i++) {
		double at = axis_position(a, v[i]);

		axis_text(a, v[i], buf);
		if (!(at > -1e-6 && at < 1 + 1e-6) || (i && v[i] <= v[i - 1]) ||
		    strcmp(buf, was) == 0) {
			printf("# %g..%g: tick %zu of %zu, %.17g at %g '%s', "
			       "before '%s'\n",
			    a->lo, a->hi, i, n, v[i], at, buf, was);
			return 0;
		}
		memcpy(was, buf, sizeof was);
	}
	return 1;
}

static void
many(enum axis_scale scale, const char *what)
{
	struct rng r;
	int bad = 0, none = 0;
	double v[AXIS_TICKS];

	rng_seed(&r, 7, 0);
	for (int i = 0; i < 20000; i++) {
		struct axis a = AXIS(scale, NULL);
		double size = pow(10, 30 * rng_unit(&r) - 12);

		for (int k = 0; k < 3; k++)
			axis_fit(&a,
			    scale == AXIS_TAIL
				? 1 - pow(10, -7 * rng_unit(&r))
				: size * pow(10, 3 * rng_unit(&r)) *
				    (scale == AXIS_LINEAR && k ? -1 : 1));
		axis_add_margin(&a);
		bad += !good(&a, 4 + (size_t)i % 5);
		none += !axis_ticks(&a, 5, v) && scale != AXIS_TAIL;
	}
	tap_ok(bad == 0, "%s: %d axes are wrong", what, bad);
	tap_ok(none == 0, "%s: %d axes have no ticks", what, none);
}

static void
ends(void)
{
	static const double odd[] = {
	    0, 1, -1, 1e308, -1e308, 5e-324, 1e-300, NAN, INFINITY, -INFINITY};
	static const enum axis_scale scales[] = {AXIS_LINEAR, AXIS_LOG};
	int bad = 0;
	double v[AXIS_TICKS];

	for (size_t s = 0; s < 2; s++)
		for (size_t i = 0; i < 10; i++)
			for (size_t k = 0; k < 10; k++) {
				struct axis a = AXIS(scales[s], NULL);

				axis_fit(&a, odd[i]);
				axis_fit(&a, odd[k]);
				axis_add_margin(&a);
				bad += axis_ticks(&a, 5, v) > AXIS_TICKS;
			}
	tap_ok(bad == 0, "the smallest and the largest values");
}

static void
texts(void)
{
	static const struct {
		double v;
		const char *text;
	} largest[] = {{9999, "9999"}, {1e4, "10K"}, {999e3, "999K"},
	    {1e6, "1M"}, {999e6, "999M"}, {1e9, "1G"}, {-1e9, "-1G"}};
	struct axis a = AXIS(AXIS_LINEAR, NULL);
	double v[AXIS_TICKS];
	char buf[NUM_BUF];

	axis_fit(&a, 0);
	axis_fit(&a, 756000);
	axis_add_margin(&a);
	tap_ok((int)axis_ticks(&a, 4, v) == 5, "five ticks of 0..756000");
	tap_str(axis_text(&a, v[1], buf), "200K", "a tick is in thousands");
	for (size_t i = 0; i < sizeof largest / sizeof *largest; i++) {
		a = AXIS(AXIS_LINEAR, NULL);
		axis_fit(&a, 0);
		axis_fit(&a, largest[i].v);
		tap_str(axis_text(&a, largest[i].v, buf), largest[i].text,
		    "the unit of an axis");
	}
	a = AXIS(AXIS_TAIL, NULL);
	tap_str(axis_text(&a, .999, buf), "99.9%", "a percentile");
	axis_fit(&a, 0);
	axis_fit(&a, .9999);
	tap_ok((int)axis_ticks(&a, 4, v) == 5,
	    "percentiles: one tick for 50%%, one for each further nine");
}

int
main(void)
{
	many(AXIS_LINEAR, "linear axes");
	many(AXIS_LOG, "logarithmic axes");
	many(AXIS_TAIL, "tails");
	ends();
	texts();
	return tap_done();
}
