#include "run.h"
#include "verify.h"
#include "chooser.h"
#include "client.h"
#include "clock.h"
#include "counters.h"
#include "dealer.h"
#include "hist.h"
#include "losses.h"
#include "mem.h"
#include "pools.h"
#include "redirect.h"
#include "slotmap.h"
#include "str.h"
#include "tls.h"
#include "mix.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENTS 64
#define TICK_NS 50000000

static void
send_next_batch(struct worker *w, struct conn *c, int64_t now)
{
	if (c->next)
		losses_reopen(w, c, now);
	else
		w->run->arrivals->pacing->idle(w, c, now);
}

/* Sends on a ready connection; lost requests first. */
static void
resume_conn(struct conn *c, int64_t now)
{
	struct worker *w = c->worker;

	if (w->external && c->again)
		losses_resend(w, c, now);
	else if (w->external && (run_is_open(w->run) || !c->nredirected))
		send_next_batch(w, c, now);
}

static void
begin_conn(struct conn *c, int64_t now)
{
	struct worker *w = c->worker;

	if (w->checks)
		verify_forget(c->expected);
	/*
	 * Commands in turn begin with the first, others at any collection; what
	 * is reopened on purpose continues where it was.
	 */
	if (!losses_end_reopening(w, c))
		c->cursor.turn = w->run->source->cycle > 1 ? 0 : c->index;
	resume_conn(c, now);
}

static void
on_replies(struct conn *c, int64_t now, const struct scan_counters *t)
{
	struct worker *w = c->worker;
	struct run *r = w->run;
	uint32_t plain = c->awaited - c->refills;

	if (plain > t->replies)
		plain = t->replies;
	c->awaited -= t->replies;
	if (c->repeats)
		plain = mix_count_new(c, plain);
	w->answered += plain;
	if (c->refills > c->awaited)
		c->refills = c->awaited;
	counters_count_answers(
	    w, r->arrivals->pacing->answered(w, c, now, plain), t->misses, now);
	w->all.taken = 0;
	if (!c->awaited) {
		w->loop.busy--;
		if (w->external && (run_is_open(r) || !c->nredirected))
			send_next_batch(w, c, now);
	}
}

static void
on_error(struct conn *c, const char *line, uint32_t nth)
{
	struct worker *w = c->worker;

	bool ok;
	size_t part = 0;

	if (strcmp(line, SCAN_NIL) == 0 && !mix_is_exec(w, c, nth))
		return;
	ok = counters_count_error_reply(w, c, line);
	if (!ok)
		return;
	if (w->checks)
		verify_excuse(w->checks, c->expected, nth);
	if (w->parts) {
		part = counters_find_part(w, c, nth, c->awaited);
		counters_add_error(&w->parts[part], line);
	}
	if (redirect_take(w, c, line, nth) || nth >= c->awaited - c->refills)
		return;
	counters_count_refused(&w->all, line);
	if (w->parts)
		counters_count_refused(&w->parts[part], line);
}

static void
on_missed(struct conn *c, uint32_t nth, bool zero)
{
	struct worker *w = c->worker;

	if (w->checks)
		verify_miss(w->checks, c->expected, nth);
	if (w->parts)
		counters_miss(
		    w, counters_find_part(w, c, nth, c->awaited), zero);
}

/* The same where connections are reopened on purpose, or replies verified; a
 * function of its own keeps others fast. */
static void
on_watched_replies(struct conn *c, int64_t now, const struct scan_counters *t)
{
	struct worker *w = c->worker;

	if (w->checks)
		verify_end(w->checks, c->expected, t->replies);
	if (w->connect)
		losses_count_served(w, c, t->replies);
	on_replies(c, now, t);
}

static const struct conn_client worker_client = {.ready = begin_conn,
    .resumed = resume_conn,
    .replies = on_replies,
    .error = on_error,
    .missed = on_missed,
    .value = counters_check_value,
    .nonsense = losses_fail_on_nonsense,
    .lost = losses_break,
    .room = run_continue};

static void
run_tick(struct worker *w, int64_t now)
{
	struct run *r = w->run;
	struct slotmap *m = atomic_load(&r->map);
	size_t i;

	w->tick_ns = now + TICK_NS;
	if (m != w->map)
		pools_remap(w, m);
	for (i = 0; i < w->nconns; i++)
		if (losses_check(w, w->conns[i], now))
			losses_expire(w, w->conns[i], now);
	redirect_check(w, now);
	losses_check_storm(w, now);
	if (atomic_load(&r->gate->lost_too_much) && !w->ending) {
		w->ending = true;
		w->cut = now < r->t1;
	}
	if (w->external && now >= w->interval_end &&
	    (!run_by_duration(r) || now < r->t1))
		counters_end_interval(w, now);
}

