#include "clock.h"
#include "hist.h"
#include "losses.h"
#include "mem.h"
#include "pools.h"
#include "run.h"
#include "slotmap.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENTS 64
#define TICK_NS 50000000

bool
run_halted(const struct run *r)
{
	return atomic_load_explicit(&r->halt, memory_order_relaxed) != 0;
}

static bool
by_duration(const struct run *r)
{
	return r->t1 != INT64_MAX;
}

/* A share of the requests left: large at first, so that few are asked for. */
static bool
more_requests(struct worker *w)
{
	struct run *r = w->run;
	uint64_t n = 65536, left;

	pthread_mutex_lock(&r->gate->lock);
	left = r->requests - r->next;
	if (r->requests != RUN_ENDLESS)
		n = left / (4 * r->nworkers);
	if (n < r->pipeline)
		n = r->pipeline;
	if (n > left)
		n = left;
	w->at = r->next;
	w->end = r->next += n;
	pthread_mutex_unlock(&r->gate->lock);
	return n > 0;
}

/* How many requests the next batch may have. */
static inline uint32_t
take(struct worker *w, struct conn *c, int64_t now)
{
	struct run *r = w->run;
	uint64_t n = r->pipeline;

	if (now >= r->t1)
		w->ending = true;
	if (w->ending)
		return 0;
	c->counted = now >= r->t0;
	if (!c->counted || (by_duration(r) && !r->sequential))
		return r->pipeline;
	if (w->at == w->end && !more_requests(w)) {
		w->ending = true;
		return 0;
	}
	if (n > w->end - w->at)
		n = w->end - w->at;
	w->at += n;
	return (uint32_t)n;
}

uint32_t
worker_take(struct worker *w, struct conn *c, int64_t now)
{
	return take(w, c, now);
}

/* Where the batch of n goes on in the sequence. */
void
worker_sequence(struct worker *w, struct conn *c, uint32_t n)
{
	const struct run *r = w->run;

	c->sequence = NULL;
	if (!r->sequential)
		return;
	if (r->by_key && r->command->ntags &&
	    (c->counted || r->work->rate > 0)) {
		c->here = c->first *= r->sequence_step;
		c->sequence = &c->here;
	} else if (!c->counted) {
		c->sequence = &w->warm;
	} else {
		c->here = c->first = (w->at - n) * r->sequence_step;
		c->sequence = &c->here;
	}
}

void
worker_course(struct worker *w, struct conn *c, uint32_t n)
{
	struct run *r = w->run;
	struct course *to = &c->course;
	uint64_t takes;
	int i;

	rng_seed(&to->rng, rng_next(&w->rng), 0);
	for (i = 0; i < TEMPLATE_KINDS; i++) {
		takes = template_takes(
		    r->template, (enum template_kind)i, to->turn, n);
		if (takes)
			to->next[i] = atomic_fetch_add_explicit(
			    r->taken[i], takes, memory_order_relaxed);
	}
	to->sequential = r->work->sequential;
	if (to->sequential && r->by_key && r->command->ntags) {
		if (!c->counted && r->work->rate <= 0) {
			c->first = w->warm;
			w->warm += n;
		}
		to->number = c->first;
	} else if (to->sequential) {
		to->number = atomic_fetch_add_explicit(
		    &r->number, n, memory_order_relaxed);
	}
	c->from = *to;
}

static void
next_batch(struct worker *w, struct conn *c, int64_t now)
{
	uint32_t n;

	if (c->next) {
		conn_close(w, c);
		conn_open(w, c, now);
		return;
	}
	if (w->run->work->rate > 0) {
		pools_add_idle(w, c);
		return;
	}
	if (w->run->by_key) {
		pools_next(w, c, now);
		return;
	}
	n = take(w, c, now);
	if (!n)
		return;
	worker_sequence(w, c, n);
	conn_send(w, c, n, now);
}

void
worker_ready(struct worker *w, struct conn *c, int64_t now)
{
	if (c->detour)
		detour_ready(w, c);
	else if (w->running && c->again)
		losses_resend(w, c, now);
	else if (w->running && (w->run->work->rate > 0 || !c->away))
		next_batch(w, c, now);
}

void
worker_replies(
    struct worker *w, struct conn *c, int64_t now, const struct scan_tally *t)
{
	struct run *r = w->run;
	uint32_t plain = c->awaited - c->refills;
	int64_t at = now;
	bool counted;

