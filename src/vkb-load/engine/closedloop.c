/* Closed loop: a client sends its next batch when the last is answered. */
#include "arrivals.h"
#include "counters.h"
#include "pools.h"
#include "run.h"
#include "sending.h"

static void
send_next(struct worker *w, struct conn *c, int64_t now)
{
	uint32_t n;

	if (w->run->by_key) {
		pools_next(w, c, now);
		return;
	}
	n = run_take(w, c, now);
	if (n)
		sending_batch(w, c, n, now);
}

/* Returns true if requests answered now are measured. */
static bool
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

static bool
record_replies(struct worker *w, struct conn *c, int64_t now, uint32_t n)
{
	int64_t at = now;

	if (w->run->work->batch_first_byte) {
		if (!c->first_ns)
			c->first_ns = now;
		at = c->first_ns;
	}
	return record_answers(
	    w, c->counted, now, at - c->start_ns, n - w->taken);
}

static bool
record_redirected(struct worker *w, const struct redirected *a, int64_t now)
{
	return record_answers(w, a->counted, now, now - a->start_ns, 1);
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
    .answered = record_replies,
    .redirected = record_redirected,
    .done = is_done};