/* epoll_wait with a timeout in ns; in two steps before Linux 5.11. */
static int
wait_ns(struct worker *w, struct epoll_event *events, int64_t ns)
{
	struct pollfd p = {.fd = w->loop.ep, .events = POLLIN};
	struct timespec t = {0};
	int n = -1;

	if (ns <= 0)
		return epoll_wait(w->loop.ep, events, EVENTS, 0);
	t.tv_nsec = (long)ns;
	if (!w->no_pwait2)
		n = epoll_pwait2(w->loop.ep, events, EVENTS, &t, NULL);
	if (n < 0 && errno == ENOSYS)
		w->no_pwait2 = true;
	if (!w->no_pwait2)
		return n;
	n = ppoll(&p, 1, &t, NULL);
	return n > 0 ? epoll_wait(w->loop.ep, events, EVENTS, 0) : n;
}

/* Waits for events, but not beyond the next tick or arrival. */
static int
wait_events(struct worker *w, struct epoll_event *events)
{
	const struct run *r = w->run;
	int64_t next = w->tick_ns;
	int ms = TICK_NS / 1000000;

	if (w->external && w->loop.now < w->run->t1 && w->run->t1 < next)
		next = w->run->t1;
	if (w->external && run_is_open(w->run)) {
		if (r->arrivals->pacing->next(w) < next)
			next = r->arrivals->pacing->next(w);
		return wait_ns(w, events, next - clock_ns());
	}
	if (next - w->loop.now < TICK_NS)
		ms = next > w->loop.now
		    ? (int)((next - w->loop.now) / 1000000) + 1
		    : 0;
	return epoll_wait(w->loop.ep, events, EVENTS, ms);
}

static void
send_due(struct worker *w)
{
	const struct pacing *pacing = w->run->arrivals->pacing;

	if (w->external && pacing->dispatch)
		pacing->dispatch(w, w->loop.now = clock_ns());
}

static void
handle_events(struct worker *w)
{
	struct epoll_event e[EVENTS];
	int i, n = wait_events(w, e);

	if (n <= 0)
		w->loop.now = clock_ns();
	for (i = 0; i < n && !run_halted(w->run); i++)
		conn_event(e[i].data.ptr, e[i].events);
	if (w->loop.now >= w->tick_ns)
		run_tick(w, w->loop.now);
	send_due(w);
}

/* In a cluster, where keys without a tag decide the node. */
static void
prepare_scout(struct worker *w)
{
	const struct run *r = w->run;
	const struct cmdsource *s = r->source;

	if (!s->routes || s->tagged)
		return;
	w->scouted = cmdsource_buffer(s, 1);
	w->scout.chooser = r->chooser;
	rng_seed(&w->scout.rng, rng_next(&w->rng), 0);
	if (!s->mix)
		return;
	mix_ring_init(&w->scout_ring, s->mix, 1, rng_next(&w->rng), 0);
	w->scout.ring = &w->scout_ring;
}

static void
prepare_worker(struct worker *w)
{
	struct run *r = w->run;
	const struct engine_work *work = r->work;
	const struct cmdsource *s = r->source;
	uint64_t from;

	losses_init_thread(w);
	w->client = worker_client;
	if (w->connect || work->verify)
		w->client.replies = on_watched_replies;
	w->tid = (pid_t)syscall(SYS_gettid);
	prctl(PR_SET_TIMERSLACK, 1);
	rng_seed(&w->rng, work->seed, (uint64_t)w->index + 1);
	w->warm = r->space * (uint64_t)w->index / r->nworkers;
	counters_init(w);
	w->loop.in = mem_new(CONN_READ_SIZE);
	w->batch = cmdsource_buffer(s, RUN_SLICE);
	if (work->verify) {
		w->checks = mem_new(sizeof *w->checks);
		w->checks->sizes = verify_sizes(s);
		w->checks->found.on = true;
		w->checks->kept = r->kept;
		w->checks->required = r->kept && verify_is_filled(work);
		w->checks->known = work->known;
		if (!r->strict)
			w->checks->written = verify_written_new(
			    VERIFY_WRITTEN_MOST / r->nworkers);
	}
	prepare_scout(w);
	if (work->replay)
		w->dealer = dealer_new(w);
	if (!r->refill)
		return;
	w->refill = mem_new(r->refill->ops->room(
	    r->refill, run_most_refills(r) * r->refill->len));
	w->refill_cursor.chooser = &chooser_sequential;
	from = KEYS_NUMBERS / 2 + run_begin_share(work, KEYS_NUMBERS / 2);
	w->refill_cursor.number =
	    (from +
		(uint64_t)w->index *
		    (KEYS_NUMBERS / 2 / (work->parts ? work->parts : 1) /
			r->nworkers)) /
	    r->refill->values;
}

