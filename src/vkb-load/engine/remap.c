#include "remap.h"
#include "mem.h"
#include "pools.h"
#include "run.h"
#include "slotmap.h"

#include <stdlib.h>
#include <string.h>

static struct conn *
new_conn(struct worker *w, size_t i)
{
	const struct run *r = w->run;
	struct conn *c = mem_new(sizeof *c);

	c->client = w->client;
	c->owner = w;
	c->loop = &w->loop;
	c->fd = -1;
	c->index = i * r->nworkers + (size_t)w->index;
	c->down_ns = w->loop.now;
	c->course.chooser = r->chooser;
	rng_seed(&c->course.rng, rng_next(&w->rng), 0);
	if (run_is_open(r)) {
		c->due = mem_array(r->pipeline, sizeof *c->due);
		c->written = mem_array(r->pipeline, sizeof *c->due);
	}
	return c;
}

/* Adds the connections that the map needs: one to each node for each client. */
static void
add_conns(struct worker *w)
{
	size_t n = w->nclients * (w->run->by_key ? w->map->n : 1), i;

	if (n <= w->nconns)
		return;
	w->conns = mem_resize(w->conns, n, sizeof *w->conns);
	for (i = w->nconns; i < n; i++)
		w->conns[i] = new_conn(w, i);
	w->nconns = n;
}

static const struct slotmap_node *
find_node(const struct slotmap *m, const struct conn *c)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (c->node && strcmp(c->node->name, m->nodes[i].name) == 0)
			return &m->nodes[i];
	return NULL;
}

/*
 * Gives each connection a node: its own if that is in the map and needs it,
 * else one that needs a connection.
 */
static void
choose_nodes(struct worker *w, const struct slotmap_node **to)
{
	const struct run *r = w->run;
	const struct slotmap *m = w->map;
	size_t *have = mem_array(m->n, sizeof *have), i, k;

	for (i = 0; i < w->nconns; i++) {
		to[i] = r->only_node != SIZE_MAX ? &m->nodes[r->only_node]
		    : r->by_key                  ? find_node(m, w->conns[i])
				: &m->nodes[w->conns[i]->index % m->n];
		if (r->by_key && to[i] && have[to[i] - m->nodes] < w->nclients)
			have[to[i] - m->nodes]++;
		else if (r->by_key)
			to[i] = NULL;
	}
	for (i = k = 0; i < w->nconns; i++) {
		if (to[i])
			continue;
		while (k < m->n && have[k] == w->nclients)
			k++;
		if (k < m->n)
			have[k]++;
		to[i] = &m->nodes[k < m->n ? k : i % m->n];
	}
	free(have);
}

void
remap_worker(struct worker *w, struct slotmap *m)
{
	const struct slotmap_node *n, **to;
	struct conn *c;
	size_t i;

	w->map = m;
	add_conns(w);
	free(w->refill_keys);
	w->refill_keys = mem_array(m->n, sizeof *w->refill_keys);
	for (i = 0; i < m->n; i++) {
		w->refill_keys[i] = m->nodes[i].keys;
		w->refill_keys[i].space = KEYS_NUMBERS;
	}
	to = mem_array(w->nconns, sizeof *to);
	choose_nodes(w, to);
	for (i = 0; i < w->nconns; i++) {
		c = w->conns[i];
		n = to[i];
		if (c->fd < 0)
			c->address = NULL;
		if (c->node && strcmp(c->node->name, n->name) == 0) {
			c->node = n;
			c->next = NULL;
		} else if (c->fd < 0) {
			c->node = n;
		} else {
			c->next = n;
			if (c->state == CONN_READY && !c->awaited) {
				conn_close(c);
				conn_open(c, w->loop.now);
			}
		}
	}
	free(to);
	pools_set(w);
	if (w->external && !run_is_open(w->run))
		pools_serve(w, w->loop.now);
}
