#include "threads.h"
#include "checks.h"
#include "dealer.h"
#include "sendlist.h"
#include "hist.h"
#include "mem.h"
#include "mixparts.h"
#include "pools.h"
#include "redirect.h"
#include "run.h"
#include "share.h"
#include "slotmap.h"
#include "str.h"
#include "tls.h"
#include "worker.h"
#include "written.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A batch this large is not given to the kernel at once: the send buffers of
 * all connections should stay in the cache until the server reads them. On the
 * null server, 16 KB values at pipeline 100 then cost a third less.
 */
enum { BATCH_LARGE = 512 * 1024, SEND_ROOM = 128 * 1024 };

/* Adds a command whose words end with NULL to those that begin a connection. */
static void
add_command(struct run *r, struct str *s, const char *const *words)
{
	size_t n = 0;

	while (words[n])
		n++;
	str_printf(s, "*%zu\r\n", n);
	for (; *words; words++)
		str_printf(s, "$%zu\r\n%s\r\n", strlen(*words), *words);
	r->setup.replies++;
}

static void
make_setup(struct run *r)
{
	const struct engine_target *t = r->target;
	size_t batch = (size_t)r->pipeline * r->source->len;
	char db[16];
	const char *const hello[] = {"HELLO", "3", NULL},
			  *const select[] = {"SELECT", db, NULL},
			  *const readonly[] = {"READONLY", NULL},
			  *const track[] = {"CLIENT", "TRACKING", "ON",
			      r->work->conns.bcast ? "BCAST" : NULL, NULL},
			  *const auth[] = {"AUTH",
			      t->user ? t->user : t->password,
			      t->user ? t->password : NULL, NULL};
	struct str s = {0};

	snprintf(db, sizeof db, "%d", t->db);
	if (t->password)
		add_command(r, &s, auth);
	if (r->work->resp3)
		add_command(r, &s, hello);
	if (t->db > 0)
		add_command(r, &s, select);
	if (r->work->conns.tracking)
		add_command(r, &s, track);
	if (r->work->conns.replicas && t->cluster)
		add_command(r, &s, readonly);
	r->setup.n = s.len;
	r->setup.text = str_take(&s);
	r->setup.servername = t->servername;
	r->setup.resume = t->resume;
	r->setup.zero_miss = r->source->zero_miss;
	r->setup.tell_nil = r->source->execs;
	r->setup.missed = r->source->mix || r->work->verify;
	r->setup.values = r->work->verify;
	r->setup.send_room = batch > BATCH_LARGE ? SEND_ROOM : 0;
}

/* Shares the clients, and in open loop the arrivals, among threads. */
static void
make_workers(struct run *r)
{
	const struct engine_work *work = r->work;
	struct worker *w;
	size_t i;

	r->nworkers = (size_t)(work->threads < work->clients ? work->threads
							     : work->clients);
	r->workers = mem_array(r->nworkers, sizeof *r->workers);
	for (i = 0; i < r->nworkers; i++) {
		w = &r->workers[i];
		w->run = r;
		w->index = (int)i;
		w->loop.ep = -1;
		w->loop.setup = &r->setup;
		w->nclients =
		    ((size_t)work->clients + r->nworkers - 1 - i) / r->nworkers;
		w->share = r->requests == RUN_ENDLESS
		    ? RUN_ENDLESS
		    : (r->requests / r->together + r->nworkers - 1 - i) /
			r->nworkers;
	}
}

/* Returns how many requests n are as whole texts. */
static uint64_t
round_up(const struct run *r, uint64_t n)
{
	return (n + r->together - 1) / r->together * r->together;
}

