#include "odds.h"
#include "mem.h"
#include "model.h"
#include "stats.h"
#include "tdist.h"

#include <math.h>
#include <stdlib.h>

#define MOST_GROUP .02    /* prior probability of a group, at most */
#define IN_GROUP .9       /* of the changed cases, those that share a change */
#define LEAST 1e-14       /* variance of what has no error */
#define LEAST_WEIGHT 1e-7 /* of a state that counts, of the heaviest */

enum {
	GRID = 100,    /* places of G that are kept */
	SAMPLED = 200, /* cases that say what is common */
	SIZES = 4,
	SHARES = 3,
	SCALES = 5,
	GROUPS = 6,
	STATES = SHARES * (GROUPS + 1)
};

/* The sizes of own changes, standard deviations of ln(value), and how probable
 * each is. */
static const double sizes[SIZES] = {.03, .1, .3, 1};
static const double size_weights[SIZES] = {.3, .3, .3, .1};

/* The shares of unchanged cases, alone and where some form a group. */
static const double shares[SHARES] = {.3, .75, .95};
static const double share_weights[SHARES] = {.25, .35, .4};
static const double group_shares[SHARES] = {.5, .75, .93};
static const double group_weights[SHARES] = {.9, .08, .02};

/* By how much T differs from what is stated. */
static const double scales[SCALES] = {.1, .25, .5, 1, 2};
static const double scale_weights[SCALES] = {.1, .2, .25, .25, .2};

/* A distribution's density; 'factor' depends on df only. */
struct law {
	double var, df, factor;
};

/* A change that is uncertain. */
struct change {
	double mean, var;
};

/* What a case says of an own change, where the machine's is at a distance. */
struct own {
	struct odds_one one;
	struct change change;
	double down_all; /* with K, that both are together below 0 */
};

/* Where cases that changed may have one change in common. */
struct group {
	double at, wide;
};

/* A share of unchanged cases, and the group of the others; 0: none. */
struct state {
	double share, weight;
	size_t group;
};

/* A place of G on the grid. */
struct place {
	double g, wide;    /* it stands for an interval of this width */
	double alone, all; /* density of G where K is 0, and where not */
	double down; /* probability that K is below 0, where it is not 0 */
	struct change k;
	double groups[GROUPS + 1]; /* prior probability of each; [0] of none */
	double best; /* logarithm of the weight of its best state */
};

struct odds {
	struct model_row *rows;
	size_t n;
	struct model_metric *metric;
	struct law *laws;    /* of the own errors of the rows */
	size_t by, nsampled; /* every so many of them say what is common */
	int nscales;
	struct group groups[GROUPS + 1];
	size_t ngroups; /* with 0 */
	struct state states[STATES];
	size_t nstates;
	struct place *places;
	size_t nplaces, cap;
};

/* ---- densities */

static struct law
make_law(struct moderate m)
{
	struct law l = {m.var, fmin(m.df, 1e6), 0};

	l.factor = l.df > 200 ? 1 / sqrt(2 * M_PI)
			      : exp(lgamma((l.df + 1) / 2) - lgamma(l.df / 2)) /
		sqrt(M_PI * l.df);
	return l;
}

/* The density at a distance whose square is 'square', with a variance that is
 * larger by 'more'. */
static double
find_density(const struct law *l, double square, double more)
{
	double var = l->var + more;

	return l->factor / sqrt(var) *
	    exp(l->df > 200 ? -.5 * square / var
			    : -(l->df + 1) / 2 * log(1 + square / var / l->df));
}

/* P(T < t), to three digits: Wallace, Ann. Math. Stat. 30 (1959). */
static double
find_below(double t, double df)
{
	double z = df > 200 ? t
			    : copysign((8 * df + 1) / (8 * df + 3) *
				      sqrt(df * log(1 + t * t / df)),
				  t);

	return .5 * erfc(-z * M_SQRT1_2);
}

/* Weighs a case that is 'off' from where it is without an own change, whose
 * sizes are 'by' times those above; 'k' is NULL if the densities are enough. */
