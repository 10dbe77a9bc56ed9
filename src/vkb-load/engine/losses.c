/*
 * Requests without an answer: those that a broken connection took along, those
 * older than the timeout, and those still in flight when the run ends.
 */
#include "hist.h"
#include "losses.h"
#include "run.h"
#include "slotmap.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * Counts n events against what the run may lose, for all its streams together.
 * The first one explains the failure; beyond the limit no stream sends more.
 */
static void ERR_PRINTF(3, 4)
    add_losses(struct run *r, uint64_t n, const char *fmt, ...)
{
	struct gate *g = r->gate;
	va_list ap;

	if (!n)
		return;
	pthread_mutex_lock(&g->lock);
	if (!*g->cause) {
		va_start(ap, fmt);
		vsnprintf(g->cause, sizeof g->cause, fmt, ap);
		va_end(ap);
	}
	g->losses += n;
	if (g->losses > (uint64_t)r->work->max_lost)
		atomic_store(&g->lost_too_much, true);
	pthread_mutex_unlock(&g->lock);
}

const char *
losses_command(const struct run *r)
{
	return r->work->text ? r->work->text : r->work->command;
}

/* When the oldest request that a connection waits for was sent first. */
static int64_t
oldest_sent(const struct worker *w, const struct conn *c)
{
	if (c->detour)
		return detour_oldest(c->detour);
	if (w->run->work->rate > 0 && c->awaited > c->refills)
		return c->written[c->oldest];
	return c->start_ns;
}

static void
record_age(struct worker *w, int64_t now, int64_t start, int64_t due)
{
	const struct run *r = w->run;

	if (r->work->rate <= 0) {
		hist_add(w->latency, now - start, 1);
	} else if (due >= r->t0 && due < r->t1) {
		hist_add(w->latency, now - due, 1);
		hist_add(w->service, now - start, 1);
	}
}

void
losses_give_up(struct worker *w, const struct away *a, int64_t now)
{
	struct run *r = w->run;

	if (r->t1 == INT64_MAX ? a->counted : now >= r->t0)
		record_age(w, now, a->start_ns, a->due);
}

/*
 * Gives up all that a connection has still to answer. Returns how many are
 * unanswered: what was lost with the connection is counted as that.
 */
static uint64_t
give_up_all(struct worker *w, struct conn *c, int64_t now)
{
	uint32_t i, n = c->again ? c->again : c->awaited - c->refills;
	struct away a = {
	    .conn = c, .start_ns = c->start_ns, .counted = c->counted};

	if (c->detour)
		return detour_give_up(w, c->detour, now);
	for (i = 0; i < n; i++) {
		if (w->run->work->rate > 0) {
			a.due = c->due[c->oldest];
			a.start_ns = c->written[c->oldest];
			a.counted = a.due >= w->run->t0;
			c->oldest = (c->oldest + 1) % w->run->pipeline;
		}
		losses_give_up(w, &a, now);
	}
	if (!c->again)
		return n;
	c->again = 0;
	w->again--;
	return 0;
}

void
losses_break(struct worker *w, struct conn *c, const char *why, int64_t now)
{
	struct run *r = w->run;
	uint32_t n = c->awaited - c->refills;

	if (c->detour) {
		n = detour_waiting(c->detour);
	} else if (n) {
		c->again = n;
		w->again++;
	}
	if (r->refill)
		c->popped += (uint64_t)c->refills * r->refill->values;
	c->down_ns = now;
	if (!w->running)
		return;
	w->lost += n;
	w->reconnects++;
	add_losses(r, (uint64_t)n + 1,
	    "lost the connection to '%s' during %s: %s", c->node->name,
	    losses_command(r), why);
}

void
losses_expire(struct worker *w, struct conn *c, int64_t now)
{
	struct run *r = w->run;
	double s = (double)r->timeout_ns / 1e9;
	uint64_t n;

	if (!c->awaited || now - oldest_sent(w, c) <= r->timeout_ns)
		return;
	if (r->strict) {
		run_fail(r, "no reply from '%s' for %g s", c->node->name, s);
		return;
	}
	n = give_up_all(w, c, now);
	w->unanswered += n;
	add_losses(r, n, "no reply from '%s' to %s for %g s", c->node->name,
	    losses_command(r), s);
	conn_close(w, c);
	c->down_ns = c->retry_ns = now;
	if (w->ending || atomic_load(&r->gate->lost_too_much))
		return;
	w->reconnects++;
	add_losses(r, 1, "reopened the connection to '%s'", c->node->name);
}

/* What was lost with its connection is the end of its last batch. */
static void
rewind_batch(struct worker *w, struct conn *c, uint32_t n)
{
	const struct run *r = w->run;
	uint32_t skip = c->batch > n ? c->batch - n : 0;
	size_t len;

	if (r->work->rate > 0)
		return;
	if (r->template) {
		c->course = c->from;
		while (skip)
			skip -= template_make(r->template, &c->course,
			    &c->node->keys, w->batch, skip, RUN_SLICE, &len);
		c->from = c->course;
	} else if (c->sequence == &c->here) {
		c->here = c->first += (uint64_t)skip * r->sequence_step;
	}
}

void
losses_resend(struct worker *w, struct conn *c, int64_t now)
{
	int64_t start = c->start_ns;
	uint32_t n = c->again;

	c->again = 0;
	w->again--;
	rewind_batch(w, c, n);
	conn_send_same(w, c, n, now);
	c->start_ns = start;
}

void
losses_end(struct worker *w, int64_t now)
{
	struct run *r = w->run;
	double s = (double)r->timeout_ns / 1e9;
	struct conn *c;
	uint64_t n;
	size_t i;

	for (i = 0; i < w->nconns; i++) {
		c = w->conns[i];
		n = give_up_all(w, c, now);
		w->unanswered += n;
		add_losses(r, n, "no reply from '%s' to %s until the end",
		    c->node->name, losses_command(r));
	}
	n = detour_end(w, now);
	w->unanswered += n;
	add_losses(r, n, "no reply to %s from another node for %g s",
	    losses_command(r), s);
}

bool
losses_fail(const struct run *runs, size_t n)
{
	const struct gate *g = runs->gate;
	uint64_t lost = 0, unanswered = 0, reconnects = 0;
	const struct worker *w;
	const char *said = ""; /* as a server does that takes no more clients */
	size_t i, j;

	if (!atomic_load(&g->lost_too_much))
		return false;
	for (i = 0; i < n; i++)
		for (j = 0; j < runs[i].nworkers; j++) {
			w = &runs[i].workers[j];
			lost += w->lost;
			unanswered += w->unanswered;
			reconnects += w->reconnects;
			if (!*said)
				said = w->refusal;
		}
	err_say("%s%s%s%s; %" PRIu64 " lost, %" PRIu64 " unanswered, %" PRIu64
		" reconnects, where --max-lost allows %lld",
	    g->cause, *said ? " (the server answered '" : "", said,
	    *said ? "')" : "", lost, unanswered, reconnects,
	    runs->work->max_lost);
	return true;
}
