#include "seed.h"
#include "mem.h"
#include "run.h"
#include "slotmap.h"
#include "streams.h"
#include "tls.h"

#include <stdlib.h>
#include <string.h>

#define SOME 1000             /* elements: more than any range asks for */
#define POPS_MOST 10000000    /* elements seeded for a run of known length */
#define POPS_LEVEL 1000000    /* and where they are topped up meanwhile */
#define POPS_BYTES 1073741824 /* of their values */
#define SEED_CONNECTIONS 4    /* of each thread */
#define SEED_BATCH 262144     /* bytes */

static uint64_t
pops_most(const struct engine_work *w, uint64_t n)
{
	uint64_t fit = POPS_BYTES / ((uint64_t)w->data_size + 1);

	return n < fit ? n : fit;
}

bool
seed_refills(const struct engine_target *t, const struct engine_work *w)
{
	if (w->text || command_needs(w->command) != NEEDS_POPS)
		return false;
	return t->cluster || w->requests == 0 || w->warmup_s > 0 ||
	    (uint64_t)w->requests > pops_most(w, POPS_MOST);
}

uint64_t
seed_pops(const struct engine_target *t, const struct engine_work *w)
{
	uint64_t level = pops_most(w, POPS_LEVEL);
	uint64_t flight = 4 * (uint64_t)w->clients * (uint64_t)w->pipeline;

	if (!seed_refills(t, w))
		return (uint64_t)w->requests;
	return level > flight ? level : flight;
}

unsigned
seed_many(const struct engine_work *w)
{
	long long n = 16384 / (w->data_size + 32);

	return n < 1 ? 1 : n > 100 ? 100 : (unsigned)n;
}

struct seeding {
	engine_progress_fn *progress;
	void *arg;
	const volatile int *stop;
	double done, part; /* of the whole, by the node in work */
};

static void
report(void *arg, const struct engine_progress *p)
{
	struct seeding *s = arg;
	struct engine_progress all = *p;

	all.seeding = true;
	all.done = s->done + s->part * p->done;
	s->progress(s->arg, &all);
}

/* How many elements a node has to get. */
static uint64_t
elements(const struct engine_target *t, const struct engine_work *w,
    const struct command *c, const struct keys *k, size_t nodes)
{
	switch (command_needs(w->command)) {
	case NEEDS_KEYS:
		return c->keyed ? k->count : k->space;
	case NEEDS_SOME:
		return t->cluster ? SOME * KEYS_COLLECTIONS : SOME;
	case NEEDS_POPS:
		return (seed_pops(t, w) + nodes - 1) / nodes;
	case NEEDS_NOTHING:
		break;
	}
	return 0;
}

static int
seed_node(const struct engine_target *t, const struct engine_work *w,
    const struct slotmap *m, size_t node, struct seeding *s)
{
	struct engine_work work = *w;
	const struct keys *k = &m->nodes[node].keys;
	unsigned many = seed_many(w);
	struct run_options o = {.only_node = node, .strict = true};
	uint64_t n;
	int rc;

	if (command_needs(w->command) == NEEDS_KEYS && many > k->space)
		many = (unsigned)k->space;
	o.command = command_seed(w->command, w->data_size, t->cluster, many);
	n = elements(t, w, o.command, k, m->n);
	o.space =
	    command_needs(w->command) == NEEDS_KEYS ? k->space : KEYS_NUMBERS;
	work.requests =
	    (long long)((n + o.command->values - 1) / o.command->values);
	work.duration_s = work.warmup_s = work.rate = 0;
	work.sequential = true;
	work.clients = work.threads * SEED_CONNECTIONS;
	if (work.clients > work.requests)
		work.clients = (int)work.requests;
	work.pipeline = (int)(SEED_BATCH / o.command->len) + 1;
	if (work.pipeline > 1000)
		work.pipeline = 1000;
	rc = streams_run(
	    t, &work, &o, 1, s->stop, s->progress ? report : NULL, s, NULL);
	command_free(o.command);
	return rc;
}

/* What of a node is to be known before it gets its keys. */
struct nodes {
	struct tls_context *tls;
	struct slotmap *map;
	char (*tags)[3];
};

static int
nodes_open(
    struct nodes *n, const struct engine_target *t, const struct engine_work *w)
{
	if (t->tls) {
		n->tls = tls_context_new(t->cacert, t->cert, t->key);
		if (!n->tls)
			return -1;
	}
	n->tags = mem_array(KEYS_SLOTS, sizeof *n->tags);
	n->map =
	    slotmap_new(t, n->tls, run_space(w), (const char(*)[3])n->tags);
	return n->map ? 0 : -1;
}

static void
nodes_close(struct nodes *n)
{
	slotmap_free(n->map);
	tls_context_free(n->tls);
	free(n->tags);
}

int
engine_seed(const struct engine_target *t, const struct engine_work *w,
    const volatile int *stop, engine_progress_fn *progress, void *arg)
{
	struct seeding s = {.progress = progress, .arg = arg, .stop = stop};
	struct nodes n = {0};
	size_t i;
	int rc = -1;

	if (run_check(t, w) < 0)
		return -1;
	if (w->text || command_needs(w->command) == NEEDS_NOTHING)
		return 0;
	if (nodes_open(&n, t, w) < 0)
		goto out;
	s.part = 1 / (double)n.map->n;
	for (i = 0; i < n.map->n; i++, s.done += s.part)
		if (seed_node(t, w, n.map, i, &s) < 0)
			goto out;
	rc = 0;
out:
	nodes_close(&n);
	return rc;
}

int
seed_keys(const struct engine_target *t, const struct engine_work *w,
    const struct run_options *options, const volatile int *stop,
    engine_progress_fn *progress, void *arg, struct engine_result *result)
{
	struct seeding s = {.progress = progress, .arg = arg, .stop = stop};
	struct run_options o = *options;
	struct engine_work work = *w;
	struct nodes n = {0};
	int rc = nodes_open(&n, t, w);

	s.part = rc < 0 ? 1 : 1 / (double)n.map->n;
	for (size_t i = 0; rc == 0 && i < n.map->n && !result->refused; i++) {
		engine_result_free(result);
		o.only_node = i;
		work.requests = (long long)n.map->nodes[i].keys.count;
		work.clients = w->clients < work.requests ? w->clients
							  : (int)work.requests;
		rc = streams_run(t, &work, &o, 1, stop,
		    progress ? report : NULL, &s, result);
		s.done += s.part;
	}
	nodes_close(&n);
	return rc;
}
