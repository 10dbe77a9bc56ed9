#include "counters.h"
#include "dealer.h"
#include "hist.h"
#include "mem.h"
#include "pools.h"
#include "run.h"

#include <math.h>

/* Open loop: requests due at the end may still be sent for this long. */
#define DRAIN_NS 100000000
#define AHEAD_NS 100000000 /* a trace is read so long before it is due */

/* No time of a trace is later: about 146 years. */
#define LATEST_NS ((double)(INT64_MAX / 2))

/* Closed loop: a client sends its next batch when the last is answered. */

/*
 * Are all replies that have come read before the next requests are sent? In a
 * cluster a node then gets its requests together, and TLS costs less where a
 * batch is one request; with longer batches the server would have nothing to do
 * in the meantime.
 */
static inline bool
is_in_turns(const struct run *r)
{
	return r->by_key || (r->setup.tls && r->pipeline == 1);
}

static void
send_batch(struct worker *w, struct conn *c, int64_t now)
{
	uint32_t n = run_take(w, c, now);

	if (n)
		run_send(w, c, n, now);
}

static void
send_next(struct worker *w, struct conn *c, int64_t now)
{
	if (is_in_turns(w->run))
		pools_release(w, c);
	else
		send_batch(w, c, now);
}

/* Sends on the connections that send_next left to this. */
static void
send_kept(struct worker *w, int64_t now)
{
	struct conn *c;

	if (w->run->by_key)
		pools_serve(w, now);
	else if (is_in_turns(w->run))
		while ((c = pools_take_idle(w->pools)))
			if (!c->nredirected)
				send_batch(w, c, now);
}

/* Returns true if requests answered now are measured. */
static inline bool
record_answers(
    struct worker *w, bool counted, int64_t now, int64_t ns, uint32_t n)
{
	const struct run *r = w->run;
	bool measured = now >= r->t0 && now < r->t1;

	if (run_by_duration(r))
		counted = measured;
	if (counted)
		w->all.counted += n;
	if (counted && measured && n)
		counters_record(w, ns, n);
	else if (n && now >= r->t1)
		hist_add(w->all.latency, ns, n);
	return counted;
}

/* Returns the time that counts as that of replies that were read now. */
static inline int64_t
get_time(const struct worker *w, struct conn *c, int64_t now)
{
	if (!w->run->work->batch_first_byte)
		return now;
	if (!c->first_ns)
		c->first_ns = now;
	return c->first_ns;
}

/* Of a mix or a trace; a function of its own keeps other loads fast. */
__attribute__((noinline)) static bool
record_batch_of_parts(struct worker *w, struct conn *c, int64_t now, uint32_t n)
{
	int64_t ns = get_time(w, c, now) - c->start_ns;
	bool counted = record_answers(w, c->counted, now, ns, n - w->all.taken);

	counters_record_parts(w, c, n, counted, now, ns);
	return counted;
}

static bool
record_batch(struct worker *w, struct conn *c, int64_t now, uint32_t n)
{
	if (w->parts)
		return record_batch_of_parts(w, c, now, n);
	return record_answers(w, c->counted, now,
	    get_time(w, c, now) - c->start_ns, n - w->all.taken);
}

static bool
record_one(struct worker *w, const struct redirected *a, int64_t now)
{
	const struct run *r = w->run;
	int64_t ns = now - a->start_ns;
	bool counted = record_answers(w, a->counted, now, ns, 1);
	bool recorded = now >= r->t1 || (counted && now >= r->t0);

	if (w->parts)
		counters_record_one(
		    &w->parts[a->part], counted, recorded ? ns : -1, -1);
	return counted;
}

static bool
is_finished(struct worker *w)
{
	if (w->loop.now >= w->run->t1)
		w->ending = true;
	return w->ending && !w->loop.busy && !w->nredirected &&
	    (!w->again || atomic_load(&w->run->gate->lost_too_much));
}

static const struct pacing closed_loop = {.idle = send_next,
    .dispatch = send_kept,
    .answered = record_batch,
    .redirected = record_one,
    .done = is_finished};

/* The same with the commands of a trace. */
static bool
record_replayed(struct worker *w, struct conn *c, int64_t now, uint32_t n)
{
	bool counted = record_batch(w, c, now, n);

	dealer_answer(w->outbox, c, n);
	return counted;
}

static bool
is_replayed(struct worker *w)
{
	if (dealer_is_empty(w->dealer))
		w->ending = true;
	return is_finished(w);
}

static const struct pacing closed_replay = {.idle = dealer_next,
    .answered = record_replayed,
    .redirected = record_one,
    .done = is_replayed};

