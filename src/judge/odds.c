#include "odds.h"
#include "mem.h"
#include "model.h"
#include "stats.h"
#include "tdist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define IN_GROUP .9    /* of the changed cases, those that share a change */
#define MOST_GROUP .05 /* prior probability of a group, at most */

/* The sizes of changes: standard deviations of ln(value). */
static const double sizes[] = {.03, .1, .3, 1};
static const double size_weights[] = {.3, .3, .3, .1};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* The shares of unchanged cases, alone and where some form a group. */
static const double shares[] = {.5, .75, .93};
static const double share_weights[] = {.2, .4, .4};
static const double group_weights[] = {.9, .08, .02};
enum { SHARES = sizeof shares / sizeof *shares };

/* By how much T differs from what is stated. */
static const double scales[] = {.1, .25, .5, 1, 2};
static const double scale_weights[] = {.1, .2, .3, .3, .1};
enum { SCALES = sizeof scales / sizeof *scales };

enum {
	GROUPS = 6,
	GRID = 100,   /* places of G that are kept */
	SAMPLED = 200 /* cases that say what is common */
};

/* A state has a weight above this, of the heaviest. */
#define LEAST_WEIGHT 1e-7

/* A distribution's density; 'constant' depends on df only. */
struct law {
	double var, df, constant;
};

/* One case, as the sums need it. */
struct item {
	double d, step, sessions;
	struct law law; /* of its own error */
};

/* Where cases that changed may have one change in common. */
struct group {
	double at, wide;
};

/* A place of G on the grid. */
struct place {
	double g, wide;    /* it stands for an interval of this width */
	double alone, all; /* density of G where K is 0, and where not */
	double down;     /* probability that K is below 0, where it is not 0 */
	double k, k_var; /* its mean and variance */
	double best;     /* logarithm of the weight of its best state */
};

struct odds {
	struct model_row *rows;
	size_t n;
	struct model_metric *metric;
	struct item *items, *sampled;
	size_t nsampled;
	int nscales;
	struct group groups[GROUPS + 1];
	size_t ngroups; /* with 0 */
	struct place *places;
	size_t nplaces, cap;
	double *states; /* log weights: place, scale, share, group */
};

static struct law
make_law(struct moderate m)
{
	struct law l = {m.var, fmin(m.df, 1e6), 0};

	l.constant = l.df > 200
	    ? -.5 * log(2 * M_PI)
	    : lgamma((l.df + 1) / 2) - lgamma(l.df / 2) - .5 * log(M_PI * l.df);
	return l;
}

/* The density of Student's t at a distance whose square is 'square', with a
 * variance that is larger by 'more'. */
static double
find_density(const struct law *l, double square, double more)
{
	double var = l->var + more;

	return exp(l->constant - .5 * log(var) -
	    (l->df > 200 ? .5 * square / var
			 : (l->df + 1) / 2 * log1p(square / var / l->df)));
}

/* P(T < t), to three digits: Wallace, Ann. Math. Stat. 30 (1959). */
static double
find_below(double t, double df)
{
	double z = df > 200 ? t
			    : copysign((8 * df + 1) / (8 * df + 3) *
				      sqrt(df * log1p(t * t / df)),
				  t);

	return .5 * erfc(-z * M_SQRT1_2);
}

/* What a case says of an own change, where the machine's is at a distance. */
struct own {
	double unchanged, changed; /* densities */
	double down;               /* of a change, that it is below 0 */
	double down_all;           /* with K, that both are together */
};

static double
find_unchanged(const struct item *c, double off, double more)
{
	double beyond = fmax(0, fabs(off) - c->step);

	return find_density(&c->law, beyond * beyond, more);
}

static double
find_changed(const struct item *c, double off, double more)
{
	double sum = 0;

	for (int i = 0; i < SIZES; i++)
		sum += size_weights[i] *
		    find_density(
			&c->law, off * off, more + sizes[i] * sizes[i]);
	return sum;
}

/* 'place' is NULL if nothing is asked of K. */
static struct own
weigh_change(
    const struct item *c, double off, double more, const struct place *place)
{
	struct own o = {.unchanged = find_unchanged(c, off, more)};
	double var = c->law.var + more;

	for (int i = 0; i < SIZES; i++) {
		double wide = sizes[i] * sizes[i];
		double f = size_weights[i] *
		    find_density(&c->law, off * off, more + wide);
		double mean = off * wide / (var + wide);
		double rest = wide * var / (var + wide);

		o.changed += f;
		o.down += f * find_below(-mean / sqrt(rest), c->law.df);
		if (place && place->all > 0)
			o.down_all += f *
			    find_below(
				-(mean + place->k) / sqrt(rest + place->k_var),
				c->law.df);
	}
	o.down /= o.changed;
	o.down_all /= o.changed;
	return o;
}

