/*
 * Open loop: requests are sent when they are due, even if earlier ones have no
 * reply.
 */
#include "arrivals.h"
#include "hist.h"
#include "mem.h"
#include "mixparts.h"
#include "pools.h"
#include "run.h"
#include "sending.h"
#include "counters.h"

#include <math.h>

/* Requests due at the end may still be sent for this long. */
#define DRAIN_NS 100000000

/*
 * Each thread has its part of the arrivals: every Nth of the constant ones, or
 * a thinner Poisson process. The schedule is absolute: 'seen' advances to the
 * present, 'sent' as requests are written; the backlog is between them. In a
 * cluster each node has its own backlog, see pools.h. What is due are whole
 * texts, see transaction.h: one request each, but for transactions.
 *
 * In slices the clock of the schedule stands still from the last reply of a
 * slice to the begin of the next. What became due while the last replies came
 * in, or had no free connection, is sent first in the next slice, as if there
 * had been no pause: queues grow and shrink as without slices.
 */
static void
begin_schedule(struct worker *w)
{
	const struct run *r = w->run;
	const struct engine_work *work = r->work;
	struct schedule *s = &w->seen;
	double rate = work->rate / r->together;

	w->base = w->stopped = r->start;
	s->kind = r->arrivals;
	s->gap_ns = 1e9 * (double)r->nworkers / rate;
	rng_seed(&s->rng, work->seed ^ UINT64_C(0x9e3779b97f4a7c15),
	    (uint64_t)w->index + 1);
	s->first_ns = 1e9 / rate * (double)w->index;
	if (work->parts) /* the arrivals of the parts come in turn */
		s->first_ns += 1e9 / rate * (work->part - 1) / work->parts;
	s->due = (double)w->index +
	    (work->parts ? (double)(work->part - 1) / work->parts : 0);
	s->threads = (double)r->nworkers;
	s->timing = (struct ratespec_timing){
	    ratespec_scale(&work->ramp, 1.0 / r->together), work->warmup_s,
	    work->duration_s};
	s->kind->begin(s);
	w->sent = *s;
}

static void
start_schedule(struct worker *w)
{
	const struct run *r = w->run;

	if (!w->seen.kind)
		begin_schedule(w);
	w->base += r->start - w->stopped;
	if (r->t0 == r->t1) /* a warm-up */
		return;
	w->windows = mem_grow(
	    w->windows, w->nwindows, &w->windows_cap, sizeof *w->windows);
	w->windows[w->nwindows++] = (struct window){
	    r->from - w->base, r->t0 - w->base, r->t1 - w->base};
}