static struct own
weigh_own(const struct law *l, double by, double off, double step, double more,
    const struct change *k)
{
	double var = l->var + more, beyond = fmax(0, fabs(off) - step), sum;
	struct own o = {.one = {find_density(l, beyond * beyond, more), 0, 0}};

	for (int i = 0; i < SIZES; i++) {
		double size = by * sizes[i], wide = size * size, mean, rest,
		       down;
		double f =
		    size_weights[i] * find_density(l, off * off, more + wide);

		o.one.changed += f;
		if (!k)
			continue;
		mean = off * wide / (var + wide);
		rest = wide * var / (var + wide);
		o.change.mean += f * mean;
		o.change.var += f * rest;
		down = find_below(-mean / sqrt(rest), l->df);
		o.one.down += f * down;
		if (k->var > 0)
			down = find_below(
			    -(mean + k->mean) / sqrt(rest + k->var), l->df);
		o.down_all += f * down;
	}
	sum = fmax(o.one.changed, 1e-300);
	o.change.mean /= sum;
	o.change.var /= sum;
	o.one.down /= sum;
	o.down_all /= sum;
	return o;
}

/* Where nothing is added by sessions there is one scale, which is not used. */
static double
find_scale(int scale)
{
	return scales[scale] * scales[scale];
}

/* Weighs a case at a place for each group, [0] for none; not 'all': only the
 * densities. */
static void
weigh_case(const struct odds *o, size_t row, const struct place *p, int scale,
    bool all, struct own own[GROUPS + 1])
{
	const struct model_row *r = &o->rows[row];
	const struct law *l = &o->laws[row];
	double more = r->sessions * find_scale(scale), down, f, in;

	own[0] = weigh_own(l, o->metric->sizes, r->change - p->g, r->step, more,
	    all ? &p->k : NULL);
	for (size_t i = 1; i < o->ngroups; i++) {
		double off = r->change - o->groups[i].at;
		double at = o->groups[i].at - p->g;

		own[i] = own[0];
		if (!(p->groups[i] > 0))
			continue;
		/* The density in the group, times the probability of it. */
		in = IN_GROUP *
		    find_density(l, off * off, .2 * (l->var + more) + more);
		f = (1 - IN_GROUP) * own[0].one.changed;
		own[i].one.changed = f + in;
		if (!all)
			continue;
		down = find_below(
		    -(at + p->k.mean) / sqrt(l->var + more + p->k.var), l->df);
		own[i].one.down =
		    (f * own[0].one.down + in * (at < 0)) / (f + in);
		own[i].down_all = (f * own[0].down_all + in * down) / (f + in);
	}
}

/* ---- the grid */

/* Sets what is known of G = g before the cases are looked at. */
static void
set_prior(const struct odds *o, struct place *p)
{
	const struct model_metric *m = o->metric;
	double sum = 0;

	for (size_t i = 0; i < m->nlaws; i++) {
		struct law law = make_law(m->laws[i].error);
		struct own k = weigh_own(
		    &law, m->sizes, p->g, 0, 0, &(struct change){0, 0});
		double f = m->laws[i].weight * k.one.changed;

		p->alone += m->laws[i].weight * k.one.unchanged;
		sum += f;
		p->down += f * k.one.down;
		p->k.mean += f * k.change.mean;
		p->k.var += f * k.change.var;
	}
	if (!m->separate || !(sum > 0)) {
		p->down = p->k.mean = p->k.var = 0;
		return;
	}
	p->down /= sum;
	p->k.mean /= sum;
	p->k.var /= sum;
	p->all = ODDS_ALL_CHANGED * sum;
	p->alone *= 1 - ODDS_ALL_CHANGED;
}