/* ---- the grid */

static double
find_scale(const struct odds *o, int scale)
{
	return o->nscales > 1 ? scales[scale] * scales[scale] : 1;
}

static double *
find_states(const struct odds *o, size_t place, int scale)
{
	return o->states +
	    ((place * SCALES + (size_t)scale) * SHARES) * (GROUPS + 1);
}

/* Sets what is known of G = g before the cases are looked at. */
static void
set_place(const struct odds *o, struct place *p)
{
	const struct model_metric *m = o->metric;
	double sum = 0;

	p->alone = p->all = p->down = p->k = p->k_var = 0;
	for (size_t i = 0; i < m->nlaws; i++) {
		struct law l = make_law(m->laws[i].error);
		double square = p->g * p->g;

		p->alone += m->laws[i].weight * find_density(&l, square, 0);
		for (int k = 0; m->separate && k < SIZES; k++) {
			double wide = sizes[k] * sizes[k];
			double f = m->laws[i].weight * size_weights[k] *
			    find_density(&l, square, wide);
			double mean = p->g * wide / (wide + l.var);
			double var = wide * l.var / (wide + l.var);

			sum += f;
			p->down += f * find_below(-mean / sqrt(var), l.df);
			p->k += f * mean;
			p->k_var += f * var;
		}
	}
	if (!(sum > 0))
		return;
	p->down /= sum;
	p->k /= sum;
	p->k_var /= sum;
	p->all = ODDS_ALL_CHANGED * sum;
	p->alone *= 1 - ODDS_ALL_CHANGED;
}

/* Sets the prior probability of each group, [0] of none, at G = g. */
static void
weigh_groups(const struct odds *o, double g, double p[GROUPS + 1])
{
	p[0] = 1;
	for (size_t i = 1; i < o->ngroups; i++) {
		const struct group *c = &o->groups[i];
		double off = fabs(c->at - g), sum = 0;

		for (int k = 0; k < SIZES; k++)
			sum += size_weights[k] *
			    exp(-.5 * off * off / sizes[k] / sizes[k]) /
			    sizes[k] / sqrt(2 * M_PI);
		p[i] = off < 2 * c->wide
		    ? 0
		    : fmin(MOST_GROUP, .5 * sum * 2.5 * c->wide);
		p[0] -= p[i];
	}
}

/* A product of many factors. */
struct product {
	double v, logs;
};

static void
add_factor(struct product *p, double by)
{
	p->v *= by;
	if (p->v > 1e-150 && p->v < 1e150)
		return;
	p->logs += log(fmax(p->v, 1e-300));
	p->v = 1;
}

/* Sets the log weights of all states of one place and scale. */
static void
weigh_states(
    struct odds *o, size_t place, int scale, const double groups[GROUPS + 1])
{
	struct place *p = &o->places[place];
	struct product all[SHARES][GROUPS + 1];
	double *to = find_states(o, place, scale);

	for (int q = 0; q < SHARES; q++)
		for (size_t k = 0; k < o->ngroups; k++)
			all[q][k] = (struct product){1, 0};
	for (size_t i = 0; i < o->nsampled; i++) {
		const struct item *c = &o->sampled[i];
		double more = c->sessions * find_scale(o, scale);
		double off = c->d - p->g;
		double f0 = find_unchanged(c, off, more);
		double f1 = find_changed(c, off, more);

		for (size_t k = 0; k < o->ngroups; k++) {
			double f = f1, at = c->d - o->groups[k].at;

			if (!(groups[k] > 0))
				continue;
			if (k)
				f = (1 - IN_GROUP) * f1 +
				    IN_GROUP *
					find_density(&c->law, at * at,
					    .2 * (c->law.var + more) + more);
			for (int q = 0; q < SHARES; q++)
				add_factor(&all[q][k],
				    shares[q] * f0 + (1 - shares[q]) * f);
		}
	}
	for (int q = 0; q < SHARES; q++)
		for (size_t k = 0; k < o->ngroups; k++) {
			double w = (k ? group_weights : share_weights)[q] *
			    groups[k] *
			    (o->nscales > 1 ? scale_weights[scale] : 1);
			double *l = &to[(size_t)q * (GROUPS + 1) + k];

			*l = w > 0 ? log(w) + all[q][k].logs + log(all[q][k].v)
				   : -INFINITY;
			p->best = fmax(p->best, *l);
		}
}