/* Returns the slice that a due time is in or behind, or NULL. */
static const struct window *
find_window(const struct worker *w, int64_t due)
{
	size_t low = 0, high = w->nwindows, mid;

	while (low < high) {
		mid = high - 1 - (high - low) / 4; /* mostly the last */
		if (w->windows[mid].begin <= due)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &w->windows[low - 1] : NULL;
}

static bool
is_counted(const struct worker *w, int64_t due)
{
	const struct window *v = find_window(w, due);

	return v &&
	    (!run_by_duration(w->run) || (due >= v->from && due < v->to));
}

/* Returns the time of a request due at 'due' as it is recorded. */
static int64_t
convert_due(const struct worker *w, int64_t due)
{
	const struct window *v = find_window(w, due);

	if (v && due >= v->from && due < v->to)
		return w->base + due;
	return v || run_by_duration(w->run) ? RUN_NOT_MEASURED
					    : RUN_NOT_COUNTED;
}

static int64_t
get_next(const struct worker *w)
{
	int64_t next = w->base + (int64_t)w->seen.next_ns;

	if (w->measured >= w->share || next >= w->run->t1)
		return INT64_MAX;
	return next;
}

static void
count_arrivals(struct worker *w, int64_t now)
{
	const struct run *r = w->run;
	double t = (double)(now - w->base);
	double t1 = r->t1 == INT64_MAX ? INFINITY : (double)(r->t1 - w->base);
	int64_t due;

	while (w->seen.next_ns <= t && w->seen.next_ns < t1 &&
	    w->measured < w->share) {
		due = (int64_t)w->seen.next_ns;
		if (is_counted(w, due) && !w->measured++)
			w->first_due = w->seen.next_ns;
		if (r->by_key)
			pools_add_due(pools_choose(w, w->seen.n), due);
		w->seen.kind->advance(&w->seen);
	}
}

/*
 * Returns how many texts are due and not sent. Without a choice of nodes the
 * schedule has their times, so no memory is needed.
 */
static uint64_t
count_pending(const struct worker *w, const struct pool *p)
{
	return w->run->by_key ? p->ndue : w->seen.n - w->sent.n;
}

static uint64_t
count_backlog(const struct worker *w)
{
	uint64_t n = 0;

	for (size_t i = 0; i < w->npools; i++)
		n += count_pending(w, &w->pools[i]);
	return n;
}

/* Takes the oldest due request and returns its time, as it is recorded. */
static int64_t
take_due(struct worker *w, struct pool *p)
{
	int64_t due;

	if (w->run->by_key)
		return convert_due(w, pools_take_due(p));
	due = (int64_t)w->sent.next_ns;
	w->sent.kind->advance(&w->sent);
	return convert_due(w, due);
}

static uint32_t
count_free_slots(const struct worker *w, const struct conn *c)
{
	if (c->state != CONN_READY || c->refills || c->next || c->todo ||
	    conn_waits(c) || c->awaited >= w->run->pipeline)
		return 0;
	return (w->run->pipeline - c->awaited) / w->run->together;
}

/* Returns an idle connection, else one with room, or NULL. */
static struct conn *
choose_conn(struct worker *w, struct pool *p)
{
	struct conn *c = pools_take_idle(p);
	size_t i;

	if (c || w->run->pipeline == w->run->together || p->full)
		return c;
	for (i = 0; i < p->nconns; i++) {
		c = p->conns[p->cursor++ % p->nconns];
		if (count_free_slots(w, c))
			return c;
	}
	p->full = true; /* until there is a reply */
	return NULL;
}

static void
send_due(struct worker *w, struct pool *p, struct conn *c, int64_t now)
{
	struct run *r = w->run;
	uint64_t turns = p->nidle + 1, n;
	uint32_t i, first; /* repeats have no times, see transaction.h */
	int64_t due = 0;

	n = (count_pending(w, p) + turns - 1) / turns;
	if (n > count_free_slots(w, c))
		n = count_free_slots(w, c);
	n *= r->together;
	first = c->oldest + c->awaited - c->repeats;
	for (i = 0; i < n; i++) {
		if (i % r->together == 0)
			due = take_due(w, p);
		c->due[(first + i) % r->pipeline] = due;
	}
	pools_advance(w, c, (uint32_t)n);
	sending_batch(w, c, (uint32_t)n, now);
	for (i = 0; i < n; i++)
		c->written[(first + i) % r->pipeline] = c->start_ns;
}

/* Has the time ended in which overdue requests are sent? */
static bool
is_drained(const struct run *r, int64_t now)
{
	return r->t1 != INT64_MAX && now - (r->pauses ? 0 : DRAIN_NS) >= r->t1;
}

static void
dispatch_requests(struct worker *w, int64_t now)
{
	struct run *r = w->run;
	bool over = w->ending || is_drained(r, now);
	struct pool *p;
	struct conn *c;
	size_t i;

	count_arrivals(w, now);
	for (i = 0; i < w->npools && !over; i++) {
		p = &w->pools[i];
		while (count_pending(w, p) && (c = choose_conn(w, p)))
			send_due(w, p, c, now);
	}
	if (now >= r->t0)
		w->max_backlog = fmax(
		    w->max_backlog, (double)(count_backlog(w) * r->together));
}

/* Does an answer that came now count as one of the measured time? */
static bool
is_in_time(const struct run *r, int64_t now)
{
	return run_by_duration(r) ? now >= r->t0 && now < r->t1
				  : now >= r->from;
}

/* Latencies are of the requests that were due in the measured time, whenever
 * they are answered; by duration, requests are those answered in it. */
static void
record_reply(
    struct worker *w, int64_t now, int64_t due, int64_t written, size_t part)
{
	const struct run *r = w->run;
	bool counted = due != RUN_NOT_COUNTED &&
	    (!run_by_duration(r) || is_in_time(r, now));

	w->counted += counted;
	if (w->parts)
		mixparts_record_one(
		    w, part, counted, due < 0 ? -1 : now - due, now - written);
	if (counted && (due >= 0 || run_by_duration(r)))
		counters_count(w);
	if (due < 0)
		return;
	counters_record_late(w, now - due, 1);
	hist_add(w->service, now - written, 1);
}

static bool
record_replies(struct worker *w, struct conn *c, int64_t now, uint32_t replies)
{
	const struct run *r = w->run;
	size_t part = 0;

	w->pools[c->pool].full = false;
	for (; replies; replies--) {
		if (w->parts)
			part = mixparts_find(w, c, 0, c->awaited + replies);
		record_reply(
		    w, now, c->due[c->oldest], c->written[c->oldest], part);
		c->oldest = (c->oldest + 1) % r->pipeline;
	}
	if (w->parts)
		mixparts_count_answers(w, is_in_time(r, now));
	return is_in_time(r, now);
}

static bool
record_redirected(struct worker *w, const struct redirected *a, int64_t now)
{
	record_reply(w, now, a->due, a->start_ns, a->part);
	if (w->parts)
		mixparts_count_answers(w, is_in_time(w->run, now));
	return is_in_time(w->run, now);
}

static bool
is_sent(const struct worker *w)
{
	return w->measured >= w->share && !count_backlog(w);
}

static bool
is_done(struct worker *w)
{
	const struct run *r = w->run;

	if (w->ending)
		return !w->loop.busy && !w->nredirected;
	if (w->loop.busy || w->nredirected || w->again)
		return false;
	return is_sent(w) || is_drained(r, w->loop.now) ||
	    (w->loop.now >= r->t1 && !count_backlog(w));
}

static void
stop_schedule(struct worker *w, int64_t now)
{
	struct pool *p;
	int64_t due;

	w->stopped = now;
	if (w->run->pauses)
		return;
	for (p = w->pools; p < w->pools + w->npools; p++)
		while (count_pending(w, p)) {
			due = take_due(w, p);
			if (due < 0)
				continue;
			hist_add(w->latency, now - due, w->run->together);
			if (w->parts)
				mixparts_record_one(w,
				    mix_draw_part(w->run->source->mix, &w->rng),
				    false, now - due, -1);
		}
}

static void
keep_idle(struct worker *w, struct conn *c, int64_t now)
{
	(void)now;
	pools_add_idle(w, c);
}

const struct pacing openloop = {.idle = keep_idle,
    .start = start_schedule,
    .dispatch = dispatch_requests,
    .next = get_next,
    .stop = stop_schedule,
    .sent = is_sent,
    .answered = record_replies,
    .redirected = record_redirected,
    .take_times = run_take_times,
    .done = is_done};