	if (plain > t->replies)
		plain = t->replies;
	c->awaited -= t->replies;
	if (c->refills > c->awaited)
		c->refills = c->awaited;
	if (r->work->rate > 0) {
		openloop_replies(w, c, now, plain);
		counted = now >= r->t0;
	} else {
		counted =
		    by_duration(r) ? now >= r->t0 && now < r->t1 : c->counted;
		if (r->work->batch_first_byte) {
			if (!c->first_ns)
				c->first_ns = now;
			at = c->first_ns;
		}
		plain -= w->taken;
		if (counted && plain)
			worker_record(w, at - c->start_ns, plain);
		else if (plain && now >= r->t1)
			worker_record_late(w, at - c->start_ns, plain);
	}
	if (counted) {
		w->misses += t->misses;
		w->refused += w->wrong;
		w->last_ns = now;
	}
	w->taken = w->wrong = 0;
	if (!c->awaited) {
		w->busy--;
		if (w->running && (r->work->rate > 0 || !c->away))
			next_batch(w, c, now);
	}
}

void
worker_back(
    struct worker *w, const struct away *a, int64_t now, struct scan_tally *t)
{
	struct run *r = w->run;
	struct conn *c = a->conn;
	bool counted = a->counted;

	c->away--;
	w->away--;
	if (r->work->rate > 0) {
		openloop_back(w, a, now);
		counted = now >= r->t0;
	} else {
		if (by_duration(r))
			counted = now >= r->t0 && now < r->t1;
		if (counted)
			worker_record(w, now - a->start_ns, 1);
		else if (now >= r->t1)
			worker_record_late(w, now - a->start_ns, 1);
	}
	if (counted) {
		w->misses += t->misses;
		w->refused += w->wrong;
		w->last_ns = now;
	}
	t->misses = w->wrong = 0; /* of all in this piece, taken once */
	if (r->work->rate <= 0 && c->state == CONN_READY && !c->awaited)
		worker_ready(w, c, now);
}

/* What a connection that is being made waits for, as the end of a message. */
static const char *
waiting_for(const struct conn *c)
{
	switch (c->state) {
	case CONN_TLS:
		return ": no answer to the TLS handshake; does this port speak "
		       "TLS?";
	case CONN_SETUP:
		return ": no reply to AUTH, HELLO or SELECT";
	default:
		return "";
	}
}

void
worker_check(struct worker *w, struct conn *c, int64_t now)
{
	struct run *r = w->run;
	double s = (double)r->timeout_ns / 1e9;

	switch (c->state) {
	case CONN_DOWN:
		if (atomic_load(&r->gate->lost_too_much))
			break; /* the run has failed */
		if (now - c->down_ns > r->timeout_ns)
			run_fail(
			    r, "cannot reach '%s' for %g s", c->node->name, s);
		else if (now >= c->retry_ns)
			conn_open(w, c, now);
		break;
	case CONN_CONNECTING:
	case CONN_TLS:
	case CONN_SETUP:
		if (now - c->since_ns > r->timeout_ns)
			run_fail(r, "cannot connect to '%s' within %g s%s",
			    c->node->name, s, waiting_for(c));
		break;
	case CONN_READY:
		losses_expire(w, c, now);
		break;
	}
}

static void
tick(struct worker *w, int64_t now)
{
	struct run *r = w->run;
	struct slotmap *m = atomic_load(&r->map);
	size_t i;

	w->tick_ns = now + TICK_NS;
	if (m != w->map)
		remap_worker(w, m);
	for (i = 0; i < w->nconns; i++)
		worker_check(w, w->conns[i], now);
	detour_check(w, now);
	if (atomic_load(&r->gate->lost_too_much) && !w->ending) {
		w->ending = true;
		w->cut = now < r->t1;
	}
	if (!w->running)
		return;
	if (now >= w->interval_end && (!by_duration(r) || now < r->t1))
		worker_interval(w, now);
}

/* Nothing is to be sent, and no reply is to come. */
static bool
closed_done(const struct worker *w)
{
	return w->ending && !w->busy && !w->away &&
	    (!w->again || atomic_load(&w->run->gate->lost_too_much));
}

/* epoll_wait to the nanosecond; in two steps before Linux 5.11. */
static int
wait_ns(struct worker *w, struct epoll_event *events, int64_t ns)
{
	struct pollfd p = {.fd = w->ep, .events = POLLIN};
	struct timespec t = {0};
	int n = -1;

	if (ns <= 0)
		return epoll_wait(w->ep, events, EVENTS, 0);
	t.tv_nsec = (long)ns;
	if (!w->no_pwait2)
		n = epoll_pwait2(w->ep, events, EVENTS, &t, NULL);
	if (n < 0 && errno == ENOSYS)
		w->no_pwait2 = true;
	if (!w->no_pwait2)
		return n;
	n = ppoll(&p, 1, &t, NULL);
	return n > 0 ? epoll_wait(w->ep, events, EVENTS, 0) : n;
}