static void
weigh_places(struct odds *o)
{
	for (size_t i = 0; i < o->nplaces; i++) {
		double groups[GROUPS + 1];

		set_place(o, &o->places[i]);
		weigh_groups(o, o->places[i].g, groups);
		o->places[i].best = -INFINITY;
		for (int k = 0; k < o->nscales; k++)
			weigh_states(o, i, k, groups);
		o->places[i].best += log(o->places[i].alone + o->places[i].all);
	}
}

static void
add_place(struct odds *o, double g)
{
	o->places = mem_grow(o->places, o->nplaces, &o->cap, sizeof *o->places);
	o->places[o->nplaces++] = (struct place){.g = g};
}

static int
compare_places(const void *a, const void *b)
{
	double x = ((const struct place *)a)->g;
	double y = ((const struct place *)b)->g;

	return (x > y) - (x < y);
}

/* Gives each place its width: between two of them the logarithm of the density
 * is a straight line, so that the nearer one does not stand for all of a tail.
 */
static void
set_widths(struct odds *o)
{
	for (size_t i = 0; i < o->nplaces; i++)
		o->places[i].wide = o->nplaces > 1 ? 0 : 1;
	for (size_t i = 1; i < o->nplaces; i++) {
		struct place *a = &o->places[i - 1], *b = &o->places[i];
		double fall = fabs(a->best - b->best);
		double part = !(fall < INFINITY) ? 0
		    : fall < 1e-6                ? .5
						 : tanh(fall / 2) / fall;

		a->wide += part * (b->g - a->g);
		b->wide += part * (b->g - a->g);
	}
}

/* Sorts the places, removes equal ones and every so many of too many, and
 * gives each its width. */
static void
settle_places(struct odds *o, size_t most)
{
	size_t n = 0, by;

	qsort(o->places, o->nplaces, sizeof *o->places, compare_places);
	for (size_t i = 0; i < o->nplaces; i++)
		if (!n || o->places[i].g > o->places[n - 1].g + 1e-9)
			o->places[n++] = o->places[i];
	by = (n + most - 1) / most;
	o->nplaces = 0;
	for (size_t i = 0; i < n; i += by)
		o->places[o->nplaces++] = o->places[i];
	n = o->nplaces;
	free(o->states);
	o->states = mem_array(
	    n * SCALES * SHARES * (GROUPS + 1) + 1, sizeof *o->states);
	weigh_places(o);
	set_widths(o);
}

/* Lays a grid around 0 and the cases, and then a finer one where the weight is.
 */
static void
lay_grid(struct odds *o)
{
	static const double off[] = {-6, -3, -1.5, -.7, 0, .7, 1.5, 3, 6};
	const struct model_metric *m = o->metric;
	size_t by = 1 + o->nsampled / 40;

	for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
		for (size_t k = 0; k < m->nlaws; k++)
			add_place(o, off[i] * sqrt(m->laws[k].error.var));
		for (size_t k = 0; k < o->nsampled; k += by)
			add_place(o,
			    o->sampled[k].d +
				off[i] *
				    sqrt(o->sampled[k].law.var +
					o->sampled[k].sessions));
	}
	settle_places(o, 2 * GRID);
	for (int pass = 0; pass < 2; pass++) {
		struct place *old = o->places;
		size_t n = o->nplaces;
		double best = -INFINITY;

		for (size_t i = 0; i < n; i++)
			best = fmax(best, old[i].best);
		o->places = NULL;
		o->nplaces = o->cap = 0;
		for (size_t i = 0; i < n; i++) {
			bool near = old[i].best > best - 14 ||
			    (i && old[i - 1].best > best - 14) ||
			    (i + 1 < n && old[i + 1].best > best - 14);

			if (!near)
				continue;
			add_place(o, old[i].g);
			for (int k = 1; k < 3 && i + 1 < n && !pass; k++)
				add_place(o,
				    old[i].g +
					(old[i + 1].g - old[i].g) * k / 3);
		}
		free(old);
		settle_places(o, GRID);
	}
}

/* ---- groups */

