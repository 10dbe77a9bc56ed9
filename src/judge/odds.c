#include "odds.h"
#include "odds_own.h"
#include "mem.h"
#include "model.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_GROUP .05 /* prior probability of a group, at most */
#define LEAST 1e-14    /* variance of what has no error */

enum {
	GRID = 100,   /* places of G that are kept */
	SAMPLED = 200 /* cases that say what is common */
};

/* The shares of unchanged cases, alone and where some form a group. */
static const double shares[ODDS_SHARES] = {.3, .75, .95};
static const double share_weights[ODDS_SHARES] = {.25, .35, .4};
static const double group_shares[ODDS_SHARES] = {.5, .75, .93};
static const double group_weights[ODDS_SHARES] = {.9, .08, .02};

/* By how much T differs from what is stated. */
static const double scales[ODDS_SCALES] = {.1, .25, .5, 1, 2};
static const double scale_weights[ODDS_SCALES] = {.1, .2, .3, .3, .1};

/* ---- the grid */

double
odds_find_share(int share, size_t group)
{
	return (group ? group_shares : shares)[share];
}

double
odds_find_scale(const struct odds *o, int scale)
{
	return o->nscales > 1 ? scales[scale] * scales[scale] : 1;
}

double *
odds_find_states(const struct odds *o, size_t place, int scale)
{
	return o->states +
	    ((place * ODDS_SCALES + (size_t)scale) * ODDS_SHARES) *
	    (ODDS_GROUPS + 1);
}

double
odds_weigh_group(const struct item *c, double more, const struct group *group)
{
	double off = c->d - group->at;

	return ODDS_IN_GROUP *
	    density_at(&c->law, off * off, .2 * (c->law.var + more) + more);
}

/* Sets what is known of G = g before the cases are looked at. */
static void
set_place(const struct odds *o, struct place *p)
{
	const struct model_metric *m = o->metric;
	double sum = 0;

	for (size_t i = 0; i < m->nlaws; i++) {
		struct item law = {.law = density_make_law(m->laws[i].error)};
		struct own k =
		    density_weigh(&law, p->g, 0, &(struct density_k){0, 0});
		double f = m->laws[i].weight * k.changed;

		p->alone += m->laws[i].weight * k.unchanged;
		sum += f;
		p->down += f * k.down;
		p->k.mean += f * k.mean;
		p->k.var += f * k.var;
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

/* Sets the prior probability of each group, [0] of none, at G = g. */
static void
weigh_groups(const struct odds *o, double g, double p[ODDS_GROUPS + 1])
{
	p[0] = 1;
	for (size_t i = 1; i < o->ngroups; i++) {
		const struct group *c = &o->groups[i];
		double off = fabs(c->at - g);
		struct own own =
		    density_judge(off, (struct moderate){LEAST, INFINITY}, 0);

		p[i] = off < 2 * c->wide
		    ? 0
		    : fmin(MOST_GROUP, .5 * own.changed * 2.5 * c->wide);
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
weigh_states(struct odds *o, size_t place, int scale,
    const double groups[ODDS_GROUPS + 1])
{
	struct place *p = &o->places[place];
	struct product all[ODDS_SHARES][ODDS_GROUPS + 1];
	double *to = odds_find_states(o, place, scale);

	for (int q = 0; q < ODDS_SHARES; q++)
		for (size_t k = 0; k < o->ngroups; k++)
			all[q][k] = (struct product){1, 0};
	for (size_t i = 0; i < o->nsampled; i++) {
		const struct item *c = &o->items[i * o->by];
		double more = c->sessions * odds_find_scale(o, scale);
		struct own own = density_weigh(c, c->d - p->g, more, NULL);

		for (size_t k = 0; k < o->ngroups; k++) {
			double f = own.changed, share;

			if (!(groups[k] > 0))
				continue;
			if (k)
				f = (1 - ODDS_IN_GROUP) * f +
				    odds_weigh_group(c, more, &o->groups[k]);
			for (int q = 0; q < ODDS_SHARES; q++) {
				share = odds_find_share(q, k);
				add_factor(&all[q][k],
				    share * own.unchanged + (1 - share) * f);
			}
		}
	}
	for (int q = 0; q < ODDS_SHARES; q++)
		for (size_t k = 0; k < o->ngroups; k++) {
			double w = (k ? group_weights : share_weights)[q] *
			    groups[k] *
			    (o->nscales > 1 ? scale_weights[scale] : 1);
			double *l = &to[(size_t)q * (ODDS_GROUPS + 1) + k];

			*l = w > 0 ? log(w) + all[q][k].logs + log(all[q][k].v)
				   : -INFINITY;
			p->best = fmax(p->best, *l);
		}
}

static void
weigh_places(struct odds *o)
{
	for (size_t i = 0; i < o->nplaces; i++) {
		double groups[ODDS_GROUPS + 1];

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
	o->states =
	    mem_array(n * ODDS_SCALES * ODDS_SHARES * (ODDS_GROUPS + 1) + 1,
		sizeof *o->states);
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
	size_t by = 1 + o->nsampled / 40, n;
	struct place *old;
	double best = -INFINITY;

	for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
		for (size_t k = 0; k < m->nlaws; k++)
			add_place(o, off[i] * sqrt(m->laws[k].error.var));
		for (size_t k = 0; k < o->nsampled; k += by)
			add_place(o,
			    o->items[k * o->by].d +
				off[i] *
				    sqrt(o->items[k * o->by].law.var +
					o->items[k * o->by].sessions));
	}
	settle_places(o, 2 * GRID);
	old = o->places;
	n = o->nplaces;
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
		for (int k = 0; k < (i + 1 < n ? 3 : 1); k++)
			add_place(o,
			    old[i].g +
				(old[i + 1 < n ? i + 1 : i].g - old[i].g) * k /
				    3);
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
		d[i] = o->items[i * o->by].d;
		wide += sqrt(o->items[i * o->by].law.var +
			    o->items[i * o->by].sessions) /
		    (double)n;
	}
	stats_sort(d, n);
	for (size_t i = 0, end; n > MODEL_SEPARATE && i < n; i = end) {
		for (end = i + 1; end < n && d[end] - d[end - 1] < 1.5 * wide;)
			end++;
		if (end - i >= 2 && o->ngroups <= ODDS_GROUPS)
			o->groups[o->ngroups++] = (struct group){
			    (d[(i + end) / 2] + d[(i + end - 1) / 2]) / 2,
			    wide};
	}
	free(d);
}

/* ---- what is exported */

void
odds_judge(struct model_row *rows, size_t n, struct model_metric *m)
{
	struct odds o = {.rows = rows, .n = n, .metric = m};
	bool scaled = false;

	if (!n)
		return;
	o.by = 1 + n / SAMPLED;
	o.nsampled = (n + o.by - 1) / o.by;
	o.items = mem_array(n, sizeof *o.items);
	for (size_t i = 0; i < n; i++) {
		o.items[i] = (struct item){rows[i].change, rows[i].step,
		    rows[i].sessions, density_make_law(rows[i].own)};
		scaled = scaled || rows[i].sessions > 0;
	}
	o.nscales = scaled ? ODDS_SCALES : 1;
	find_groups(&o);
	lay_grid(&o);
	odds_sum_states(&o);
	free(o.items);
	free(o.places);
	free(o.states);
}
