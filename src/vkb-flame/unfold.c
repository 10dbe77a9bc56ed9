#include "unfold.h"
#include "callgraph.h"
#include "calltree.h"
#include "mem.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NONE SIZE_MAX

/* Functions that call each other in a circle; most circles are one function. */
struct circle {
	size_t from, n;  /* its members in 'members' */
	double content;  /* what it executes, and what it calls outside of it */
	double entered;  /* cost of the calls from outside */
	size_t entrance; /* the member with the most costly of them */
	double most;
	size_t steps; /* its members and their calls */
};

/* What is still to be added: the circle of a function below a node. */
struct task {
	size_t function;
	uint32_t parent;
	double weight;
	size_t number; /* of those before it */
};

struct unfolding {
	const struct callgraph *g;
	struct calltree *t;
	size_t column;
	uint32_t *frames; /* of each function */
	size_t *first;    /* edges of function i: out[first[i]..first[i+1]) */
	size_t *out;
	size_t *circle_of; /* each function */
	size_t *members;
	struct circle *circles;
	size_t ncircles;
	uint32_t *node; /* of each function, while its circle is added */
	size_t *queue;
	struct task *tasks; /* a heap, the most costly first */
	size_t ntasks, cap;
	size_t pushed, steps, most_steps;
};

/* --- who calls whom */

static void
index_edges(struct unfolding *u)
{
	const struct callgraph *g = u->g;
	size_t *next;

	u->first = mem_array(g->nfunctions + 1, sizeof *u->first);
	u->out = mem_array(g->nedges + 1, sizeof *u->out);
	for (size_t i = 0; i < g->nedges; i++)
		u->first[g->edges[i].from + 1]++;
	for (size_t i = 0; i < g->nfunctions; i++)
		u->first[i + 1] += u->first[i];
	next = mem_array(g->nfunctions + 1, sizeof *next);
	memcpy(next, u->first, (g->nfunctions + 1) * sizeof *next);
	for (size_t i = 0; i < g->nedges; i++)
		u->out[next[g->edges[i].from]++] = i;
	free(next);
}

/* Tarjan, Depth-first search and linear graph algorithms, 1972. */
struct search {
	struct unfolding *u;
	size_t *number, *low; /* number 0: not visited */
	size_t *next;         /* edge of each function to follow next */
	size_t *open, nopen;  /* functions whose circle is not known yet */
	size_t *path, npath;
	size_t count, nmembers;
};

static void
visit_function(struct search *s, size_t f)
{
	s->number[f] = s->low[f] = ++s->count;
	s->next[f] = s->u->first[f];
	s->open[s->nopen++] = f;
	s->path[s->npath++] = f;
}

static void
close_circle(struct search *s, size_t f)
{
	struct unfolding *u = s->u;
	struct circle *c = &u->circles[u->ncircles];
	size_t m;

	*c = (struct circle){.from = s->nmembers, .entrance = f};
	do {
		m = s->open[--s->nopen];
		u->circle_of[m] = u->ncircles;
		u->members[s->nmembers++] = m;
		c->n++;
	} while (m != f);
	u->ncircles++;
}

static void
step_search(struct search *s)
{
	struct unfolding *u = s->u;
	size_t f = s->path[s->npath - 1], to;

	if (s->next[f] < u->first[f + 1]) {
		to = u->g->edges[u->out[s->next[f]++]].to;
		if (!s->number[to])
			visit_function(s, to);
		else if (u->circle_of[to] == NONE && s->number[to] < s->low[f])
			s->low[f] = s->number[to];
		return;
	}
	if (s->low[f] == s->number[f])
		close_circle(s, f);
	s->npath--;
	if (s->npath) {
		to = s->path[s->npath - 1];
		if (s->low[f] < s->low[to])
			s->low[to] = s->low[f];
	}
}

static void
find_circles(struct unfolding *u)
{
	size_t n = u->g->nfunctions + 1;
	struct search s = {.u = u,
	    .number = mem_array(n, sizeof *s.number),
	    .low = mem_array(n, sizeof *s.low),
	    .next = mem_array(n, sizeof *s.next),
	    .open = mem_array(n, sizeof *s.open),
	    .path = mem_array(n, sizeof *s.path)};

	u->circle_of = mem_array(n, sizeof *u->circle_of);
	u->members = mem_array(n, sizeof *u->members);
	u->circles = mem_array(n, sizeof *u->circles);
	for (size_t i = 0; i < u->g->nfunctions; i++)
		u->circle_of[i] = NONE;
	for (size_t i = 0; i < u->g->nfunctions; i++) {
		if (!s.number[i])
			visit_function(&s, i);
		while (s.npath)
			step_search(&s);
	}
	free(s.number);
	free(s.low);
	free(s.next);
	free(s.open);
	free(s.path);
}

static void
weigh_circles(struct unfolding *u)
{
	const struct callgraph *g = u->g;

	for (size_t i = 0; i < g->nfunctions; i++) {
		struct circle *c = &u->circles[u->circle_of[i]];

		c->content += g->functions[i].self;
		c->steps += 1 + u->first[i + 1] - u->first[i];
	}
	for (size_t i = 0; i < g->nedges; i++) {
		const struct callgraph_edge *e = &g->edges[i];
		struct circle *to = &u->circles[u->circle_of[e->to]];

		if (u->circle_of[e->from] == u->circle_of[e->to])
			continue;
		u->circles[u->circle_of[e->from]].content += e->cost;
		to->entered += e->cost;
		if (e->cost > to->most) {
			to->most = e->cost;
			to->entrance = e->to;
		}
	}
}