/* Finds neighbours: cases next to each other by less than their usual error. */
static void
find_groups(struct odds *o)
{
	size_t n = o->nsampled;
	double *d = mem_array(n + 1, sizeof *d), wide = 0;

	o->ngroups = 1;
	for (size_t i = 0; i < n; i++) {
		d[i] = o->sampled[i].d;
		wide += sqrt(o->sampled[i].law.var + o->sampled[i].sessions) /
		    (double)n;
	}
	stats_sort(d, n);
	for (size_t i = 0, end; n > MODEL_SEPARATE && i < n; i = end) {
		for (end = i + 1; end < n && d[end] - d[end - 1] < 1.5 * wide;)
			end++;
		if (end - i >= 2 && o->ngroups <= GROUPS)
			o->groups[o->ngroups++] = (struct group){
			    (d[(i + end) / 2] + d[(i + end - 1) / 2]) / 2,
			    wide};
	}
	free(d);
}

/* ---- sums */

/* What a metric adds up to over all states. */
struct sums {
	double all, unchanged, scale;
	double machine, machine_square; /* M */
	double moved, moved_square;     /* G */
	double changed, k;              /* K, where it is not 0 */
	double down, up;
};

/* Adds the weights 'alone' and 'all' (without and with K) of one share and
 * group to the probabilities of a row, and multiplies those that each row fell,
 * or rose, without K. */
static void
add_row(struct model_row *r, const struct own *own, const struct item *c,
    double more, const struct place *p, const struct group *group, double share,
    double alone, double all, double each[2])
{
	double f = own->changed, down = own->down, both = own->down_all, pc;

	if (group) {
		double off = c->d - group->at, at = group->at - p->g;
		double fe = IN_GROUP *
		    find_density(
			&c->law, off * off, .2 * (c->law.var + more) + more);

		f *= 1 - IN_GROUP;
		down = (f * down + fe * (at < 0)) / (f + fe);
		both = (f * both +
			   fe *
			       find_below(-(at + p->k) /
				       sqrt(c->law.var + more + p->k_var),
				   c->law.df)) /
		    (f + fe);
		f += fe;
	}
	pc = (1 - share) * f / (share * own->unchanged + (1 - share) * f);
	each[0] *= pc * down;
	each[1] *= pc * (1 - down);
	r->down += alone * pc * down + all * (pc * both + (1 - pc) * p->down);
	r->up += alone * pc * (1 - down) +
	    all * (pc * (1 - both) + (1 - pc) * (1 - p->down));
}

/* Adds a place of this weight, before that of its G, to the sums. */
static void
sum_place(struct sums *s, const struct place *p, double weight, double scale)
{
	double alone = weight * p->alone, all = weight * p->all;
	double m = p->g - p->k;

	s->all += alone + all;
	s->scale += (alone + all) * scale;
	s->machine += alone * p->g + all * m;
	s->machine_square += alone * p->g * p->g + all * (m * m + p->k_var);
	s->moved += (alone + all) * p->g;
	s->moved_square += (alone + all) * p->g * p->g;
	s->changed += all;
	s->k += all * p->k;
	s->down += all * p->down;
	s->up += all * (1 - p->down);
}

/* Adds one place and scale to the sums, and to the rows. */
static void
add_states(
    struct odds *o, size_t place, int scale, double best, struct sums *sum)
{
	struct place *p = &o->places[place];
	const double *states = find_states(o, place, scale);
	double w[SHARES][GROUPS + 1], total = 0;
	double each[SHARES][GROUPS + 1][2];

	for (int q = 0; q < SHARES; q++)
		for (size_t k = 0; k < o->ngroups; k++) {
			w[q][k] =
			    exp(states[(size_t)q * (GROUPS + 1) + k] - best) *
			    p->wide;
			if (w[q][k] * (p->alone + p->all) < LEAST_WEIGHT)
				w[q][k] = 0;
			total += w[q][k];
			each[q][k][0] = each[q][k][1] = 1;
			sum->unchanged +=
			    w[q][k] * (p->alone + p->all) * shares[q];
		}
	if (!(total > 0))
		return;
	sum_place(sum, p, total, find_scale(o, scale));
	for (size_t i = 0; i < o->n; i++) {
		const struct item *c = &o->items[i];
		double more = c->sessions * find_scale(o, scale);
		struct own own = weigh_change(c, c->d - p->g, more, p);

		for (int q = 0; q < SHARES; q++)
			for (size_t k = 0; k < o->ngroups; k++)
				if (w[q][k] > 0)
					add_row(&o->rows[i], &own, c, more, p,
					    k ? &o->groups[k] : NULL, shares[q],
					    w[q][k] * p->alone,
					    w[q][k] * p->all, each[q][k]);
	}
	for (int q = 0; q < SHARES; q++)
		for (size_t k = 0; k < o->ngroups; k++) {
			sum->down += w[q][k] * p->alone * each[q][k][0];
			sum->up += w[q][k] * p->alone * each[q][k][1];
		}
}