/*
 * Open loop: requests are sent when they are due, even if earlier ones have no
 * reply.
 *
 * Each thread has its part of the arrivals: every Nth of the constant ones, or
 * a thinner Poisson process. The schedule is absolute: 'seen' advances to the
 * present, 'sent' as requests are written; the backlog is between them. In a
 * cluster each node has its own backlog, see pools.h. What is due are whole
 * texts, see mix.h: one request each, but for transactions.
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
	*MEM_ADD(w->windows, w->nwindows, w->windows_cap) = (struct window){
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

/* Sends n requests whose times are in the ring from 'first' on. */
static void
send_timed(
    struct worker *w, struct conn *c, uint32_t first, uint32_t n, int64_t now)
{
	run_send(w, c, n, now);
	for (uint32_t i = 0; i < n; i++)
		c->written[(first + i) % w->run->pipeline] = c->start_ns;
}

static void
send_due(struct worker *w, struct pool *p, struct conn *c, int64_t now)
{
	struct run *r = w->run;
	uint64_t turns = p->nidle + 1, n;
	uint32_t i, first; /* repeats have no times, see mix.h */
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
	send_timed(w, c, first, (uint32_t)n, now);
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
	int64_t ns = due < 0 ? -1 : now - due;

	if (counted && (due >= 0 || run_by_duration(r)))
		counters_count(w);
	counters_record_one(&w->all, counted, ns, now - written);
	if (w->parts)
		counters_record_one(
		    &w->parts[part], counted, ns, now - written);
}

static bool
record_replies(struct worker *w, struct conn *c, int64_t now, uint32_t replies)
{
	const struct run *r = w->run;
	size_t part = 0;

	w->pools[c->pool].full = false;
	for (; replies; replies--) {
		if (w->parts)
			part =
			    counters_find_part(w, c, 0, c->awaited + replies);
		record_reply(
		    w, now, c->due[c->oldest], c->written[c->oldest], part);
		c->oldest = (c->oldest + 1) % r->pipeline;
	}
	return is_in_time(w->run, now);
}

static bool
record_redirected(struct worker *w, const struct redirected *a, int64_t now)
{
	record_reply(w, now, a->due, a->start_ns, a->part);
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
			hist_add(w->all.latency, now - due, w->run->together);
			if (w->parts)
				counters_record_one(
				    &w->parts[mix_draw_part(
					w->run->source->mix, &w->rng)],
				    false, now - due, -1);
		}
}

static void
keep_idle(struct worker *w, struct conn *c, int64_t now)
{
	(void)now;
	pools_add_idle(w, c);
}

static void
take_times(struct worker *w, struct conn *c, uint32_t nth, struct redirected *a)
{
	uint32_t k = (c->oldest + nth) % w->run->pipeline;

	a->due = c->due[k];
	a->start_ns = c->written[k];
	c->due[k] = RUN_NOT_COUNTED;
}

static const struct pacing open_loop = {.idle = keep_idle,
    .start = start_schedule,
    .dispatch = dispatch_requests,
    .next = get_next,
    .stop = stop_schedule,
    .sent = is_sent,
    .answered = record_replies,
    .redirected = record_redirected,
    .take_times = take_times,
    .done = is_done};

/*
 * Replay at recorded times, or faster or slower by a factor: the commands of a
 * trace are sent when they are due, even if earlier ones have no reply.
 */

/* Return a time of the trace as one of the clock, and back. */
static int64_t
get_clock_time(const struct run *r, int64_t due)
{
	return r->start +
	    (int64_t)fmin((double)due / r->work->replay_speed, LATEST_NS);
}

static int64_t
get_trace_time(const struct run *r, int64_t now)
{
	return (int64_t)fmin(
	    (double)(now - r->start) * r->work->replay_speed, LATEST_NS);
}

/* Returns the time of a request as it is recorded. */
static int64_t
convert_recorded(const struct run *r, int64_t due)
{
	int64_t at = get_clock_time(r, due);

	return at >= r->from && at < r->t1 ? at : RUN_NOT_COUNTED;
}

static void
start_reading(struct worker *w)
{
	dealer_read(w, get_trace_time(w->run, w->run->start + AHEAD_NS));
}

static int64_t
get_next_recorded(const struct worker *w)
{
	int64_t next = dealer_get_next(w->dealer);

	if (next != INT64_MAX)
		next = get_clock_time(w->run, next);
	return next < w->run->t1 ? next : INT64_MAX;
}

static void
send_late(struct worker *w, struct conn *c, int64_t now)
{
	struct run *r = w->run;
	uint32_t n = count_free_slots(w, c), first = c->oldest + c->awaited, i;
	int64_t due;

	if (n > c->list->late)
		n = (uint32_t)c->list->late;
	if (!n)
		return;
	for (i = 0; i < n; i++) {
		due = dealer_at(c->list, c->list->nsent + i)->due_ns;
		c->due[(first + i) % r->pipeline] = convert_recorded(r, due);
	}
	c->list->late -= n;
	w->outbox->late -= n;
	send_timed(w, c, first, n, now);
}

