#include "causes.h"
#include "callgraph.h"
#include "intern.h"
#include "mem.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SWEEPS 10000
#define PRECISION 1e-12
#define ROUNDING 1e-9 /* of the total: changes below are not real */

/* All calls of one function by another, on both sides. */
struct pair {
	size_t from, to;
	double calls[2];
};

struct finding {
	struct causes *c;
	struct intern *names, *keys;
	size_t fcap;
	struct pair *pairs;
	size_t npairs, pcap;
	bool *runs[2], *called[2]; /* by function */
};

static void
collect_functions(struct finding *f, const struct callgraph *g, int side)
{
	struct causes *c = f->c;

	for (size_t i = 0; i < g->nfunctions; i++) {
		const struct callgraph_function *from = &g->functions[i];
		size_t id = intern_id(f->names, from->name);

		if (id == c->nfunctions) {
			*MEM_ADD(c->functions, c->nfunctions, f->fcap) =
			    (struct cause_function){
				.name = from->name, .unnamed = from->unnamed};
		}
		c->functions[id].self[side] += from->self;
		c->total[side] += from->self;
	}
}

static void
mark_functions(struct finding *f, const struct callgraph *g, int side)
{
	size_t n = f->c->nfunctions + 1;

	f->runs[side] = mem_array(n, sizeof *f->runs[side]);
	f->called[side] = mem_array(n, sizeof *f->called[side]);
	for (size_t i = 0; i < g->nfunctions; i++)
		f->runs[side][intern_id(f->names, g->functions[i].name)] = true;
}

static void
collect_pairs(struct finding *f, const struct callgraph *g, int side)
{
	char key[64];

	for (size_t i = 0; i < g->nedges; i++) {
		const struct callgraph_edge *e = &g->edges[i];
		size_t from = intern_id(f->names, g->functions[e->from].name);
		size_t to = intern_id(f->names, g->functions[e->to].name), id;

		snprintf(key, sizeof key, "%zu %zu", from, to);
		id = intern_id(f->keys, key);
		if (id == f->npairs) {
			*MEM_ADD(f->pairs, f->npairs, f->pcap) =
			    (struct pair){.from = from, .to = to};
		}
		f->pairs[id].calls[side] += e->calls;
		f->c->functions[to].calls[side] += e->calls;
		f->called[side][to] |= e->calls > 0;
	}
}

/* A function without a caller runs once: the counting began within it. */
static double
count_calls(const struct finding *f, size_t i, int side)
{
	if (f->called[side][i])
		return f->c->functions[i].calls[side];
	return f->runs[side][i] ? 1 : 0;
}

/* Returns the side whose numbers describe a call of function i: a function that
 * A lacks is assumed to do in A what it does in B. */
static int
choose_side(const struct finding *f, size_t i, int side)
{
	return f->runs[side][i] ? side : 1;
}

/* How often 'from' calls 'to' in each of its calls. */
static double
find_rate(const struct finding *f, const struct pair *p, int of)
{
	int side = choose_side(f, p->from, of);
	double calls = count_calls(f, p->from, side);

	return calls > 0 ? p->calls[side] / calls : 0;
}

static double
find_self(const struct finding *f, size_t i, int of)
{
	int side = choose_side(f, i, of);
	double calls = count_calls(f, i, side);

	return calls > 0 ? f->c->functions[i].self[side] / calls : 0;
}

/* What A does in a call: the rate of each pair, what each function executes. */
struct system {
	double *rate, *self, *loop;
	size_t *first; /* pairs of function i: order[first[i]..first[i+1]) */
	size_t *order;
};

static void
build_system(const struct finding *f, struct system *s)
{
	size_t n = f->c->nfunctions, *next;

	s->rate = mem_array(f->npairs + 1, sizeof *s->rate);
	s->self = mem_array(n + 1, sizeof *s->self);
	s->loop = mem_array(n + 1, sizeof *s->loop);
	s->first = mem_array(n + 2, sizeof *s->first);
	s->order = mem_array(f->npairs + 1, sizeof *s->order);
	next = mem_array(n + 1, sizeof *next);
	for (size_t i = 0; i < n; i++)
		s->self[i] = find_self(f, i, 0);
	for (size_t i = 0; i < f->npairs; i++) {
		const struct pair *p = &f->pairs[i];

		s->rate[i] = find_rate(f, p, 0);
		s->first[p->from + 1]++;
		if (p->from == p->to)
			s->loop[p->from] = s->rate[i];
	}
	for (size_t i = 0; i < n; i++) {
		s->first[i + 1] += s->first[i];
		next[i] = s->first[i];
	}
	for (size_t i = 0; i < f->npairs; i++)
		s->order[next[f->pairs[i].from]++] = i;
	free(next);
}