/* Returns one error whose 95 % interval is that of the mixture of the laws
 * without the sessions, with theirs. */
static struct moderate
merge_laws(const struct model_metric *m)
{
	double lo = 0, hi = 0, q = tdist_quantile(.975, INFINITY);
	const struct model_law *v = m->laws;

	for (size_t i = 0; i < m->nlaws; i++)
		hi = fmax(hi,
		    sqrt(v[i].noise.var) * tdist_quantile(.975, v[i].noise.df));
	for (int i = 0; i < 40; i++) {
		double mid = (lo + hi) / 2, beyond = 0;

		for (size_t k = 0; k < m->nlaws; k++)
			beyond += v[k].weight *
			    tdist_sf(mid / sqrt(v[k].noise.var), v[k].noise.df);
		if (beyond > .025)
			lo = mid;
		else
			hi = mid;
	}
	return moderate_add(
	    (struct moderate){hi * hi / q / q, INFINITY}, m->sessions);
}

static void
set_results(struct odds *o, const struct sums *s)
{
	struct model_metric *m = o->metric;
	struct moderate machine = merge_laws(m);
	double moved_var;

	m->unchanged = s->unchanged / s->all;
	m->down = s->down / s->all;
	m->up = s->up / s->all;
	m->machine = s->machine / s->all;
	m->machine_error = (struct moderate){
	    fmax(0, s->machine_square / s->all - m->machine * m->machine),
	    INFINITY};
	m->common = s->changed > 0 ? s->k / s->changed : 0;
	m->moved = s->moved / s->all;
	moved_var = fmax(0, s->moved_square / s->all - m->moved * m->moved);
	m->moved_error = machine;
	for (size_t i = 0; i < o->n; i++) {
		struct model_row *r = &o->rows[i];
		struct moderate sessions = {
		    r->sessions * s->scale / s->all, INFINITY};

		r->down /= s->all;
		r->up /= s->all;
		sessions = moderate_add(r->own, sessions);
		r->error = moderate_add(sessions, machine);
		r->least = r->change - m->machine;
		r->rest = r->change - m->moved;
		r->rest_error = moderate_add(
		    sessions, (struct moderate){moved_var, INFINITY});
	}
}

static void
sum_states(struct odds *o)
{
	double best = -INFINITY;
	struct sums sum = {0};

	for (size_t i = 0; i < o->n; i++)
		o->rows[i].down = o->rows[i].up = 0;
	for (size_t i = 0; i < o->nplaces; i++)
		best = fmax(best, o->places[i].best + log(o->places[i].wide));
	for (size_t i = 0; i < o->nplaces; i++)
		for (int k = 0; k < o->nscales; k++)
			add_states(o, i, k, best, &sum);
	set_results(o, &sum);
}

/* ---- what is exported */

void
odds_judge(struct model_row *rows, size_t n, struct model_metric *m)
{
	struct odds o = {.rows = rows, .n = n, .metric = m};
	size_t by = 1 + n / SAMPLED;
	bool scaled = false;

	if (!n)
		return;
	o.items = mem_array(n, sizeof *o.items);
	o.sampled = mem_array(n, sizeof *o.sampled);
	for (size_t i = 0; i < n; i++) {
		o.items[i] = (struct item){rows[i].change, rows[i].step,
		    rows[i].sessions, make_law(rows[i].own)};
		scaled = scaled || rows[i].sessions > 0;
		if (i % by == 0)
			o.sampled[o.nsampled++] = o.items[i];
	}
	o.nscales = scaled ? SCALES : 1;
	find_groups(&o);
	lay_grid(&o);
	sum_states(&o);
	free(o.items);
	free(o.sampled);
	free(o.places);
	free(o.states);
}

double
odds_alone(double change, struct moderate error, double step, double unchanged)
{
	struct item c = {change, step, 0, make_law(error)};
	struct own own = weigh_change(&c, change, 0, NULL);
	double p = (1 - unchanged) * own.changed /
	    (unchanged * own.unchanged + (1 - unchanged) * own.changed);

	return p * (change < 0 ? own.down : 1 - own.down);
}

void
odds_weigh(double change, struct moderate error, double step, double density[2])
{
	struct item c = {change, step, 0, make_law(error)};

	density[0] = find_unchanged(&c, change, 0);
	density[1] = find_changed(&c, change, 0);
}
