#include "run.h"
#include "clock.h"
#include "dealer.h"
#include "mem.h"
#include "slotmap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

uint64_t
run_bound(uint64_t whole, uint64_t i, uint64_t n)
{
	return whole / n * i + whole % n * i / n;
}

uint64_t
run_begin_share(const struct engine_work *w, uint64_t whole)
{
	return w->parts ? run_bound(whole, w->part - 1, w->parts) : 0;
}

long long
run_all_requests(const struct engine_work *w)
{
	return w->parts ? w->all_requests : w->requests;
}

void *
run_grow_ring(void *ring, size_t *at, size_t n, size_t *cap, size_t size)
{
	size_t first = n < *cap - *at ? n : *cap - *at;
	char *v;

	if (n < *cap)
		return ring;
	*cap = *cap ? 2 * *cap : 8;
	v = mem_array(*cap, size);
	if (n) {
		memcpy(v, (char *)ring + *at * size, first * size);
		memcpy(v + first * size, ring, (n - first) * size);
	}
	free(ring);
	*at = 0;
	return v;
}

void
run_fail(struct run *r, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	bool first;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&r->gate->lock);
	first = !r->failed;
	r->failed = true;
	atomic_store(&r->halt, 2);
	pthread_cond_broadcast(&r->gate->changed);
	pthread_mutex_unlock(&r->gate->lock);
	if (first)
		err_say("%s", text);
}

uint64_t
run_space(const struct engine_work *w)
{
	return w->keyspacelen > 0 ? (uint64_t)w->keyspacelen : 1;
}

int
run_check(const struct engine_target *t, const struct engine_work *w)
{
	if (w->replay && w->parts > 1)
		return err_fail("the replay of a trace cannot be shared among "
				"several programs (--client)");
	if (w->replay && w->max_lost > 0)
		return err_fail("the replay of a trace cannot go on after a "
				"lost connection, whose database and "
				"transaction are gone: max_lost must "
				"be 0");
	if (t->nnodes == 0 || w->clients < 1 || w->threads < 1 ||
	    w->pipeline < 1 || w->data_size < 0 || w->warmup_s < 0 ||
	    w->rate < 0 ||
	    (w->requests <= 0 && w->duration_s <= 0 && !w->replay))
		err_die("a run without nodes, clients, threads, or an end");
	if ((uint64_t)w->keyspacelen > KEYS_NUMBERS)
		return err_fail(
		    "keyspacelen %lld has more than 12 digits", w->keyspacelen);
	return 0;
}

void
run_mark_stale(struct run *r)
{
	if (atomic_load_explicit(&r->stale, memory_order_relaxed) ||
	    atomic_exchange(&r->stale, true))
		return;
	pthread_mutex_lock(&r->gate->lock);
	pthread_cond_broadcast(&r->gate->changed);
	pthread_mutex_unlock(&r->gate->lock);
}

bool
run_is_made(const struct run *r)
{
	const struct worker *w;

	if (run_by_duration(r) || (!run_is_open(r) && r->next < r->requests))
		return false;
	for (size_t i = 0; i < r->nworkers; i++) {
		w = &r->workers[i];
		if (run_is_open(r) ? !r->arrivals->pacing->sent(w)
				   : w->at < w->end)
			return false;
	}
	return true;
}

/* Shares get smaller towards the end, so that the lock is rarely taken. They
 * are whole batches, but for the last. */
bool
run_take_share(struct worker *w)
{
	struct run *r = w->run;
	uint64_t n = 65536, left;

	pthread_mutex_lock(&r->gate->lock);
	left = r->requests - r->next;
	if (r->requests != RUN_ENDLESS)
		n = left / (4 * r->nworkers);
	n -= n % r->pipeline;
	if (n < r->pipeline)
		n = r->pipeline;
	if (n > left)
		n = left;
	w->at = r->next;
	w->end = r->next += n;
	pthread_mutex_unlock(&r->gate->lock);
	return n > 0;
}

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

/* Sends commands of a trace, c->todo at most: up to RUN_SLICE bytes, or one
 * that is longer. */
static void
send_recorded(struct worker *w, struct conn *c, int64_t now)
{
	struct dealer_outbox *o = w->outbox;
	const struct dealer_item *item;
	size_t len = 0;

	while (c->todo) {
		item = dealer_at(c->list, c->list->nsent);
		if (len && item->n > RUN_SLICE - len)
			break;
		c->list->nsent++;
		c->todo--;
		o->waiting--;
		if (item->n > RUN_SLICE) {
			conn_put(c, item->bytes, item->n, now);
			return;
		}
		memcpy(w->batch + len, item->bytes, item->n);
		len += item->n;
	}
	conn_put(c, w->batch, len, now);
}

/*
 * Makes and sends the batch in slices that stay in the cache, until all is sent
 * or the socket is full. Refills are sent with the last slice.
 */
void
run_continue(struct conn *c, int64_t now)
{
	struct worker *w = c->worker;
	const struct cmdsource *s = w->run->source;
	struct iovec iov[2];
	char *batch;
	uint32_t n;
	size_t len;

	while (c->todo && !conn_waits(c) && c->state == CONN_READY) {
		if (c->list) {
			send_recorded(w, c, now);
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
run_renew(struct worker *w, struct conn *c, struct cursor *to, uint32_t n)
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
	run_continue(c, now);
}

void
run_send(struct worker *w, struct conn *c, uint32_t n, int64_t now)
{
	set_cursor(w, c, n);
	if (w->run->refill)
		c->popped += n;
	send_batch(w, c, n, now);
}

void
run_send_again(struct worker *w, struct conn *c, uint32_t n, int64_t now)
{
	send_batch(w, c, n, now);
}