/* Returns whether the cost of a call of function i has changed. */
static bool
improve_cost(struct finding *f, const struct system *s, size_t i)
{
	struct cause_function *v = f->c->functions;
	double sum = s->self[i], old = v[i].cost;

	for (size_t k = s->first[i]; k < s->first[i + 1]; k++) {
		const struct pair *p = &f->pairs[s->order[k]];

		if (p->to != i)
			sum += s->rate[s->order[k]] * v[p->to].cost;
	}
	v[i].cost = sum / (1 - s->loop[i]);
	return !(fabs(v[i].cost - old) <= PRECISION * fabs(v[i].cost));
}

/* Solves v = s + r v of A (Gauss and Seidel). Returns whether it converges. */
static bool
compute_costs(struct finding *f)
{
	size_t n = f->c->nfunctions;
	struct system s = {0};
	bool changed = true;

	build_system(f, &s);
	for (int sweep = 0; sweep < SWEEPS && changed; sweep++) {
		changed = false;
		for (size_t i = 0; i < n; i++)
			changed |= improve_cost(f, &s, i);
		for (size_t i = n; i > 0; i--)
			changed |= improve_cost(f, &s, i - 1);
	}
	free(s.rate);
	free(s.self);
	free(s.loop);
	free(s.first);
	free(s.order);
	return !changed;
}

static void
add_cause(struct causes *c, size_t from, size_t to, const double times[2],
    double change)
{
	if (fabs(change) > ROUNDING * c->total[1])
		c->v[c->n++] = (struct cause){.from = from,
		    .to = to,
		    .times = {times[0], times[1]},
		    .change = change};
}

/* Adds what a function calls more or less often in each of its calls. Returns
 * the sum for a function without a name, else 0. */
static double
list_calls(struct finding *f, const struct pair *p)
{
	struct causes *c = f->c;
	double times[2], change;

	for (int k = 0; k < 2; k++)
		times[k] = find_rate(f, p, k);
	change = count_calls(f, p->from, 1) * (times[1] - times[0]) *
	    c->functions[p->to].cost;
	if (c->functions[p->from].unnamed)
		return change;
	add_cause(c, p->from, p->to, times, change);
	return 0;
}

static void
list_causes(struct finding *f)
{
	struct causes *c = f->c;
	double *unnamed = mem_array(c->nfunctions + 1, sizeof *unnamed);
	double times[2];

	c->v = mem_array(2 * c->nfunctions + f->npairs + 1, sizeof *c->v);
	for (size_t i = 0; i < f->npairs; i++)
		unnamed[f->pairs[i].from] += list_calls(f, &f->pairs[i]);
	for (size_t i = 0; i < c->nfunctions; i++) {
		for (int k = 0; k < 2; k++)
			times[k] = find_self(f, i, k);
		add_cause(c, i, CAUSES_NONE, times,
		    unnamed[i] + count_calls(f, i, 1) * (times[1] - times[0]));
		for (int k = 0; k < 2; k++)
			times[k] = f->called[k][i] ? 0 : count_calls(f, i, k);
		add_cause(c, CAUSES_NONE, i, times,
		    (times[1] - times[0]) * c->functions[i].cost);
	}
	free(unnamed);
}

static int
compare_causes(const void *a, const void *b)
{
	const struct cause *x = a, *y = b;

	if (fabs(x->change) != fabs(y->change))
		return fabs(x->change) < fabs(y->change) ? 1 : -1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

void
causes_take_selves(struct causes *c)
{
	free(c->v);
	c->v = mem_array(c->nfunctions + 1, sizeof *c->v);
	c->n = 0;
	for (size_t i = 0; i < c->nfunctions; i++) {
		const struct cause_function *f = &c->functions[i];
		double times[2];

		for (int k = 0; k < 2; k++)
			times[k] =
			    f->self[k] / (f->calls[k] > 0 ? f->calls[k] : 1);
		add_cause(c, i, CAUSES_NONE, times, f->self[1] - f->self[0]);
	}
	qsort(c->v, c->n, sizeof *c->v, compare_causes);
}

struct causes *
causes_find(const struct callgraph *a, const struct callgraph *b)
{
	struct finding f = {.c = mem_new(sizeof *f.c),
	    .names = intern_new(),
	    .keys = intern_new()};
	const struct callgraph *sides[2] = {a, b};

	for (int k = 0; k < 2; k++)
		collect_functions(&f, sides[k], k);
	for (int k = 0; k < 2; k++) {
		mark_functions(&f, sides[k], k);
		collect_pairs(&f, sides[k], k);
	}
	if (compute_costs(&f))
		list_causes(&f);
	else
		causes_take_selves(f.c);
	qsort(f.c->v, f.c->n, sizeof *f.c->v, compare_causes);
	for (int k = 0; k < 2; k++) {
		free(f.runs[k]);
		free(f.called[k]);
	}
	free(f.pairs);
	intern_free(f.names);
	intern_free(f.keys);
	return f.c;
}

void
causes_free(struct causes *c)
{
	free(c->functions);
	free(c->v);
	free(c);
}