/* --- the tree */

/* Equal costs keep their order, so that the tree is always the same. */
static bool
is_before(const struct task *a, const struct task *b)
{
	return a->weight != b->weight ? a->weight > b->weight
				      : a->number < b->number;
}

static void
swap_tasks(struct task *a, struct task *b)
{
	struct task t = *a;

	*a = *b;
	*b = t;
}

static void
push_task(struct unfolding *u, size_t function, uint32_t parent, double weight)
{
	size_t i = u->ntasks;
	struct task *v;

	if (!(weight > 0))
		return;
	v = u->tasks = mem_grow(u->tasks, i, &u->cap, sizeof *u->tasks);
	v[u->ntasks++] = (struct task){function, parent, weight, u->pushed++};
	for (; i && is_before(&v[i], &v[(i - 1) / 2]); i = (i - 1) / 2)
		swap_tasks(&v[i], &v[(i - 1) / 2]);
}

static struct task
pop_task(struct unfolding *u)
{
	struct task *v = u->tasks, first = v[0];
	size_t i = 0, k;

	v[0] = v[--u->ntasks];
	while ((k = 2 * i + 1) < u->ntasks) {
		k += k + 1 < u->ntasks && is_before(&v[k + 1], &v[k]);
		if (!is_before(&v[k], &v[i]))
			break;
		swap_tasks(&v[i], &v[k]);
		i = k;
	}
	return first;
}

/* Adds the function, and pushes what it calls outside of its circle. */
static void
add_member(struct unfolding *u, size_t f, double share)
{
	const struct callgraph *g = u->g;

	u->t->self[u->column][u->node[f]] += share * g->functions[f].self;
	for (size_t i = u->first[f]; i < u->first[f + 1]; i++) {
		const struct callgraph_edge *e = &g->edges[u->out[i]];
		const struct circle *to = &u->circles[u->circle_of[e->to]];

		if (u->circle_of[e->to] != u->circle_of[f])
			push_task(u, e->to, u->node[f],
			    share * e->cost *
				fmin(1, to->content / to->entered));
	}
}

/* Adds all members, each below the first that calls it. */
static void
add_circle(struct unfolding *u, const struct task *task)
{
	const struct circle *c = &u->circles[u->circle_of[task->function]];
	double share = task->weight / c->content;
	size_t n = 1;

	for (size_t i = 0; i < c->n; i++)
		u->node[u->members[c->from + i]] = 0;
	u->queue[0] = task->function;
	u->node[task->function] =
	    calltree_child(u->t, task->parent, u->frames[task->function]);
	for (size_t k = 0; k < n; k++) {
		size_t f = u->queue[k];

		for (size_t i = u->first[f]; i < u->first[f + 1]; i++) {
			size_t to = u->g->edges[u->out[i]].to;

			if (u->circle_of[to] != u->circle_of[f] || u->node[to])
				continue;
			u->node[to] =
			    calltree_child(u->t, u->node[f], u->frames[to]);
			u->queue[n++] = to;
		}
		add_member(u, f, share);
	}
}

/* Adds the part of each circle that no call from outside accounts for as an
 * outermost frame: it was running when the counting began. */
static void
add_outermost(struct unfolding *u, uint32_t root)
{
	for (size_t i = 0; i < u->ncircles; i++) {
		const struct circle *c = &u->circles[i];
		double rest = c->content - c->entered;

		if (rest > 1e-9 * c->content)
			push_task(u, c->entrance, root, rest);
	}
}

/* Returns the weight of a task that is not followed since the steps are spent.
 */
static double
add_task(struct unfolding *u, const struct task *task)
{
	size_t steps = u->circles[u->circle_of[task->function]].steps;
	bool matters = task->weight >= UNFOLD_LEAST * u->g->total;
	uint32_t node;

	if (matters && u->steps + steps <= u->most_steps) {
		u->steps += steps;
		add_circle(u, task);
		return 0;
	}
	node = calltree_child(u->t, task->parent, u->frames[task->function]);
	u->t->self[u->column][node] += task->weight;
	return matters ? task->weight : 0;
}

double
unfold_graph(const struct callgraph *g, struct calltree *t, size_t column)
{
	struct unfolding u = {.g = g,
	    .t = t,
	    .column = column,
	    .most_steps = UNFOLD_STEPS + g->nfunctions + g->nedges};
	uint32_t root = 0;
	double cut = 0;
	struct task task;

	u.frames = mem_array(g->nfunctions + 1, sizeof *u.frames);
	for (size_t i = 0; i < g->nfunctions; i++)
		u.frames[i] = calltree_frame(
		    t, g->functions[i].name, strlen(g->functions[i].name));
	index_edges(&u);
	find_circles(&u);
	weigh_circles(&u);
	u.node = mem_array(g->nfunctions + 1, sizeof *u.node);
	u.queue = mem_array(g->nfunctions + 1, sizeof *u.queue);
	if (*g->name)
		root = calltree_child(
		    t, 0, calltree_frame(t, g->name, strlen(g->name)));
	add_outermost(&u, root);
	while (u.ntasks) {
		task = pop_task(&u);
		cut += add_task(&u, &task);
	}
	free(u.frames);
	free(u.first);
	free(u.out);
	free(u.circle_of);
	free(u.members);
	free(u.circles);
	free(u.node);
	free(u.queue);
	free(u.tasks);
	return cut;
}
