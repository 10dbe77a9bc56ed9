#include "pools.h"
#include "verify.h"
#include "dealer.h"
#include "mem.h"
#include "run.h"
#include "slotmap.h"

#include <stdlib.h>
#include <string.h>

/*
 * Nodes are drawn in proportion to their part of the key space: that equals
 * drawing a key uniformly, and the key is then drawn uniformly among those of
 * the node. Where some keys are more popular, a key is drawn indeed, and the
 * node that has it is taken. Named tests whose key has no number (mylist:{tag})
 * go by slots; of other commands, those with one key go to its node, those
 * whose key is drawn to the node of such a key (cmdsource.c), and the rest to
 * all nodes equally.
 */
static uint64_t
get_node_weight(const struct run *r, const struct slotmap_node *n)
{
	if (r->source->fixed)
		return n->keys.owners[r->source->slot] == n->keys.node;
	if (!r->source->tagged)
		return 1;
	return r->source->keyed ? n->nkeys : n->nturns;
}

void
pools_free(struct worker *w)
{
	size_t i;

	for (i = 0; i < w->npools; i++) {
		free(w->pools[i].conns);
		free(w->pools[i].idle);
		free(w->pools[i].due);
	}
	free(w->pools);
	w->pools = NULL;
	w->npools = 0;
}

static void
add_conn(struct worker *w, struct pool *p, struct conn *c)
{
	p->conns[p->nconns++] = c;
	c->pool = (uint32_t)(p - w->pools);
	c->queued = false;
}

/* Distributes the due requests, oldest first, among the new pools. */
static void
deal_due(struct worker *w, int64_t *due, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		pools_add_due(pools_draw(w), due[i]);
}

