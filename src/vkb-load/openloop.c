#include "clock.h"
#include "hist.h"
#include "run.h"
#include "slotmap.h"

#include <math.h>

/* What is due at the end may still be sent for so long. */
#define DRAIN_NS 100000000

/*
 * Each thread has its part of the arrivals: every Nth of the constant ones, a
 * thinner Poisson process. The schedule is absolute. 'seen' runs ahead to the
 * present, 'sent' follows as requests are written; between them lies the
 * backlog.
 */
static void
arrive(struct arrivals *a)
{
	a->n++;
	if (a->poisson)
		a->next_ns += a->gap_ns * rng_exponential(&a->rng);
	else
		a->next_ns = a->first_ns + (double)a->n * a->gap_ns;
}

void
openloop_start(struct worker *w, int64_t now)
{
	struct run *r = w->run;
	const struct engine_work *work = r->work;
	struct arrivals *a = &w->seen;

	(void)now;
	a->gap_ns = 1e9 * (double)r->nworkers / work->rate;
	a->poisson = work->arrivals == ENGINE_POISSON;
	rng_seed(&a->rng, work->seed ^ UINT64_C(0x9e3779b97f4a7c15),
	    (uint64_t)w->index + 1);
	a->first_ns =
	    (double)(r->start - r->base) + 1e9 / work->rate * (double)w->index;
	a->next_ns = a->first_ns;
	if (a->poisson)
		a->next_ns += a->gap_ns * rng_exponential(&a->rng);
	w->sent = *a;
}

int64_t
openloop_next(const struct worker *w)
{
	int64_t next = w->run->base + (int64_t)w->seen.next_ns;

	if (w->measured >= w->share || next >= w->run->t1)
		return INT64_MAX;
	return next;
}

static void
look_ahead(struct worker *w, int64_t now)
{
	const struct run *r = w->run;
	double t = (double)(now - r->base), t0 = (double)(r->t0 - r->base);
	double t1 = r->t1 == INT64_MAX ? INFINITY : (double)(r->t1 - r->base);

	while (w->seen.next_ns <= t && w->seen.next_ns < t1 &&
	    w->measured < w->share) {
		w->measured += w->seen.next_ns >= t0;
		arrive(&w->seen);
	}
}

void
openloop_idle(struct worker *w, struct conn *c)
{
	w->full = false;
	if (c->queued)
		return;
	c->queued = true;
	w->idle[(w->idle_at + w->nidle++) % w->nconns] = c;
}

static struct conn *
pop_idle(struct worker *w)
{
	struct conn *c;

	while (w->nidle) {
		c = w->idle[w->idle_at];
		w->idle_at = (w->idle_at + 1) % w->nconns;
		w->nidle--;
		c->queued = false;
		if (c->state == CONN_READY && !c->awaited)
			return c;
	}
	return NULL;
}

static uint32_t
room(const struct worker *w, const struct conn *c)
{
	if (c->state != CONN_READY || c->refills || c->next || c->todo ||
	    conn_waits(c))
		return 0;
	return w->run->pipeline - c->awaited;
}

/* An idle connection, or else one that can take more. */
static struct conn *
choose(struct worker *w)
{
	struct conn *c = pop_idle(w);
	size_t i;

	if (c || w->run->pipeline == 1 || w->full)
		return c;
	for (i = 0; i < w->nconns; i++) {
		c = &w->conns[w->cursor++ % w->nconns];
		if (room(w, c))
			return c;
	}
	w->full = true; /* until there is a reply */
	return NULL;
}

void
openloop_dispatch(struct worker *w, int64_t now)
{
	struct run *r = w->run;
	bool over =
	    w->ending || (r->t1 != INT64_MAX && now - DRAIN_NS >= r->t1);
	uint64_t backlog, n, slots;
	struct conn *c;
	uint32_t i, k;

	look_ahead(w, now);
	while (!over && w->sent.n < w->seen.n && (c = choose(w))) {
		backlog = w->seen.n - w->sent.n;
		slots = w->nidle + 1;
		n = (backlog + slots - 1) / slots;
		if (n > room(w, c))
			n = room(w, c);
		for (i = 0; i < n; i++) {
			k = (c->oldest + c->awaited + i) % r->pipeline;
			c->due[k] = r->base + (int64_t)w->sent.next_ns;
			arrive(&w->sent);
		}
		worker_sequence(w, c, 0);
		k = c->oldest + c->awaited;
		conn_send(w, c, (uint32_t)n, now);
		for (i = 0; i < n; i++)
			c->written[(k + i) % r->pipeline] = c->start_ns;
	}
	backlog = w->seen.n - w->sent.n;
	if (now >= r->t0 && (double)backlog > w->max_backlog)
		w->max_backlog = (double)backlog;
}

static bool
in_time(const struct run *r, int64_t due)
{
	return due >= r->t0 && due < r->t1;
}

void
openloop_replies(
    struct worker *w, struct conn *c, int64_t now, uint32_t replies)
{
	const struct run *r = w->run;

	w->full = false;
	for (; replies; replies--) {
		if (in_time(r, c->due[c->oldest])) {
			worker_record(w, now - c->due[c->oldest], 1);
			hist_add(w->service, now - c->written[c->oldest], 1);
		}
		c->oldest = (c->oldest + 1) % r->pipeline;
	}
}

void
openloop_away(struct worker *w, struct conn *c, uint32_t nth, struct away *a)
{
	uint32_t k = (c->oldest + nth) % w->run->pipeline;

	a->due = c->due[k];
	a->start_ns = c->written[k];
	c->due[k] = INT64_MIN;
}

void
openloop_back(struct worker *w, const struct away *a, int64_t now)
{
	if (!in_time(w->run, a->due))
		return;
	worker_record(w, now - a->due, 1);
	hist_add(w->service, now - a->start_ns, 1);
}

bool
openloop_done(const struct worker *w)
{
	const struct run *r = w->run;

	if (w->ending)
		return !w->busy && !w->away;
	if (w->busy || w->away || w->again)
		return false;
	if (r->t1 == INT64_MAX)
		return w->measured >= w->share && w->sent.n >= w->seen.n;
	return w->now - DRAIN_NS >= r->t1 ||
	    (w->now >= r->t1 && w->sent.n == w->seen.n);
}

void
openloop_unsent(struct worker *w, int64_t now)
{
	const struct run *r = w->run;
	int64_t due;

	while (w->sent.n < w->seen.n) {
		due = r->base + (int64_t)w->sent.next_ns;
		if (in_time(r, due))
			hist_add(w->latency, now - due, 1);
		arrive(&w->sent);
	}
}
