#include "tdist.h"

#include <float.h>
#include <math.h>

/* The fraction itself; converges fast for x < (a + 1) / (a + b + 2). */
static double
fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d, h, step;

	d = 1 - (a + b) * x / (a + 1);
	d = 1 / (fabs(d) < tiny ? tiny : d);
	h = d;
	for (int i = 1; i <= 1000; i++) {
		double m = i, even, odd;

		even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		h *= d * c;
		odd = -(a + m) * (a + b + m) * x /
		    ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		step = d * c;
		h *= step;
		if (fabs(step - 1) < 1e-16)
			break;
	}
	return h;
}

/* I_x(a, b) where y = 1 - x is known without cancellation. */
static double
betainc(double a, double b, double x, double y)
{
	double front;

	if (x <= 0)
		return 0;
	if (y <= 0)
		return 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) +
	    a * (x < .5 ? log(x) : log1p(-y)) +
	    b * (y < .5 ? log(y) : log1p(-x)));
	if (x > (a + 1) / (a + b + 2))
		return 1 - front * fraction(b, a, y) / b;
	return front * fraction(a, b, x) / a;
}

double
tdist_betainc(double a, double b, double x)
{
	return betainc(a, b, x, 1 - x);
}

double
tdist_normal_cdf(double z)
{
	return erfc(-z / sqrt(2)) / 2;
}

double
tdist_normal_quantile(double p)
{
	double t, z, e;

	if (p > .5)
		return -tdist_normal_quantile(1 - p);
	if (p == .5)
		return 0;
	/* Abramowitz & Stegun 26.2.23 to start with. */
	t = sqrt(-2 * log(p));
	z = -(t -
	    (2.515517 + t * (.802853 + t * .010328)) /
		(1 + t * (1.432788 + t * (.189269 + t * .001308))));
	for (int i = 0; i < 4; i++) {
		e = (tdist_normal_cdf(z) - p) /
		    (exp(-z * z / 2) / sqrt(2 * M_PI));
		z -= e / (1 + z * e / 2);
	}
	return z;
}

double
tdist_sf(double t, double df)
{
	double s = df + t * t, half;

	if (isinf(t))
		return t > 0 ? 0 : 1;
	half = betainc(df / 2, .5, df / s, t * t / s) / 2;
	return t > 0 ? half : 1 - half;
}

static double
density(double t, double df)
{
	return exp(lgamma((df + 1) / 2) - lgamma(df / 2) -
		   (df + 1) / 2 * log1p(t * t / df)) /
	    sqrt(df * M_PI);
}

double
tdist_quantile(double q, double df)
{
	double lo = 0, hi = 1, t, p = 1 - q, f, next;

	if (q < .5)
		return -tdist_quantile(1 - q, df);
	if (q == .5)
		return 0;
	while (tdist_sf(hi, df) > p && hi < DBL_MAX / 4)
		lo = hi, hi *= 2;
	t = (lo + hi) / 2;
	for (int i = 0; i < 200; i++) {
		f = tdist_sf(t, df) - p;
		if (f > 0)
			lo = t;
		else
			hi = t;
		next = t + f / density(t, df);
		if (!(next > lo && next < hi))
			next = (lo + hi) / 2;
		if (fabs(next - t) <= 1e-15 * t)
			return next;
		t = next;
	}
	return t;
}

double
tdist_noncentral_cdf(double t, double df, double ncp)
{
	enum { STEPS = 128 };
	double width = 10 / sqrt(2 * df), lo = fmax(0, 1 - width), hi, h, s,
	       sum;
	double front = log(2) + df / 2 * log(df / 2) - lgamma(df / 2);

	hi = 1 + width;
	h = (hi - lo) / STEPS;
	sum = 0;
	for (int i = 0; i <= STEPS; i++) {
		s = lo + i * h;
		if (s <= 0)
			continue;
		sum += (i == 0 || i == STEPS ? 1
			       : i % 2       ? 4
					     : 2) *
		    tdist_normal_cdf(t * s - ncp) *
		    exp(front + (df - 1) * log(s) - df * s * s / 2);
	}
	return sum * h / 3;
}