static int
compare_times(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Returns all due requests of all pools in order, *n of them. Caller frees. */
static int64_t *
collect_due(const struct worker *w, size_t *n)
{
	const struct pool *p;
	int64_t *all;
	size_t i, k;

	*n = 0;
	for (i = 0; i < w->npools; i++)
		*n += w->pools[i].ndue;
	all = mem_array(*n + 1, sizeof *all);
	*n = 0;
	for (i = 0; i < w->npools; i++) {
		p = &w->pools[i];
		for (k = 0; k < p->ndue; k++)
			all[(*n)++] =
			    p->due[(p->due_at + k) & (p->due_cap - 1)];
	}
	qsort(all, *n, sizeof *all, compare_times);
	return all;
}

static void
set_pools(struct worker *w)
{
	const struct run *r = w->run;
	int64_t *due;
	uint64_t sum = 0;
	struct pool *p;
	struct conn *c;
	size_t i, ndue;

	due = collect_due(w, &ndue);
	for (i = 0; i < w->npools; i++) /* clients that waited draw again */
		w->free_clients += w->pools[i].waiting;
	pools_free(w);
	w->npools = r->by_key ? w->map->n : 1;
	w->pools = mem_array(w->npools, sizeof *w->pools);
	for (i = 0; i < w->npools; i++) {
		p = &w->pools[i];
		p->conns = mem_array(w->nconns, sizeof(struct conn *));
		p->idle = mem_array(w->nconns, sizeof(struct conn *));
		sum += get_node_weight(r, &w->map->nodes[i]);
		p->until = sum;
	}
	if (!sum)
		w->pools[w->npools - 1].until = 1;
	for (i = 0; i < w->nconns; i++) {
		c = w->conns[i];
		p = w->pools;
		if (r->by_key)
			p += (c->next ? c->next : c->node) - w->map->nodes;
		add_conn(w, p, c);
		if (c->state == CONN_READY && !c->awaited && !c->has_client)
			pools_add_idle(w, c);
	}
	deal_due(w, due, ndue);
	free(due);
}

/* Returns the slot of a request at random. */
static unsigned
scout_slot(struct worker *w)
{
	const struct cmdsource *s = w->run->source;

	if (s->mix) {
		w->scout.step = w->scout_ring.at;
		mix_plan(s->mix, &w->scout_ring, 1);
	}
	return cmdsource_draw_slot(
	    s->routes, &w->scout, &w->map->nodes->keys, w->scouted);
}

struct pool *
pools_draw(struct worker *w)
{
	const struct run *r = w->run;
	struct pool *p = w->pools;
	uint64_t at;

	if (w->npools == 1)
		return p;
	if (r->chooser->weighted && r->source->keyed) {
		r->chooser->draw(r->chooser, &w->rng, 0, r->space, &at, 1);
		return &p[w->map->owners[keys_slot(at % KEYS_SLOTS)]];
	}
	if (w->scouted)
		return &p[w->map->owners[scout_slot(w)]];
	at = rng_below(&w->rng, w->pools[w->npools - 1].until);
	while (p->until <= at)
		p++;
	return p;
}

void
pools_add_idle(struct worker *w, struct conn *c)
{
	struct pool *p = &w->pools[c->pool];

	p->full = false;
	if (c->queued)
		return;
	c->queued = true;
	p->idle[(p->idle_at + p->nidle++) % p->nconns] = c;
}

struct conn *
pools_take_idle(struct pool *p)
{
	struct conn *c;

	while (p->nidle) {
		c = p->idle[p->idle_at];
		p->idle_at = (p->idle_at + 1) % p->nconns;
		p->nidle--;
		c->queued = false;
		if (c->state == CONN_READY && !c->awaited && !c->next)
			return c;
	}
	return NULL;
}

void
pools_add_due(struct pool *p, int64_t due)
{
	p->due = run_grow_ring(
	    p->due, &p->due_at, p->ndue, &p->due_cap, sizeof *p->due);
	p->due[(p->due_at + p->ndue++) & (p->due_cap - 1)] = due;
}

int64_t
pools_take_due(struct pool *p)
{
	int64_t due = p->due[p->due_at];

	p->due_at = (p->due_at + 1) & (p->due_cap - 1);
	p->ndue--;
	return due;
}

/* Returns true if each key is used once in each round. */
static bool
is_in_sequence(const struct run *r)
{
	return r->chooser->ordered && r->source->tagged;
}

/* Returns the pool whose node has used the smallest part of its keys. */
static struct pool *
find_least_used(const struct worker *w)
{
	const struct run *r = w->run;
	struct slotmap_node *n;
	double done, least = 0;
	size_t i, which = SIZE_MAX;
	uint64_t weight;

	for (i = 0; i < w->npools; i++) {
		n = &w->map->nodes[i];
		weight = get_node_weight(r, n);
		if (!weight)
			continue;
		done = ((double)atomic_load_explicit(
			    &n->place, memory_order_relaxed) +
			   .5) /
		    (double)weight;
		if (which == SIZE_MAX || done < least) {
			which = i;
			least = done;
		}
	}
	return &w->pools[which == SIZE_MAX ? 0 : which];
}

/*
 * Takes up to n of the next keys of a node; fewer, or 0, at the end of its
 * round. The next round begins when all nodes have ended theirs.
 */
static uint32_t
take_keys(struct worker *w, struct conn *c, uint32_t n)
{
	struct slotmap_node *node = &w->map->nodes[c->pool], *other;
	uint64_t all = get_node_weight(w->run, node), weight, left, at;
	size_t i;

	at = atomic_load(&node->place);
	if (!all) /* none of the keys has a slot that the cluster serves */
		return n;
	do {
		for (i = 0; i < w->npools; i++) {
			other = &w->map->nodes[i];
			weight = get_node_weight(w->run, other);
			if (weight &&
			    atomic_load(&other->place) / weight < at / all)
				return 0;
		}
		left = all - at % all;
		if (n > left)
			n = (uint32_t)left;
	} while (!atomic_compare_exchange_weak(&node->place, &at, at + n));
	c->first = at;
	return n;
}

void
pools_advance(struct worker *w, struct conn *c, uint32_t n)
{
	if (w->run->by_key && is_in_sequence(w->run))
		c->first = atomic_fetch_add(&w->map->nodes[c->pool].place, n);
}

/*
 * Sends a batch of a client. Returns false if this node has no key left in its
 * round; then the client draws again.
 */
static bool
send_batch(struct worker *w, struct conn *c, int64_t now)
{
	uint32_t n = run_take(w, c, now), got = n;

	if (n && c->counted && is_in_sequence(w->run)) {
		got = take_keys(w, c, n);
		w->at -= n - got;
	}
	if (!got) {
		pools_add_idle(w, c);
		return n == 0;
	}
	c->has_client = true;
	run_send(w, c, got, now);
	return true;
}

/* Sends the next key of the node that has used the smallest part of its own. */
static void
serve_in_sequence(struct worker *w, int64_t now)
{
	struct pool *p;
	struct conn *c;

	while (w->free_clients) {
		w->free_clients--;
		p = now >= w->run->t0 ? find_least_used(w) : pools_draw(w);
		c = pools_take_idle(p);
		if (!c)
			p->waiting++;
		else if (!send_batch(w, c, now))
			w->free_clients++;
	}
}

void
pools_serve(struct worker *w, int64_t now)
{
	struct pool *p;
	struct conn *c;

	if (is_in_sequence(w->run)) {
		serve_in_sequence(w, now);
		return;
	}
	for (; w->free_clients; w->free_clients--)
		pools_draw(w)->waiting++;
	for (p = w->pools; p < w->pools + w->npools; p++)
		while (p->waiting && (c = pools_take_idle(p))) {
			p->waiting--;
			send_batch(w, c, now);
		}
}

void
pools_begin(struct worker *w)
{
	size_t i;

	for (i = 0; i < w->npools; i++)
		w->pools[i].waiting = 0;
	for (i = 0; i < w->nconns; i++)
		w->conns[i]->has_client = false;
	w->free_clients = w->nclients;
}

void
pools_release(struct worker *w, struct conn *c)
{
	struct pool *p = &w->pools[c->pool];

	if (c->awaited) /* another connection's client took it */
		return;
	w->free_clients += c->has_client;
	c->has_client = false;
	pools_add_idle(w, c);
	if (p->waiting && is_in_sequence(w->run)) {
		w->free_clients += p->waiting;
		p->waiting = 0;
	}
}

struct pool *
pools_choose(struct worker *w, uint64_t nth)
{
	const struct run *r = w->run;
	uint64_t number;

	if (!is_in_sequence(r) || !r->source->keyed)
		return pools_draw(w);
	number = (nth * r->nworkers + (uint64_t)w->index) % r->space;
	return &w->pools[w->map->owners[keys_slot(number % KEYS_SLOTS)]];
}

static struct conn *
new_conn(struct worker *w, size_t i)
{
	const struct run *r = w->run;
	struct conn *c = mem_new(sizeof *c);

	c->client = &w->client;
	c->worker = w;
	c->loop = &w->loop;
	c->fd = -1;
	c->index = i * r->nworkers + (size_t)w->index;
	c->down_ns = w->loop.now;
	c->cursor.chooser = r->chooser;
	rng_seed(&c->cursor.rng, rng_next(&w->rng), 0);
	c->cursor.place = c->index * 0x9e3779b9; /* far from the others */
	if (r->source->mix) {
		mix_ring_init(&c->ring, r->source->mix, r->pipeline,
		    rng_next(&w->rng), c->index);
		c->cursor.ring = &c->ring;
	}
	if (w->checks) {
		c->expected = c->cursor.expected = mem_new(sizeof *c->expected);
		c->expected->written = w->checks->written;
	}
	if (run_is_open(r)) {
		c->due = mem_array(r->pipeline, sizeof *c->due);
		c->written = mem_array(r->pipeline, sizeof *c->due);
	}
	if (r->work->replay)
		c->list = dealer_list_new((uint32_t)r->target->db);
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
	const struct conn *c;

	for (i = 0; i < w->nconns; i++) {
		c = w->conns[i];
		if (r->only_node != SIZE_MAX)
			to[i] = &m->nodes[r->only_node];
		else if (!r->by_key)
			to[i] = &m->nodes[c->index % m->n];
		else if (c->node)
			to[i] = slotmap_find(m, c->node->name);
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
pools_remap(struct worker *w, struct slotmap *m)
{
	const struct slotmap_node *n, **to;
	struct conn *c;
	size_t i;

	w->map = m;
	add_conns(w);
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
			c->next = NULL; /* it may be of an older map */
		} else {
			c->next = n;
			if (c->state == CONN_READY && !c->awaited) {
				conn_close(c);
				conn_open(c, w->loop.now);
			}
		}
	}
	free(to);
	set_pools(w);
}