static void
weigh_groups(const struct odds *o, struct place *p)
{
	struct law none = make_law((struct moderate){LEAST, INFINITY});

	p->groups[0] = 1;
	for (size_t i = 1; i < o->ngroups; i++) {
		const struct group *c = &o->groups[i];
		double off = fabs(c->at - p->g);
		struct odds_one own =
		    weigh_own(&none, o->metric->sizes, off, 0, 0, NULL).one;

		p->groups[i] = off < 2 * c->wide
		    ? 0
		    : fmin(MOST_GROUP, .1 * own.changed * 2.5 * c->wide);
		p->groups[0] -= p->groups[i];
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

/* Sets the log weights of all states of one place and scale, before that of its
 * G. */
static void
weigh_states(
    const struct odds *o, const struct place *p, int scale, double logs[STATES])
{
	struct product all[STATES];

	for (size_t s = 0; s < o->nstates; s++)
		all[s] = (struct product){1, 0};
	for (size_t i = 0; i < o->nsampled; i++) {
		struct own own[GROUPS + 1];

		weigh_case(o, i * o->by, p, scale, false, own);
		for (size_t s = 0; s < o->nstates; s++) {
			const struct state *at = &o->states[s];
			const struct odds_one *one = &own[at->group].one;

			add_factor(&all[s],
			    at->share * one->unchanged +
				(1 - at->share) * one->changed);
		}
	}
	for (size_t s = 0; s < o->nstates; s++) {
		const struct state *at = &o->states[s];
		double w =
		    at->weight * p->groups[at->group] * scale_weights[scale];

		logs[s] =
		    w > 0 ? log(w) + all[s].logs + log(all[s].v) : -INFINITY;
	}
}

static void
weigh_place(const struct odds *o, struct place *p)
{
	double logs[STATES];

	set_prior(o, p);
	weigh_groups(o, p);
	p->best = -INFINITY;
	for (int k = 0; k < o->nscales; k++) {
		weigh_states(o, p, k, logs);
		for (size_t s = 0; s < o->nstates; s++)
			p->best = fmax(p->best, logs[s]);
	}
	p->best += log(p->alone + p->all);
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
 * weighs them. */
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
	for (size_t i = 0; i < o->nplaces; i++)
		weigh_place(o, &o->places[i]);
	set_widths(o);
}

/* Lays a grid around 0 and the cases. */
static void
lay_grid(struct odds *o)
{
	static const double off[] = {-6, -3, -1.5, -.7, 0, .7, 1.5, 3, 6};
	const struct model_metric *m = o->metric;
	size_t by = o->by * (1 + o->nsampled / 40);

	for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
		for (size_t k = 0; k < m->nlaws; k++)
			add_place(o, off[i] * sqrt(m->laws[k].error.var));
		for (size_t k = 0; k < o->n; k += by)
			add_place(o,
			    o->rows[k].change +
				off[i] *
				    sqrt(o->rows[k].own.var +
					o->rows[k].sessions));
	}
	settle_places(o, 2 * GRID);
}

/* Lays a finer grid where the weight is. */
static void
refine_grid(struct odds *o)
{
	size_t n = o->nplaces;
	struct place *old = o->places;
	double best = -INFINITY;

	for (size_t i = 0; i < n; i++)
		best = fmax(best, old[i].best);
	o->places = NULL;
	o->nplaces = o->cap = 0;
	for (size_t i = 0; i < n; i++) {
		const struct place *next = &old[i + 1 < n ? i + 1 : i];
		bool near = old[i].best > best - 14 ||
		    (i && old[i - 1].best > best - 14) ||
		    next->best > best - 14;

		for (int k = 0; near && k < (i + 1 < n ? 3 : 1); k++)
			add_place(o, old[i].g + (next->g - old[i].g) * k / 3);
	}
	free(old);
	settle_places(o, GRID);
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
		const struct model_row *r = &o->rows[i * o->by];

		d[i] = r->change;
		wide += sqrt(r->own.var + r->sessions) / (double)n;
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
	for (size_t k = 0; k < o->ngroups; k++)
		for (int q = 0; q < SHARES; q++)
			o->states[o->nstates++] =
			    (struct state){k ? group_shares[q] : shares[q],
				k ? group_weights[q] : share_weights[q], k};
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

/* Adds a state of this weight, before that of its G, to the probabilities of a
 * row, and multiplies those that each row fell, or rose, without K. */
static void
add_row(struct model_row *r, const struct own *own, const struct place *p,
    double share, double weight, double each[2])
{
	double f = own->one.changed, down = own->one.down;
	double pc =
	    (1 - share) * f / (share * own->one.unchanged + (1 - share) * f);
	double alone = weight * p->alone, all = weight * p->all;

	each[0] *= pc * down;
	each[1] *= pc * (1 - down);
	r->down +=
	    alone * pc * down + all * (pc * own->down_all + (1 - pc) * p->down);
	r->up += alone * pc * (1 - down) +
	    all * (pc * (1 - own->down_all) + (1 - pc) * (1 - p->down));
}

/* Adds a place of this weight, before that of its G, to the sums. */
static void
sum_place(struct sums *s, const struct place *p, double weight, double scale)
{
	double alone = weight * p->alone, all = weight * p->all;
	double m = p->g - p->k.mean;

	s->all += alone + all;
	s->scale += (alone + all) * scale;
	s->machine += alone * p->g + all * m;
	s->machine_square += alone * p->g * p->g + all * (m * m + p->k.var);
	s->moved += (alone + all) * p->g;
	s->moved_square += (alone + all) * p->g * p->g;
	s->changed += all;
	s->k += all * p->k.mean;
	s->down += all * p->down;
	s->up += all * (1 - p->down);
}

/* Adds one place and scale to the sums, and to the rows. */
static void
sum_states(struct odds *o, const struct place *p, int scale, double best,
    struct sums *sum)
{
	double w[STATES], each[STATES][2], total = 0;

	weigh_states(o, p, scale, w);
	for (size_t s = 0; s < o->nstates; s++) {
		w[s] = exp(w[s] - best) * p->wide;
		if (w[s] * (p->alone + p->all) < LEAST_WEIGHT)
			w[s] = 0;
		total += w[s];
		each[s][0] = each[s][1] = 1;
		sum->unchanged +=
		    w[s] * (p->alone + p->all) * o->states[s].share;
	}
	if (!(total > 0))
		return;
	sum_place(sum, p, total, find_scale(scale));
	for (size_t i = 0; i < o->n; i++) {
		struct own own[GROUPS + 1];

		weigh_case(o, i, p, scale, true, own);
		for (size_t s = 0; s < o->nstates; s++)
			if (w[s] > 0)
				add_row(&o->rows[i], &own[o->states[s].group],
				    p, o->states[s].share, w[s], each[s]);
	}
	for (size_t s = 0; s < o->nstates; s++) {
		sum->down += w[s] * p->alone * each[s][0];
		sum->up += w[s] * p->alone * each[s][1];
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
		r->least = r->change - (r->pairs ? 0 : m->machine);
		r->rest = r->change - m->moved;
		r->rest_error = moderate_add(
		    sessions, (struct moderate){moved_var, INFINITY});
	}
}

static void
sum_places(struct odds *o)
{
	double best = -INFINITY;
	struct sums sum = {0};

	for (size_t i = 0; i < o->nplaces; i++)
		best = fmax(best, o->places[i].best + log(o->places[i].wide));
	for (size_t i = 0; i < o->nplaces; i++) {
		const struct place *p = &o->places[i];

		for (int k = 0; k < o->nscales; k++)
			if (p->best + log(p->wide) > best + log(LEAST_WEIGHT))
				sum_states(o, p, k, best, &sum);
	}
	set_results(o, &sum);
}

/* ---- what is exported */

struct odds_one
odds_weigh(double change, struct moderate error, double step)
{
	struct law law = make_law(error);

	return weigh_own(&law, 1, change, step, 0, &(struct change){0, 0}).one;
}

void
odds_judge(struct model_row *rows, size_t n, struct model_metric *m)
{
	struct odds o = {.rows = rows, .n = n, .metric = m, .nscales = 1};

	if (!n)
		return;
	o.by = 1 + n / SAMPLED;
	o.nsampled = (n + o.by - 1) / o.by;
	o.laws = mem_array(n, sizeof *o.laws);
	for (size_t i = 0; i < n; i++) {
		o.laws[i] = make_law(rows[i].own);
		rows[i].down = rows[i].up = 0;
		if (rows[i].sessions > 0)
			o.nscales = SCALES;
	}
	find_groups(&o);
	lay_grid(&o);
	refine_grid(&o);
	sum_places(&o);
	free(o.laws);
	free(o.places);
}
