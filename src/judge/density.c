#include "density.h"

#include <math.h>
#include <stddef.h>

/* The sizes of own changes, standard deviations of ln(value), and how probable
 * each is. */
enum { SIZES = 4 };
static const double sizes[SIZES] = {.03, .1, .3, 1};
static const double size_weights[SIZES] = {.3, .3, .3, .1};

struct law
density_make_law(struct moderate m)
{
	struct law l = {m.var, fmin(m.df, 1e6), 0};

	l.factor = l.df > 200 ? 1 / sqrt(2 * M_PI)
			      : exp(lgamma((l.df + 1) / 2) - lgamma(l.df / 2)) /
		sqrt(M_PI * l.df);
	return l;
}

double
density_at(const struct law *l, double square, double more)
{
	double var = l->var + more;

	return l->factor / sqrt(var) *
	    exp(l->df > 200 ? -.5 * square / var
			    : -(l->df + 1) / 2 * log(1 + square / var / l->df));
}

double
density_below(double t, double df)
{
	double z = df > 200 ? t
			    : copysign((8 * df + 1) / (8 * df + 3) *
				      sqrt(df * log(1 + t * t / df)),
				  t);

	return .5 * erfc(-z * M_SQRT1_2);
}

struct own
density_weigh(
    const struct item *c, double off, double more, const struct density_k *k)
{
	double var = c->law.var + more, beyond = fmax(0, fabs(off) - c->step);
	double sum;
	struct own o = {
	    .unchanged = density_at(&c->law, beyond * beyond, more)};

	for (int i = 0; i < SIZES; i++) {
		double wide = sizes[i] * sizes[i];
		double f = size_weights[i] *
		    density_at(&c->law, off * off, more + wide);
		double mean = off * wide / (var + wide);
		double rest = wide * var / (var + wide);

		o.changed += f;
		if (!k)
			continue;
		o.mean += f * mean;
		o.var += f * rest;
		o.down += f * density_below(-mean / sqrt(rest), c->law.df);
		o.down_all += f *
		    density_below(
			-(mean + k->mean) / sqrt(rest + k->var), c->law.df);
	}
	sum = fmax(o.changed, 1e-300);
	o.mean /= sum;
	o.var /= sum;
	o.down /= sum;
	o.down_all /= sum;
	return o;
}

struct own
density_judge(double change, struct moderate error, double step)
{
	struct item c = {change, step, 0, density_make_law(error)};

	return density_weigh(&c, change, 0, &(struct density_k){0, 0});
}
