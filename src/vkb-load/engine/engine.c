#include "engine.h"
#include "command.h"
#include "mem.h"
#include "rng.h"
#include "rowset.h"
#include "run.h"
#include "streams.h"
#include "slotmap.h"

#include <stdlib.h>
#include <string.h>

#define SOME 1000             /* elements: more than any range asks for */
#define POPS_MOST 10000000    /* elements seeded for a run of known length */
#define POPS_LEVEL 1000000    /* elements seeded if refilled during the run */
#define POPS_BYTES 1073741824 /* limit of their values */
#define SEED_CONNECTIONS 4    /* of each thread */
#define SEED_BATCH 262144     /* bytes */
#define TURN_BATCH 16384      /* the same in turn: servers read it at once */

static uint64_t
limit_pops(const struct engine_work *w, uint64_t n)
{
	uint64_t fit = POPS_BYTES / ((uint64_t)w->data_size + 1);

	return n < fit ? n : fit;
}

bool
engine_refills(const struct engine_target *t, const struct engine_work *w)
{
	if (w->nmix || command_needs(w->command) != NEEDS_POPS)
		return false;
	return t->cluster || w->requests == 0 || w->warmup_s > 0 ||
	    (uint64_t)run_all_requests(w) > limit_pops(w, POPS_MOST);
}

static uint64_t
count_pops(const struct engine_target *t, const struct engine_work *w)
{
	uint64_t level = limit_pops(w, POPS_LEVEL);
	uint64_t flight = 4 * (uint64_t)w->clients * (uint64_t)w->pipeline;

	if (!engine_refills(t, w))
		return (uint64_t)w->requests;
	if (t->prefix && level > (uint64_t)w->keyspacelen) /* data of others */
		level = (uint64_t)w->keyspacelen;
	return level > flight ? level : flight;
}

double
engine_count_seeds(const struct engine_target *t, const struct engine_work *w,
    const char *command)
{
	struct engine_work one = *w;

	one.nmix = 0;
	one.command = command;
	switch (command_needs(command)) {
	case NEEDS_KEYS:
		return (double)run_space(w);
	case NEEDS_SOME:
		return (double)(t->cluster ? SOME * KEYS_COLLECTIONS * t->nnodes
					   : SOME);
	case NEEDS_POPS:
		return (double)count_pops(t, &one);
	case NEEDS_NOTHING:
		break;
	}
	return 0;
}

/* Returns how many elements a command that fills the server has. */
static unsigned
count_per_command(const struct engine_work *w)
{
	long long n = 16384 / (w->data_size + 32);

	return n < 1 ? 1 : n > 100 ? 100 : (unsigned)n;
}

struct seeding {
	engine_progress_fn *progress;
	void *arg;
	const volatile int *stop;
	double done, part; /* shares of the whole: done, and of this node */
};

static void
report_progress(void *arg, const struct engine_progress *p)
{
	struct seeding *s = arg;
	struct engine_progress all = *p;

	all.seeding = true;
	all.done = s->done + s->part * p->done;
	s->progress(s->arg, &all);
}

/*
 * Returns how many elements a node gets. Elements to pop are shared among the
 * nodes, but all clients may pop from one node before they refill.
 */