static void
connect_clients(struct worker *w)
{
	struct run *r = w->run;
	size_t i;

	w->loop.now = clock_ns();
	w->tick_ns = w->loop.now + TICK_NS;
	pools_remap(w, atomic_load(&r->map));
	for (i = 0; i < w->nconns && !run_halted(r); i++)
		conn_open(w->conns[i], w->loop.now);
	while (w->loop.nready < w->nconns && !run_halted(r))
		handle_events(w);
	pthread_mutex_lock(&r->gate->lock);
	r->nready++;
	pthread_cond_broadcast(&r->gate->changed);
	pthread_mutex_unlock(&r->gate->lock);
}

/* Waits for the next slice. Returns false if there is none. */
static bool
wait_slice(struct worker *w)
{
	struct run *r = w->run;
	bool more;

	pthread_mutex_lock(&r->gate->lock);
	while (w->slice == r->slice && !r->released)
		pthread_cond_wait(&r->gate->changed, &r->gate->lock);
	more = w->slice != r->slice;
	w->slice = r->slice;
	pthread_mutex_unlock(&r->gate->lock);
	return more;
}

static void
run_loop(struct worker *w)
{
	struct run *r = w->run;
	const struct pacing *pacing = r->arrivals->pacing;
	size_t i;

	w->external = true;
	w->ending = atomic_load(&r->gate->lost_too_much);
	w->interval_end = r->slice_s > 0 ? INT64_MAX : r->t0 + RUN_SECOND;
	w->loop.now = clock_ns();
	losses_start_slice(w);
	if (run_is_open(r))
		pacing->start(w);
	else if (!w->dealer)
		pools_begin(w);
	for (i = 0; i < w->nconns; i++)
		if (w->conns[i]->state == CONN_READY)
			send_next_batch(w, w->conns[i], w->loop.now);
	send_due(w);
	while (!run_halted(r)) {
		handle_events(w);
		if (pacing->done(w))
			break;
	}
	w->external = false;
	losses_count_unfinished(w, clock_ns());
	redirect_end(w, clock_ns());
	if (run_is_open(r))
		pacing->stop(w, clock_ns());
}

/* For pthread_create; the argument is a struct worker. */
static void *
worker_main(void *arg)
{
	struct worker *w = arg;
	struct run *r = w->run;

	w->loop.ep = epoll_create1(EPOLL_CLOEXEC);
	if (w->loop.ep < 0)
		err_die("epoll_create1: %s", strerror(errno));
	prepare_worker(w);
	connect_clients(w);
	while (wait_slice(w)) {
		if (!run_halted(r))
			run_loop(w);
		counters_end_slice(w);
	}
	pthread_mutex_lock(&r->gate->lock);
	while (!r->released) /* its CPU time is read before it ends */
		pthread_cond_wait(&r->gate->changed, &r->gate->lock);
	pthread_mutex_unlock(&r->gate->lock);
	return NULL;
}

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
	client_format(s, words);
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
	r->setup.tls = t->tls;
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
	r->first = run_begin_share(
	    w, w->requests > 0 ? (uint64_t)w->all_requests : r->space);
	if (w->replay && w->requests <= 0 && w->duration_s <= 0)
		r->requests = RUN_WHOLE;
	r->by_key = t->cluster && o->only_node == SIZE_MAX;
	r->latency = HIST_LATENCY();
	if (run_is_open(r))
		r->service = HIST_LATENCY();
	make_setup(r);
	make_workers(r);
	if (t->cluster) {
		r->tags = mem_array(KEYS_SLOTS, sizeof *r->tags);
		keys_fill_tags(r->tags);
	}
	m = slotmap_new(
	    t, r->space, (const char(*)[3])r->tags, w->conns.replicas);
	atomic_store(&r->map, m);
	if (m && r->only_node != SIZE_MAX && r->only_node >= m->n)
		return err_fail("%s", RUN_MOVED);
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
		verify_free(c->expected);
		dealer_list_free(c->list);
		free(c);
	}
	dealer_free(w->dealer);
	redirect_free(w);
	counters_free(w);
	pools_free(w);
	if (w->loop.ep >= 0)
		close(w->loop.ep);
	hist_free(w->connect);
	free(w->conns);
	free(w->batch);
	free(w->scouted);
	free(w->scout_ring.steps);
	free(w->loop.in);
	free(w->refill);
	free(w->windows);
	if (w->checks)
		verify_written_free(w->checks->written);
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
