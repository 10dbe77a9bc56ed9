/*
 * Replay at recorded times, or faster or slower by a factor: the commands of a
 * trace are sent when they are due, even if earlier ones have no reply.
 */
#include "arrivals.h"
#include "counters.h"
#include "dealer.h"
#include "mixparts.h"
#include "sendlist.h"
#include "hist.h"
#include "outbox.h"
#include "run.h"
#include "sending.h"

#include <math.h>

#define AHEAD_NS 100000000 /* the trace is read so long before it is due */
#define DRAIN_NS 100000000 /* what is due at the end may still be sent */

/* No time is later: about 146 years. */
#define LATEST_NS ((double)(INT64_MAX / 2))

/* Return a time of the trace as one of the clock, and back. */
static int64_t
convert_due(const struct run *r, int64_t due)
{
	return r->start +
	    (int64_t)fmin((double)due / r->work->replay_speed, LATEST_NS);
}

static int64_t
convert_time(const struct run *r, int64_t now)
{
	return (int64_t)fmin(
	    (double)(now - r->start) * r->work->replay_speed, LATEST_NS);
}

/* Returns the time of a request as it is recorded. */
static int64_t
get_recorded_due(const struct run *r, int64_t due)
{
	int64_t at = convert_due(r, due);

	return at >= r->from && at < r->t1 ? at : RUN_NOT_COUNTED;
}

static void
start_reading(struct worker *w)
{
	dealer_read(w, convert_time(w->run, w->run->start + AHEAD_NS));
}

static int64_t
get_next(const struct worker *w)
{
	int64_t next = dealer_get_next(w->dealer);

	return next == INT64_MAX ? next : convert_due(w->run, next);
}

static uint32_t
count_free_slots(const struct worker *w, const struct conn *c)
{
	if (c->state != CONN_READY || c->next || c->todo || conn_waits(c))
		return 0;
	return w->run->pipeline - c->awaited;
}

static void
send_late(struct worker *w, struct conn *c, int64_t now)
{
	struct run *r = w->run;
	uint32_t n = count_free_slots(w, c), k = c->oldest + c->awaited, i;
	int64_t due;

	if (n > c->list->late)
		n = (uint32_t)c->list->late;
	if (!n)
		return;
	for (i = 0; i < n; i++) {
		due = sendlist_at(c->list, c->list->nsent + i)->due_ns;
		c->due[(k + i) % r->pipeline] = get_recorded_due(r, due);
	}
	outbox_take_late(w->outbox, c, n);
	sending_batch(w, c, n, now);
	for (i = 0; i < n; i++)
		c->written[(k + i) % r->pipeline] = c->start_ns;
}

static bool
is_drained(const struct run *r, int64_t now)
{
	return r->t1 != INT64_MAX && now - DRAIN_NS >= r->t1;
}

static void
dispatch_requests(struct worker *w, int64_t now)
{
	struct run *r = w->run;
	struct outbox *o = w->outbox;
	int64_t last = now < r->t1 ? now : r->t1 - 1;
	struct conn *c;

	dealer_read(w, convert_time(r, last + AHEAD_NS));
	outbox_expire(o, convert_time(r, last));
	while (!w->ending && !is_drained(r, now) && (c = outbox_take_ready(o)))
		send_late(w, c, now);
	if (now >= r->t0)
		w->max_backlog = fmax(w->max_backlog, (double)o->late);
}

static void
note_due(struct worker *w, int64_t due)
{
	w->measured++;
	w->last_due = fmax(w->last_due, (double)(due - w->run->start));
}

static void
record_reply(
    struct worker *w, int64_t now, int64_t due, int64_t written, size_t part)
{
	bool counted = !run_by_duration(w->run) || now < w->run->t1;

	if (due < 0)
		return;
	note_due(w, due);
	w->counted += counted;
	if (counted)
		counters_count(w);
	counters_record_late(w, now - due, 1);
	hist_add(w->service, now - written, 1);
	mixparts_record_one(w, part, counted, now - due, now - written);
}

/* Counts misses and refusals. Returns whether the replies count. */
static bool
count_answers(struct worker *w, int64_t now)
{
	const struct run *r = w->run;
	bool counted = now >= r->from && (!run_by_duration(r) || now < r->t1);

	mixparts_count_answers(w, counted);
	return counted;
}

static bool
record_replies(struct worker *w, struct conn *c, int64_t now, uint32_t replies)
{
	for (uint32_t i = 0; i < replies; i++) {
		record_reply(w, now, c->due[c->oldest], c->written[c->oldest],
		    sendlist_at(c->list, i)->part);
		c->oldest = (c->oldest + 1) % w->run->pipeline;
	}
	outbox_answer(w->outbox, c, replies);
	return count_answers(w, now);
}

static bool
record_redirected(struct worker *w, const struct redirected *a, int64_t now)
{
	record_reply(w, now, a->due, a->start_ns, a->part);
	return count_answers(w, now);
}

static bool
is_sent(const struct worker *w)
{
	return dealer_is_empty(w->dealer);
}

static bool
is_done(struct worker *w)
{
	const struct run *r = w->run;
	int64_t now = w->loop.now;

	if (w->loop.busy || w->nredirected)
		return false;
	return w->ending || is_sent(w) || is_drained(r, now) ||
	    (now >= r->t1 && !w->outbox->late);
}

/* Records the age of what was due and never sent. */
static void
record_unsent(struct worker *w, int64_t now)
{
	const struct run *r = w->run;
	const struct sendlist *f;
	const struct sendlist_item *item;
	int64_t due;

	for (size_t i = 0; i < w->nconns; i++) {
		f = w->conns[i]->list;
		for (size_t k = 0; k < f->late; k++) {
			item = sendlist_at(f, f->nsent + k);
			due = get_recorded_due(r, item->due_ns);
			if (due < 0)
				continue;
			note_due(w, due);
			hist_add(w->latency, now - due, 1);
			mixparts_record_one(
			    w, item->part, false, now - due, -1);
		}
	}
}

static void
keep_idle(struct worker *w, struct conn *c, int64_t now)
{
	(void)now;
	if (c->list->late)
		outbox_add_ready(w->outbox, c);
}

const struct pacing replayloop = {.idle = keep_idle,
    .start = start_reading,
    .dispatch = dispatch_requests,
    .next = get_next,
    .stop = record_unsent,
    .sent = is_sent,
    .answered = record_replies,
    .redirected = record_redirected,
    .take_times = run_take_times,
    .done = is_done};