static uint64_t
count_elements(const struct engine_target *t, const struct engine_work *w,
    const struct cmdsource *s, const struct slotmap_node *node, size_t nodes)
{
	uint64_t pops,
	    least = (uint64_t)w->clients *
	    (count_per_command(w) + 2 * (uint64_t)w->pipeline);

	switch (command_needs(w->command)) {
	case NEEDS_KEYS:
		return t->cluster && s->keyed ? node->nkeys : node->keys.space;
	case NEEDS_SOME:
		return t->cluster ? SOME * KEYS_COLLECTIONS : SOME;
	case NEEDS_POPS:
		pops = (count_pops(t, w) + nodes - 1) / nodes;
		return t->cluster && pops < least ? least : pops;
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
	unsigned many = count_per_command(w);
	struct run_options o = {.only_node = node, .strict = true};
	struct engine_load l;
	uint64_t n;
	int rc;

	if (command_needs(w->command) == NEEDS_KEYS && many > k->space)
		many = (unsigned)k->space;
	o.source = cmdsource_open_seed(t, w, many);
	n = count_elements(t, w, o.source, &m->nodes[node], m->n);
	o.space =
	    command_needs(w->command) == NEEDS_KEYS ? k->space : KEYS_NUMBERS;
	work.requests =
	    (long long)((n + o.source->values - 1) / o.source->values);
	work.duration_s = work.warmup_s = work.rate = 0;
	work.ramp = (struct ratespec){0};
	work.keys = (struct keyspec){.kind = KEYSPEC_SEQUENTIAL};
	work.conns = (struct engine_conns){0};
	work.clients = w->in_turn ? 1 : work.threads * SEED_CONNECTIONS;
	if (work.clients > work.requests)
		work.clients = (int)work.requests;
	work.pipeline = (int)(SEED_BATCH / o.source->len) + 1;
	if (w->in_turn)
		work.pipeline = (int)(TURN_BATCH / (o.source->len + 1)) + 1;
	if (work.pipeline > 1000)
		work.pipeline = 1000;
	l = (struct engine_load){.target = t, .works = &work, .n = 1};
	rc = n == 0 ? 0
		    : streams_run(&l, 1, &o, NULL, s->stop,
			  s->progress ? report_progress : NULL, s);
	o.source->ops->free(o.source);
	return rc;
}

/* Fills the servers for one command. */
static int
seed_command(const struct engine_target *t, const struct engine_work *w,
    const volatile int *stop, engine_progress_fn *progress, void *arg)
{
	struct seeding s = {.progress = progress, .arg = arg, .stop = stop};
	struct slotmap *m = NULL, *counted;
	char(*tags)[3] = NULL;
	size_t i;
	int rc = -1;

	if (run_check(t, w) < 0)
		return -1;
	if (command_needs(w->command) == NEEDS_NOTHING)
		return 0;
	tags = mem_array(KEYS_SLOTS, sizeof *tags);
	m = slotmap_new(t, run_space(w), tags, false);
	if (!m)
		goto out;
	s.part = 1 / (double)m->n;
	for (i = 0; i < m->n; i++, s.done += s.part)
		if (seed_node(t, w, m, i, &s) < 0)
			goto out;
	/* The keys of each node were counted before the first was seeded. If no
	 * node answers now, the slots count as unchanged: the load that follows
	 * cannot start either. */
	counted = m;
	if (t->cluster)
		m = slotmap_refresh(m, t, run_space(w), tags);
	rc = m == counted ? 0 : err_fail("%s", RUN_MOVED);
out:
	slotmap_free(m);
	free(tags);
	return rc;
}

int
engine_seed(const struct engine_target *t, const struct engine_work *w,
    const volatile int *stop, engine_progress_fn *progress, void *arg)
{
	struct engine_work one = *w;
	size_t i, k;
	int rc = 0;

	if (!w->nmix)
		return seed_command(t, w, stop, progress, arg);
	one.nmix = 0;
	for (i = 0; i < w->nmix && rc == 0; i++) {
		for (k = 0; k < i; k++)
			if (command_same_seed(
				w->mix[k].command, w->mix[i].command))
				break;
		one.command = w->mix[i].command;
		if (k == i)
			rc = seed_command(t, &one, stop, progress, arg);
	}
	return rc;
}

/* Returns an earlier stream whose template is the same, so that the rows in it
 * are in memory once; or SIZE_MAX. */
static size_t
find_same_template(const struct engine_work *works, size_t i)
{
	const struct engine_work *w = &works[i], *v;

	if (!w->rows || w->nmix || command_known(w->command))
		return SIZE_MAX;
	for (size_t j = 0; j < i; j++) {
		v = &works[j];
		if (!v->nmix && strcmp(v->command, w->command) == 0 &&
		    v->rows == w->rows && v->data_size == w->data_size &&
		    v->verify == w->verify &&
		    engine_is_ordered(v) == engine_is_ordered(w) &&
		    valuespec_equal(&v->values, &w->values))
			return j;
	}
	return SIZE_MAX;
}

/* Sets the sources of a stream, perhaps to those of an earlier one. */
static int
open_sources(struct run_options *o, size_t i, const struct engine_target *t,
    const struct engine_work *works)
{
	const struct engine_work *w = &works[i];
	size_t first = find_same_template(works, i);

	if (run_check(t, w) < 0)
		return -1;
	o[i].only_node = SIZE_MAX;
	o[i].space = run_space(w);
	o[i].source =
	    first != SIZE_MAX ? o[first].source : cmdsource_open(t, w);
	if (o[i].source && engine_refills(t, w))
		o[i].refill = cmdsource_open_seed(t, w, count_per_command(w));
	return o[i].source ? 0 : -1;
}

static void
free_source(struct cmdsource *s)
{
	if (s)
		s->ops->free(s);
}

/*
 * Each row of a dataset, and each number in sequence, goes to one stream. Where
 * a stream uses the latest numbers, those of __seq__ go on behind the key
 * space. The parts of a shared load begin at different rows and numbers.
 */
static void
share_counters(struct run_options *o, const struct engine_work *works, size_t n,
    _Atomic uint64_t *counters)
{
	size_t i, first;

	for (i = 0; i < n; i++) {
		if (works[i].keys.kind == KEYSPEC_LATEST &&
		    counters[n] < run_space(&works[i]))
			counters[n] = run_space(&works[i]);
		for (first = 0; works[first].rows != works[i].rows; first++)
			continue;
		if (works[i].parts && !counters[n])
			counters[n] = run_begin_share(&works[i], KEYS_NUMBERS);
		if (works[i].parts && works[i].rows && !counters[first])
			counters[first] = run_begin_share(
			    &works[i], rowset_count(works[i].rows));
		o[i].taken[CMDSOURCE_SEQ] = &counters[n];
		o[i].taken[CMDSOURCE_ROWS] = &counters[first];
	}
}

static int
open_load(const struct engine_load *l, struct run_options *o,
    _Atomic uint64_t *counters)
{
	size_t i;
	int rc = 0;

	memset(l->results, 0, l->n * sizeof *l->results);
	for (i = 0; i < l->n && rc == 0; i++)
		rc = open_sources(o, i, l->target, l->works);
	share_counters(o, l->works, l->n, counters);
	return rc;
}

static void
close_load(const struct engine_load *l, struct run_options *o)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		if (find_same_template(l->works, i) == SIZE_MAX)
			free_source(o[i].source);
		free_source(o[i].refill);
	}
}

