#include "odds_own.h"
#include "model.h"
#include "tdist.h"

#include <math.h>

/* A state has a weight above this, of the heaviest. */
#define LEAST_WEIGHT 1e-7

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
		double at = group->at - p->g;
		double fe = odds_weigh_group(c, more, group);

		f *= 1 - ODDS_IN_GROUP;
		down = (f * down + fe * (at < 0)) / (f + fe);
		both = (f * both +
			   fe *
			       density_below(-(at + p->k.mean) /
				       sqrt(c->law.var + more + p->k.var),
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
add_states(
    struct odds *o, size_t place, int scale, double best, struct sums *sum)
{
	struct place *p = &o->places[place];
	const double *states = odds_find_states(o, place, scale);
	double w[ODDS_SHARES][ODDS_GROUPS + 1], total = 0;
	double each[ODDS_SHARES][ODDS_GROUPS + 1][2];

	for (int q = 0; q < ODDS_SHARES; q++)
		for (size_t k = 0; k < o->ngroups; k++) {
			w[q][k] =
			    exp(states[(size_t)q * (ODDS_GROUPS + 1) + k] -
				best) *
			    p->wide;
			if (w[q][k] * (p->alone + p->all) < LEAST_WEIGHT)
				w[q][k] = 0;
			total += w[q][k];
			each[q][k][0] = each[q][k][1] = 1;
			sum->unchanged += w[q][k] * (p->alone + p->all) *
			    odds_find_share(q, k);
		}
	if (!(total > 0))
		return;
	sum_place(sum, p, total, odds_find_scale(o, scale));
	for (size_t i = 0; i < o->n; i++) {
		const struct item *c = &o->items[i];
		double more = c->sessions * odds_find_scale(o, scale);
		struct own own = density_weigh(c, c->d - p->g, more, &p->k);

		for (int q = 0; q < ODDS_SHARES; q++)
			for (size_t k = 0; k < o->ngroups; k++)
				if (w[q][k] > 0)
					add_row(&o->rows[i], &own, c, more, p,
					    k ? &o->groups[k] : NULL,
					    odds_find_share(q, k),
					    w[q][k] * p->alone,
					    w[q][k] * p->all, each[q][k]);
	}
	for (int q = 0; q < ODDS_SHARES; q++)
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
		r->least = r->change - (r->pairs ? 0 : m->machine);
		r->rest = r->change - m->moved;
		r->rest_error = moderate_add(
		    sessions, (struct moderate){moved_var, INFINITY});
	}
}

void
odds_sum_states(struct odds *o)
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
