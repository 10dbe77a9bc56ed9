#include "axis.h"

#include <math.h>
#include <stdio.h>

void
axis_fit(struct axis *a, double v)
{
	if (!(fabs(v) < 1e300) || (a->scale == AXIS_LOG && !(v > 1e-300)) ||
	    (a->scale == AXIS_TAIL && !(v < 1)))
		return;
	if (a->lo > a->hi)
		a->lo = a->hi = v;
	else if (v < a->lo)
		a->lo = v;
	else if (v > a->hi)
		a->hi = v;
}

void
axis_add_margin(struct axis *a)
{
	double margin;

	if (a->lo > a->hi) {
		a->lo = a->scale == AXIS_LOG;
		a->hi = a->lo + 1;
	}
	if (a->scale == AXIS_TAIL)
		return;
	if (a->scale == AXIS_LOG) {
		margin = a->hi > a->lo ? pow(a->hi / a->lo, .05) : 1.25;
		a->lo /= margin;
		a->hi *= margin;
		return;
	}
	margin = a->hi > a->lo ? (a->hi - a->lo) * .06
	    : a->hi != 0       ? fabs(a->hi) * .05
			       : 1;
	a->lo -= a->lo >= 0 && a->lo < margin ? a->lo : margin;
	a->hi += margin;
}

static double
map_value(enum axis_scale scale, double v)
{
	switch (scale) {
	case AXIS_LOG:
		return log10(v);
	case AXIS_TAIL:
		return -log10(1 - v);
	default:
		return v;
	}
}

double
axis_position(const struct axis *a, double v)
{
	double lo = map_value(a->scale, a->lo), hi = map_value(a->scale, a->hi);

	return hi > lo ? (map_value(a->scale, v) - lo) / (hi - lo) : .5;
}

/* Returns the next 1, 2 or 5 times a power of ten, not below 'least'. */
static double
round_step(double least)
{
	double ten = pow(10, floor(log10(least)));

	return least <= ten    ? ten
	    : least <= 2 * ten ? 2 * ten
	    : least <= 5 * ten ? 5 * ten
			       : 10 * ten;
}

static size_t
list_linear_ticks(const struct axis *a, size_t wanted, double *to)
{
	double least = (a->hi - a->lo) / (1.4 * (double)wanted);
	double step = round_step(least), first;
	size_t n = 0;

	if (!(step > 0) || !isfinite(step))
		return 0;
	first = ceil(a->lo / step - 1e-9);
	while (n < AXIS_TICKS &&
	    (first + (double)n) * step <= a->hi * (1 + 1e-12)) {
		to[n] = (first + (double)n) * step;
		n++;
	}
	return n;
}

/* Lists powers of ten, and 2 and 5 times these on a short axis. */
static size_t
list_log_ticks(const struct axis *a, size_t wanted, double *to)
{
	static const double parts[] = {1, 2, 5};
	int from = (int)floor(log10(a->lo)), end = (int)ceil(log10(a->hi));
	double decades = log10(a->hi / a->lo);
	int by = decades > (double)wanted ? 2 : 1;
	size_t n = 0;

	if (decades < .7)
		return list_linear_ticks(a, wanted, to);
	for (int e = from; e <= end; e += by)
		for (size_t i = 0; i < (decades > 2.5 ? 1 : 3); i++) {
			double v = parts[i] * pow(10, e);

			if (n < AXIS_TICKS && v >= a->lo && v <= a->hi)
				to[n++] = v;
		}
	return n;
}

static size_t
list_tail_ticks(const struct axis *a, double *to)
{
	size_t n = 0;

	if (a->lo <= .5 && a->hi >= .5)
		to[n++] = .5;
	for (int nines = 1; nines <= 9; nines++) {
		double v = 1 - pow(10, -nines);

		if (n < AXIS_TICKS && v >= a->lo && v <= a->hi + 1e-12)
			to[n++] = v;
	}
	return n;
}

size_t
axis_ticks(const struct axis *a, size_t wanted, double to[AXIS_TICKS])
{
	switch (a->scale) {
	case AXIS_LOG:
		return list_log_ticks(a, wanted, to);
	case AXIS_TAIL:
		return list_tail_ticks(a, to);
	default:
		return list_linear_ticks(a, wanted, to);
	}
}

char *
axis_text(const struct axis *a, double v, char buf[NUM_BUF])
{
	double top =
	    a->scale == AXIS_LOG ? fabs(v) : fmax(fabs(a->lo), fabs(a->hi));
	double by = top >= 1e9 ? 1e9 : top >= 1e6 ? 1e6 : top >= 1e4 ? 1e3 : 1;

	if (a->scale == AXIS_TAIL)
		snprintf(buf, NUM_BUF, "%.12g%%", 100 * v);
	else
		snprintf(buf, NUM_BUF, "%.6g%s",
		    fabs(v) < 1e-9 * top ? 0 : v / by,
		    by == 1e9       ? "G"
			: by == 1e6 ? "M"
			: by == 1e3 ? "K"
				    : "");
	return buf;
}