static int
run_loads(const struct engine_load *loads, size_t n, struct rng *rng,
    const volatile int *stop, engine_progress_fn *progress, void *arg)
{
	struct run_options *o;
	_Atomic uint64_t *counters;
	size_t i, at, all = 0;
	int rc = 0;

	for (i = 0; i < n; i++)
		all += loads[i].n;
	o = mem_array(all, sizeof *o);
	counters = mem_array(all + n, sizeof *counters);
	for (i = at = 0; i < n; at += loads[i++].n)
		if (open_load(&loads[i], &o[at], &counters[at + i]) < 0)
			rc = -1;
	if (rc == 0)
		rc = streams_run(loads, n, o, rng, stop, progress, arg);
	for (i = at = 0; i < n; at += loads[i++].n)
		close_load(&loads[i], &o[at]);
	free(counters);
	free(o);
	return rc;
}

struct engine_work
engine_share_work(
    const struct engine_work *whole, unsigned part, unsigned parts)
{
	struct engine_work w = *whole;
	uint64_t all = (uint64_t)w.requests;
	struct rng rng;

	w.part = part;
	w.parts = parts;
	w.all_requests = w.requests;
	w.requests = (long long)(run_bound(all, part, parts) -
	    run_bound(all, part - 1, parts));
	w.clients = (int)(((unsigned)w.clients + parts - part) / parts);
	w.rate /= parts;
	w.ramp = ratespec_scale(&w.ramp, 1. / parts);
	rng_seed(&rng, w.seed, UINT64_C(0x70617274) + part);
	w.seed = rng_next(&rng);
	return w;
}

int
engine_run(const struct engine_target *t, const struct engine_work *works,
    size_t n, const volatile int *stop, engine_progress_fn *progress, void *arg,
    const struct engine_meter *meter, struct engine_result *results)
{
	struct engine_load l = {t, works, n, meter, results};

	return run_loads(&l, 1, NULL, stop, progress, arg);
}

int
engine_run_slices(const struct engine_load *loads, size_t n, uint64_t seed,
    const volatile int *stop, engine_progress_fn *progress, void *arg)
{
	struct rng rng;

	rng_seed(&rng, seed, 0);
	return run_loads(loads, n, &rng, stop, progress, arg);
}