int
threads_init(struct run *r, struct gate *gate, const struct engine_target *t,
    const struct engine_work *w, const struct run_options *o)
{
	struct slotmap *m;

	r->gate = gate;
	r->target = t;
	r->work = w;
	r->source = o->source;
	r->arrivals = arrivals_find(w);
	memcpy(r->taken, o->taken, sizeof r->taken);
	r->refill = o->refill;
	r->only_node = o->only_node;
	r->strict = o->strict;
	r->space = o->space;
	r->chooser = chooser_new(w, r->space, r->taken[CMDSOURCE_SEQ]);
	r->together = o->source->together;
	r->pipeline = (uint32_t)round_up(r, (uint64_t)w->pipeline);
	r->timeout_ns = (int64_t)((w->timeout_s > 0 ? w->timeout_s : 60) * 1e9);
	r->requests =
	    w->requests > 0 ? round_up(r, (uint64_t)w->requests) : RUN_ENDLESS;
	r->first = share_begin(
	    w, w->requests > 0 ? (uint64_t)w->all_requests : r->space);
	if (w->replay && w->requests <= 0 && w->duration_s <= 0)
		r->requests = RUN_WHOLE;
	r->by_key = t->cluster && o->only_node == SIZE_MAX;
	r->latency = HIST_LATENCY();
	if (run_is_open(r))
		r->service = HIST_LATENCY();
	make_setup(r);
	make_workers(r);
	if (t->tls) {
		r->setup.tls = tls_context_new(&t->how);
		if (!r->setup.tls)
			return -1;
	}
	if (t->cluster) {
		r->tags = mem_array(KEYS_SLOTS, sizeof *r->tags);
		keys_fill_tags(r->tags);
	}
	m = slotmap_new(t, r->setup.tls, r->space, (const char(*)[3])r->tags,
	    w->conns.replicas);
	atomic_store(&r->map, m);
	if (m && r->only_node != SIZE_MAX && r->only_node >= m->n)
		return err_fail("the cluster changed while it was seeded");
	return m ? 0 : -1;
}

static void
free_worker(struct worker *w)
{
	struct conn *c;
	size_t i;

	for (i = 0; i < w->nconns; i++) {
		c = w->conns[i];
		if (c->fd >= 0)
			conn_close(c);
		tls_session_free(c->session);
		free(c->rest);
		free(c->due);
		free(c->written);
		free(c->ring.steps);
		checks_free(c->expected);
		sendlist_free(c->list);
		free(c);
	}
	dealer_free(w->dealer);
	redirect_free(w);
	mixparts_free(w);
	pools_free(w);
	if (w->loop.ep >= 0)
		close(w->loop.ep);
	hist_free(w->latency);
	hist_free(w->service);
	hist_free(w->connect);
	free(w->conns);
	free(w->batch);
	free(w->scouted);
	free(w->scout_ring.steps);
	free(w->loop.in);
	free(w->refill);
	free(w->refill_keys);
	free(w->windows);
	if (w->checks)
		written_free(w->checks->written);
	free(w->checks);
}

void
threads_free(struct run *r)
{
	size_t i;

	for (i = 0; i < r->nworkers; i++)
		free_worker(&r->workers[i]);
	for (i = 0; i < r->nintervals; i++)
		hist_free(r->intervals[i].hist);
	free(r->intervals);
	free(r->workers);
	free(r->setup.text);
	slotmap_free(atomic_load(&r->map));
	tls_context_free(r->setup.tls);
	chooser_free(r->chooser);
	free(r->tags);
	hist_free(r->latency);
	hist_free(r->service);
}

/* Gives each thread one CPU if there are enough, else all threads all CPUs. */
static void
set_affinity(pthread_attr_t *a, const cpu_set_t *cpus, size_t i, size_t threads)
{
	cpu_set_t one;
	size_t cpu, left = i;

	if (!cpus)
		return;
	CPU_ZERO(&one);
	if (threads > (size_t)CPU_COUNT(cpus)) {
		pthread_attr_setaffinity_np(a, sizeof *cpus, cpus);
		return;
	}
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, cpus) && left-- == 0)
			break;
	CPU_SET(cpu, &one);
	pthread_attr_setaffinity_np(a, sizeof one, &one);
}

int
threads_start(struct run *r)
{
	pthread_attr_t a;
	struct worker *w;
	size_t i;
	int e = 0;

	for (i = 0; i < r->nworkers && !e; i++) {
		w = &r->workers[i];
		pthread_attr_init(&a);
		set_affinity(&a, r->work->cpus, i, r->nworkers);
		e = pthread_create(&w->thread, &a, worker_main, w);
		pthread_attr_destroy(&a);
		w->started = e == 0;
	}
	if (e)
		run_fail(r, "cannot start a thread%s: %s",
		    r->work->cpus ? " on the client's CPUs" : "", strerror(e));
	return e ? -1 : 0;
}
