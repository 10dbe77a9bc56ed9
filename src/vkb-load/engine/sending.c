#include "sending.h"
#include "clock.h"
#include "outbox.h"
#include "run.h"
#include "slotmap.h"

#include <sys/uio.h>

/* Makes the refills of a batch. Returns their length. */
static size_t
make_refills(struct worker *w, const struct conn *c)
{
	const struct cmdsource *s = w->run->refill;
	uint32_t left = c->refills, n;
	size_t used = 0, len;

	for (; left; left -= n, used += len)
		n = s->ops->make(s, &w->refill_cursor, &c->node->refills,
		    w->refill + used, left, SIZE_MAX, &len);
	w->refilled += (uint64_t)c->refills * s->values;
	return used;
}

/*
 * Makes and sends the batch in slices that stay in the cache, until all is sent
 * or the socket is full. Refills are sent with the last slice.
 */
void
sending_continue(struct conn *c, int64_t now)
{
	struct worker *w = c->worker;
	const struct cmdsource *s = w->run->source;
	struct iovec iov[2];
	char *batch;
	uint32_t n;
	size_t len;

	while (c->todo && !conn_waits(c) && c->state == CONN_READY) {
		if (c->list) {
			outbox_send(w, c, now);
			continue;
		}
		batch = cmdsource_place(s, &c->cursor, w->batch);
		n = s->ops->make(s, &c->cursor, &c->node->keys, batch, c->todo,
		    RUN_SLICE, &len);
		c->todo -= n;
		if (c->todo || !c->refills) {
			conn_put_batch(
			    c, batch, len, s->end, s->len - s->constant, now);
			continue;
		}
		iov[0] = (struct iovec){batch, len};
		iov[1] = (struct iovec){w->refill, make_refills(w, c)};
		conn_put_parts(c, iov, 2, now);
	}
}

/* Takes what the next n requests need of the counters of all streams. */
static inline void
take_counters(const struct run *r, struct cursor *to, uint32_t n)
{
	const struct cmdsource *s = r->source;
	int i;

	for (i = 0; i < CMDSOURCE_COUNTERS; i++)
		if (s->counted[i])
			to->next[i] = atomic_fetch_add_explicit(r->taken[i],
			    s->ops->takes(s, (enum cmdsource_counter)i, to, n),
			    memory_order_relaxed);
}

/* Takes the next n keys in order. */
static inline void
take_keys(struct worker *w, const struct conn *c, struct cursor *to, uint32_t n)
{
	struct run *r = w->run;

	if (r->by_key && r->source->tagged && (c->counted || run_is_open(r))) {
		to->number = c->first;
	} else if (run_is_open(r)) {
		to->number = atomic_fetch_add_explicit(
		    &r->number, n, memory_order_relaxed);
	} else if (!c->counted) {
		to->number = w->warm;
		w->warm += n;
	} else {
		to->number = w->at - n;
	}
	to->number += r->first;
}

/* Sets where the next n requests of a connection come from. */
static inline void
set_cursor(struct worker *w, struct conn *c, uint32_t n)
{
	const struct run *r = w->run;
	struct cursor *to = &c->cursor;

	if (r->source->mix) {
		to->step = c->ring.at;
		mix_plan(r->source->mix, &c->ring, n);
	}
	take_counters(r, to, n);
	if (r->chooser->ordered)
		take_keys(w, c, to, n);
	c->from = *to;
}

void
sending_renew(struct worker *w, struct conn *c, struct cursor *to, uint32_t n)
{
	take_counters(w->run, to, n);
	if (w->run->chooser->ordered && !to->in_slot)
		take_keys(w, c, to, n);
}

/*
 * Sends a batch and, behind it, refills of what was popped; if that is more
 * than the buffer has room for, the rest is left to later batches.
 */
static inline void
send_batch(struct worker *w, struct conn *c, uint32_t n, int64_t now)
{
	struct run *r = w->run;
	uint32_t refills = 0;

	if (r->refill && !c->awaited) {
		refills = run_most_refills(r);
		if (c->popped / r->refill->values < refills)
			refills = (uint32_t)(c->popped / r->refill->values);
		c->popped -= (uint64_t)refills * r->refill->values;
	}
	conn_await(c, n + refills);
	c->refills = refills;
	c->todo += n;
	c->batch = run_is_open(r) ? 0 : n;
	c->first_ns = 0;
	c->start_ns = clock_ns();
	sending_continue(c, now);
}

void
sending_batch(struct worker *w, struct conn *c, uint32_t n, int64_t now)
{
	set_cursor(w, c, n);
	if (w->run->refill)
		c->popped += n;
	send_batch(w, c, n, now);
}

void
sending_repeat(struct worker *w, struct conn *c, uint32_t n, int64_t now)
{
	send_batch(w, c, n, now);
}