/* Waits for events, but not beyond the next tick or arrival. */
static int
wait_events(struct worker *w, struct epoll_event *events)
{
	int64_t next = w->tick_ns;
	int ms = TICK_NS / 1000000;

	if (w->running && w->now < w->run->t1 && w->run->t1 < next)
		next = w->run->t1;
	if (w->running && w->run->work->rate > 0) {
		if (openloop_next(w) < next)
			next = openloop_next(w);
		return wait_ns(w, events, next - clock_ns());
	}
	if (next - w->now < TICK_NS)
		ms = next > w->now ? (int)((next - w->now) / 1000000) + 1 : 0;
	return epoll_wait(w->ep, events, EVENTS, ms);
}

static void
events(struct worker *w)
{
	struct epoll_event e[EVENTS];
	int i, n = wait_events(w, e);

	if (n <= 0)
		w->now = clock_ns();
	for (i = 0; i < n && !run_halted(w->run); i++)
		conn_event(w, e[i].data.ptr, e[i].events);
	if (w->running && w->run->work->rate > 0)
		openloop_dispatch(w, w->now = clock_ns());
	if (w->now >= w->tick_ns)
		tick(w, w->now);
}

static void
prepare(struct worker *w)
{
	struct run *r = w->run;
	const struct engine_work *work = r->work;
	size_t refills = 0;

	w->tid = (pid_t)syscall(SYS_gettid);
	prctl(PR_SET_TIMERSLACK, 1);
	rng_seed(&w->rng, work->seed, (uint64_t)w->index + 1);
	w->warm = r->space * (uint64_t)w->index / r->nworkers;
	w->refill_at = KEYS_NUMBERS / 2 +
	    (uint64_t)w->index * (KEYS_NUMBERS / 2 / r->nworkers);
	w->latency = HIST_LATENCY();
	if (work->rate > 0)
		w->service = HIST_LATENCY();
	w->in = mem_new(RUN_READ_SIZE);
	w->slice = (uint32_t)(RUN_SLICE / r->command->len) + 1;
	if (w->slice > r->pipeline)
		w->slice = r->pipeline;
	if (r->template) {
		w->batch = mem_new(template_room(r->template, RUN_SLICE));
	} else {
		w->batch = mem_array(w->slice, r->command->len);
		command_copy(r->command, w->batch, w->slice);
	}
	if (r->refill) {
		refills = r->pipeline / r->refill->values + 1;
		w->refill = mem_array(refills, r->refill->len);
		command_copy(r->refill, w->refill, refills);
	}
}

static bool
connect_all(struct worker *w)
{
	struct run *r = w->run;
	size_t i;

	w->now = clock_ns();
	w->tick_ns = w->now + TICK_NS;
	remap_worker(w, atomic_load(&r->map));
	for (i = 0; i < w->nconns && !run_halted(r); i++) {
		conn_open(w, w->conns[i], w->now);
	}
	while (w->nready < w->nconns && !run_halted(r))
		events(w);
	pthread_mutex_lock(&r->gate->lock);
	r->nready++;
	pthread_cond_broadcast(&r->gate->changed);
	while (!r->go && !run_halted(r))
		pthread_cond_wait(&r->gate->changed, &r->gate->lock);
	pthread_mutex_unlock(&r->gate->lock);
	return !run_halted(r);
}

static void
loop(struct worker *w)
{
	struct run *r = w->run;
	size_t i;

	w->running = true;
	w->interval_end = r->t0 + RUN_SECOND;
	w->now = clock_ns();
	if (r->work->rate > 0)
		openloop_start(w, w->now);
	for (i = 0; i < w->nconns; i++)
		if (w->conns[i]->state == CONN_READY)
			next_batch(w, w->conns[i], w->now);
	while (!w->finished && !run_halted(r)) {
		events(w);
		if (r->work->rate > 0) {
			w->finished = openloop_done(w);
			continue;
		}
		if (w->now >= r->t1)
			w->ending = true;
		w->finished = closed_done(w);
	}
	w->running = false;
	losses_end(w, clock_ns());
	if (r->work->rate > 0)
		openloop_unsent(w, clock_ns());
}

void *
worker_main(void *arg)
{
	struct worker *w = arg;
	struct run *r = w->run;

	w->ep = epoll_create1(EPOLL_CLOEXEC);
	if (w->ep < 0)
		err_die("epoll_create1: %s", strerror(errno));
	prepare(w);
	if (connect_all(w))
		loop(w);
	pthread_mutex_lock(&r->gate->lock);
	if (hist_count(w->latency))
		worker_hand_over(w, w->interval + 1);
	r->ndone++;
	pthread_cond_broadcast(&r->gate->changed);
	while (!r->released) /* its CPU time is read while it lives */
		pthread_cond_wait(&r->gate->changed, &r->gate->lock);
	pthread_mutex_unlock(&r->gate->lock);
	return NULL;
}
