#include "density.h"

#include <math.h>
#include <stddef.h>

const double density_sizes[DENSITY_SIZES] = {.03, .1, .3, 1};
const double density_size_weights[DENSITY_SIZES] = {.3, .3, .3, .1};

struct law
density_make_law(struct moderate m)
{
	struct law l = {m.var, fmin(m.df, 1e6), 0};

	l.factor = l.df > 200 ? 1 / sqrt(2 * M_PI)
			      : exp(lgamma((l.df + 1) / 2) - lgamma(l.df / 2)) /
		sqrt(M_PI * l.df);
	return l;
}

/* The density of Student's t at a distance whose square is 'square', with a
 * variance that is larger by 'more'. */
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

double
density_unchanged(const struct item *c, double off, double more)
{
	double beyond = fmax(0, fabs(off) - c->step);

	return density_at(&c->law, beyond * beyond, more);
}

double
density_changed(const struct item *c, double off, double more)
{
	double sum = 0;

	for (int i = 0; i < DENSITY_SIZES; i++)
		sum += density_size_weights[i] *
		    density_at(&c->law, off * off,
			more + density_sizes[i] * density_sizes[i]);
	return sum;
}

struct own
density_weigh(
    const struct item *c, double off, double more, const struct density_k *k)
{
	struct own o = {.unchanged = density_unchanged(c, off, more)};
	double var = c->law.var + more;

	for (int i = 0; i < DENSITY_SIZES; i++) {
		double wide = density_sizes[i] * density_sizes[i];
		double f = density_size_weights[i] *
		    density_at(&c->law, off * off, more + wide);
		double mean = off * wide / (var + wide);
		double rest = wide * var / (var + wide);

		o.changed += f;
		o.down += f * density_below(-mean / sqrt(rest), c->law.df);
		if (k)
			o.down_all += f *
			    density_below(
				-(mean + k->mean) / sqrt(rest + k->var),
				c->law.df);
	}
	o.down /= o.changed;
	o.down_all /= o.changed;
	return o;
}

struct own
density_judge(double change, struct moderate error, double step)
{
	struct item c = {change, step, 0, density_make_law(error)};

	return density_weigh(&c, change, 0, NULL);
}