static void
dispatch_recorded(struct worker *w, int64_t now)
{
	struct run *r = w->run;
	struct dealer_outbox *o = w->outbox;
	int64_t last = now < r->t1 ? now : r->t1 - 1;
	struct conn *c;

	dealer_read(w, get_trace_time(r, last + AHEAD_NS));
	dealer_expire(o, get_trace_time(r, last));
	while (!w->ending && !is_drained(r, now) && (c = dealer_take_ready(o)))
		send_late(w, c, now);
	if (now >= r->t0)
		w->max_backlog = fmax(w->max_backlog, (double)o->late);
}

static void
note_due(struct worker *w, int64_t due)
{
	if (due < 0)
		return;
	w->measured++;
	w->last_due = fmax(w->last_due, (double)(due - w->run->start));
}

static bool
record_recorded(struct worker *w, struct conn *c, int64_t now, uint32_t replies)
{
	int64_t due;

	for (uint32_t i = 0; i < replies; i++) {
		due = c->due[c->oldest];
		note_due(w, due);
		record_reply(w, now, due, c->written[c->oldest],
		    dealer_at(c->list, i)->part);
		c->oldest = (c->oldest + 1) % w->run->pipeline;
	}
	dealer_answer(w->outbox, c, replies);
	return is_in_time(w->run, now);
}

static bool
record_recorded_one(struct worker *w, const struct redirected *a, int64_t now)
{
	note_due(w, a->due);
	return record_redirected(w, a, now);
}

static bool
is_all_sent(const struct worker *w)
{
	return dealer_is_empty(w->dealer);
}

static bool
is_replay_done(struct worker *w)
{
	const struct run *r = w->run;
	int64_t now = w->loop.now;

	if (w->loop.busy || w->nredirected)
		return false;
	return w->ending || is_all_sent(w) || is_drained(r, now) ||
	    (now >= r->t1 && !w->outbox->late);
}

/* Records the age of what was due and never sent. */
static void
record_unsent(struct worker *w, int64_t now)
{
	const struct dealer_list *f;
	const struct dealer_item *item;
	int64_t due;

	for (size_t i = 0; i < w->nconns; i++) {
		f = w->conns[i]->list;
		for (size_t k = 0; k < f->late; k++) {
			item = dealer_at(f, f->nsent + k);
			due = convert_recorded(w->run, item->due_ns);
			note_due(w, due);
			if (due < 0)
				continue;
			counters_record_one(&w->all, false, now - due, -1);
			counters_record_one(
			    &w->parts[item->part], false, now - due, -1);
		}
	}
}

static void
keep_late(struct worker *w, struct conn *c, int64_t now)
{
	(void)now;
	if (c->list->late)
		dealer_add_ready(w->outbox, c);
}

static const struct pacing timed_replay = {.idle = keep_late,
    .start = start_reading,
    .dispatch = dispatch_recorded,
    .next = get_next_recorded,
    .stop = record_unsent,
    .sent = is_all_sent,
    .answered = record_recorded,
    .redirected = record_recorded_one,
    .take_times = take_times,
    .done = is_replay_done};

/* When requests are due in open loop. */

static void
begin_constant(struct schedule *s)
{
	s->next_ns = s->first_ns;
}

static void
advance_constant(struct schedule *s)
{
	s->next_ns = s->first_ns + (double)++s->n * s->gap_ns;
}

static void
begin_poisson(struct schedule *s)
{
	s->next_ns = s->first_ns + s->gap_ns * rng_exponential(&s->rng);
}

static void
advance_poisson(struct schedule *s)
{
	s->n++;
	s->next_ns += s->gap_ns * rng_exponential(&s->rng);
}

static void
set_next(struct schedule *s)
{
	s->next_ns = 1e9 * ratespec_time(&s->timing, s->due);
}

static void
advance_ramp(struct schedule *s)
{
	s->n++;
	s->due += s->threads;
	set_next(s);
}

static void
begin_poisson_ramp(struct schedule *s)
{
	s->due = s->threads * rng_exponential(&s->rng);
	set_next(s);
}

static void
advance_poisson_ramp(struct schedule *s)
{
	s->n++;
	s->due += s->threads * rng_exponential(&s->rng);
	set_next(s);
}

static const struct arrivals closed = {.pacing = &closed_loop};
static const struct arrivals scheduled[] = {
    [ENGINE_CONSTANT] = {&open_loop, begin_constant, advance_constant},
    [ENGINE_POISSON] = {&open_loop, begin_poisson, advance_poisson}};
static const struct arrivals changing[] = {
    [ENGINE_CONSTANT] = {&open_loop, set_next, advance_ramp},
    [ENGINE_POISSON] = {&open_loop, begin_poisson_ramp, advance_poisson_ramp}};
static const struct arrivals recorded = {.pacing = &timed_replay};
static const struct arrivals replayed = {.pacing = &closed_replay};

const struct arrivals *
arrivals_find(const struct engine_work *w)
{
	if (w->replay)
		return w->replay_speed > 0 ? &recorded : &replayed;
	if (ratespec_changes(&w->ramp))
		return &changing[w->arrivals];
	if (w->rate > 0)
		return &scheduled[w->arrivals];
	return &closed;
}
