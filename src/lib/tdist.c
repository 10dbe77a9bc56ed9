#include "tdist.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* The continued fraction; converges fast for x < (a + 1) / (a + b + 2). */
static double
eval_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d, h, step;

	d = 1 - (a + b) * x / (a + 1);
	d = 1 / (fabs(d) < tiny ? tiny : d);
	h = d;
	for (int i = 1; i <= 20000; i++) {
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

/* log Gamma(z + 1) minus Stirling's (z + 1/2) log z - z + log(2 pi) / 2. */
static double
stirling_error(double z)
{
	static const double series[] = {
	    691. / 360360, 1. / 1188, 1. / 1680, 1. / 1260, 1. / 360, 1. / 12};
	double sum = 0;

	if (z < 10)
		return lgamma(z + 1) - (z + .5) * log(z) + z -
		    log(2 * M_PI) / 2;
	for (size_t i = 0; i < sizeof series / sizeof *series; i++)
		sum = series[i] - sum / (z * z);
	return sum / z;
}

/* a log(a / np) + np - a, given log p; no cancellation near a = np. */
static double
eval_deviance(double a, double n, double p, double logp)
{
	double np = n * p, d = a - np, v = d / (a + np), s = d * v, term, next;

	if (fabs(v) > .05)
		return a * (log(a / n) - logp) + np - a;
	term = 2 * a * v;
	for (int i = 3; i < 100; i += 2) {
		term *= v * v;
		next = s + term / i;
		if (next == s)
			break;
		s = next;
	}
	return s;
}

/* x in 0..1, y = 1 - x, and the logarithms of both. */
struct part {
	double x, y, logx, logy;
};

/* x^a y^b / B(a, b), after Loader (2000). */
static double
eval_factor(double a, double b, struct part p)
{
	double n = a + b;

	return sqrt(a * b / n / (2 * M_PI)) *
	    exp(stirling_error(n) - stirling_error(a) - stirling_error(b) -
		eval_deviance(a, n, p.x, p.logx) -
		eval_deviance(b, n, p.y, p.logy));
}

static double
eval_betainc(double a, double b, struct part p)
{
	if (isinf(p.logx))
		return 0;
	if (isinf(p.logy))
		return 1;
	if (p.x > (a + 1) / (a + b + 2))
		return 1 - eval_factor(a, b, p) * eval_fraction(b, a, p.y) / b;
	return eval_factor(a, b, p) * eval_fraction(a, b, p.x) / a;
}

double
tdist_betainc(double a, double b, double x)
{
	if (!(x >= 0 && x <= 1 && a > 0 && b > 0))
		return NAN;
	return eval_betainc(a, b, (struct part){x, 1 - x, log(x), log1p(-x)});
}

double
tdist_normal_cdf(double z)
{
	return erfc(-z / sqrt(2)) / 2;
}

double
tdist_normal_quantile(double p)
{
	double t, z, e = 1;

	if (!(p >= 0 && p <= 1))
		return NAN;
	if (p > .5)
		return -tdist_normal_quantile(1 - p);
	if (p == 0 || p == .5)
		return p == 0 ? -INFINITY : 0;
	/* Abramowitz & Stegun 26.2.23 to start with. */
	t = sqrt(-2 * log(p));
	z = -(t -
	    (2.515517 + t * (.802853 + t * .010328)) /
		(1 + t * (1.432788 + t * (.189269 + t * .001308))));
	/* The error is the third power of the last. */
	for (int i = 0; i < 4 && fabs(e) > 1e-6; i++) {
		e = p > .25 ? erf(z / sqrt(2)) / 2 - (p - .5)
			    : tdist_normal_cdf(z) - p;
		e /= exp(-z * z / 2) / sqrt(2 * M_PI);
		z -= e / (1 + z * e / 2);
	}
	return z;
}

/* df / (df + t^2), for t > 0. */
static struct part
get_part(double t, double df)
{
	double r = t * t / df, logr = 2 * log(t) - log(df);

	if (r < 1)
		return (struct part){
		    1 / (1 + r), r / (1 + r), -log1p(r), logr - log1p(r)};
	return (struct part){
	    1 / (1 + r), 1 / (1 + 1 / r), -logr - log1p(1 / r), -log1p(1 / r)};
}

double
tdist_sf(double t, double df)
{
	if (isnan(t) || !(df > 0))
		return NAN;
	if (isinf(df))
		return tdist_normal_cdf(-t);
	if (t == 0)
		return .5;
	if (t < 0)
		return 1 - tdist_sf(-t, df);
	return isinf(t) ? 0 : eval_betainc(df / 2, .5, get_part(t, df)) / 2;
}

/* P(0 < T < t), t > 0. */
static double
eval_middle(double t, double df)
{
	struct part p = get_part(t, df);

	return eval_betainc(
		   .5, df / 2, (struct part){p.y, p.x, p.logy, p.logx}) /
	    2;
}

/* An approximation for the Newton steps to begin with: A&S 26.7.5. */
static double
guess_quantile(double z, double df)
{
	double y = z * z, by = 1 / df, more = df < 3 ? 0 : by;
	double g[] = {1, (y + 1) / 4, (y * (5 * y + 16) + 3) / 96,
	    (y * (y * (3 * y + 19) + 17) - 15) / 384,
	    (y * (y * (y * (79 * y + 776) + 1482) - 1920) - 945) / 92160};

	return z *
	    (g[0] + by * (g[1] + by * (g[2] + more * (g[3] + more * g[4]))));
}

/* Returns the t > 0 with P(T > t), or if 'inner', P(0 < T < t), = want, by
 * safeguarded Newton steps on logarithms. */
static double
invert_tail(double want, double df, bool inner)
{
	double lo = log(DBL_MIN), hi = log(DBL_MAX), u, t, have, next;
	double factor = lgamma((df + 1) / 2) - lgamma(df / 2); /* of density */

	if (want == 0 || (!inner && df < 2 && tdist_sf(DBL_MAX, df) > want))
		return inner ? 0 : INFINITY;
	t = fabs(tdist_normal_quantile(inner ? .5 - want : want));
	u = fmax(lo, fmin(hi, log(guess_quantile(t, df))));
	for (int i = 0; i < 200; i++) {
		t = exp(u);
		have = inner ? eval_middle(t, df) : tdist_sf(t, df);
		if ((have < want) == inner)
			lo = u;
		else
			hi = u;
		next = log(have / want) * have / t * sqrt(df * M_PI) *
		    exp(-factor - (df + 1) / 2 * get_part(t, df).logx);
		next = u + (inner ? -next : next);
		if (fabs(next - u) < 1e-9) /* the error is its square */
			return exp(next);
		u = next > lo && next < hi ? next : lo + (hi - lo) / 2;
	}
	return exp(u);
}

double
tdist_quantile(double q, double df)
{
	if (!(q >= 0 && q <= 1 && df > 0))
		return NAN;
	if (isinf(df))
		return tdist_normal_quantile(q);
	if (q < .5)
		return q < .25 ? -invert_tail(q, df, false)
			       : -invert_tail(.5 - q, df, true);
	return q > .75 ? invert_tail(1 - q, df, false)
		       : invert_tail(q - .5, df, true);
}
