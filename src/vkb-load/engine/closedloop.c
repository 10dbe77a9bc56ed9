/* Closed loop: a client sends its next batch when the last is answered; the
 * same with the commands of a trace. */
#include "arrivals.h"
#include "counters.h"
#include "dealer.h"
#include "mixparts.h"
#include "outbox.h"
#include "pools.h"
#include "run.h"
#include "sending.h"

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
		sending_batch(w, c, n, now);
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
		w->counted += n;
	if (counted && measured && n)
		counters_record(w, ns, n);
	else if (n && now >= r->t1)
		counters_record_late(w, ns, n);
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

static bool
record_replies(struct worker *w, struct conn *c, int64_t now, uint32_t n)
{
	int64_t at = get_time(w, c, now);

	return record_answers(
	    w, c->counted, now, at - c->start_ns, n - w->taken);
}

static bool
record_redirected(struct worker *w, const struct redirected *a, int64_t now)
{
	return record_answers(w, a->counted, now, now - a->start_ns, 1);
}

/* The same for a mix; a function of its own keeps other loads fast. */
static bool
record_replies_of_mix(struct worker *w, struct conn *c, int64_t now, uint32_t n)
{
	bool counted = record_replies(w, c, now, n);

	mixparts_record(
	    w, c, n, counted, now, get_time(w, c, now) - c->start_ns);
	return counted;
}

static bool
record_redirected_of_mix(
    struct worker *w, const struct redirected *a, int64_t now)
{
	bool counted = record_redirected(w, a, now);
	const struct run *r = w->run;
	bool recorded = now >= r->t1 || (counted && now >= r->t0);

	mixparts_record_one(
	    w, a->part, counted, recorded ? now - a->start_ns : -1, -1);
	mixparts_count_answers(w, counted);
	return counted;
}

static bool
is_done(struct worker *w)
{
	if (w->loop.now >= w->run->t1)
		w->ending = true;
	return w->ending && !w->loop.busy && !w->nredirected &&
	    (!w->again || atomic_load(&w->run->gate->lost_too_much));
}

const struct pacing closedloop = {.idle = send_next,
    .dispatch = send_kept,
    .answered = record_replies,
    .redirected = record_redirected,
    .done = is_done};

const struct pacing closedloop_mix = {.idle = send_next,
    .dispatch = send_kept,
    .answered = record_replies_of_mix,
    .redirected = record_redirected_of_mix,
    .done = is_done};

static bool
record_replayed(struct worker *w, struct conn *c, int64_t now, uint32_t n)
{
	bool counted = record_replies_of_mix(w, c, now, n);

	outbox_answer(w->outbox, c, n);
	return counted;
}

static bool
is_replayed(struct worker *w)
{
	if (dealer_is_empty(w->dealer))
		w->ending = true;
	return is_done(w);
}

const struct pacing closedreplay = {.idle = dealer_next,
    .answered = record_replayed,
    .redirected = record_redirected_of_mix,
    .done = is_replayed};
