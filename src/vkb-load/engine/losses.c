#include "losses.h"
#include "clock.h"
#include "counters.h"
#include "hist.h"
#include "pools.h"
#include "run.h"
#include "slotmap.h"
#include "tls.h"
#include "mix.h"
#include "verify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void
losses_add(struct run *r, uint64_t n, const char *fmt, ...)
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

/* Returns when the oldest unanswered request was first sent. */
static int64_t
get_oldest_start(const struct worker *w, const struct conn *c)
{
	if (run_is_open(w->run) && c->awaited > c->refills)
		return c->written[c->oldest];
	return c->start_ns;
}

static void
record_age(struct worker *w, int64_t now, const struct redirected *a)
{
	int64_t service = now - a->start_ns, ns = service;

	if (run_is_open(w->run))
		ns = a->due < 0 ? -1 : now - a->due;
	counters_record_one(&w->all, false, ns, service);
	if (w->parts)
		counters_record_one(&w->parts[a->part], false, ns, service);
}

void
losses_give_up(struct worker *w, const struct redirected *a, int64_t now)
{
	struct run *r = w->run;

	if (run_is_open(r) || (run_by_duration(r) ? now >= r->t0 : a->counted))
		record_age(w, now, a);
}

/*
 * Gives up all unanswered requests of a connection. Returns how many are to be
 * counted as unanswered: requests lost with the connection were already counted
 * as lost.
 */
static uint64_t
give_up_all(struct worker *w, struct conn *c, int64_t now)
{
	uint32_t i,
	    n = (c->again ? c->again : c->awaited - c->refills) - c->repeats;
	struct redirected a = {
	    .conn = c, .start_ns = c->start_ns, .counted = c->counted};

	c->repeats = 0;
	for (i = 0; i < n; i++) {
		if (w->parts) {
			a.part = counters_find_part(w, c, i, n);
			w->parts[a.part].unanswered += !c->again;
		}
		if (run_is_open(w->run)) {
			a.due = c->due[c->oldest];
			a.start_ns = c->written[c->oldest];
			a.counted = a.due != RUN_NOT_COUNTED;
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

/* Counts a connection that cannot be reopened on purpose, once. */
static void
count_refusal(struct worker *w, struct conn *c, const char *why)
{
	char text[192];

	if (!c->anew_ns || c->refused || !w->external)
		return;
	c->refused = true;
	snprintf(text, sizeof text, "%s: %s", c->node->name, why);
	counters_count_error(w, "connection failed", text);
	w->reconnects++;
	losses_add(w->run, 1, "cannot connect to '%s' again during %s: %s",
	    c->node->name, w->run->work->command, why);
}

bool
losses_count_break(
    struct worker *w, struct conn *c, uint32_t n, const char *why, int64_t now)
{
	struct run *r = w->run;
	char text[192];

	if (c->state != CONN_DOWN && !r->slice) {
		run_fail(r, "cannot connect to '%s': %s", c->node->name, why);
		return false;
	}
	if (c->state == CONN_READY && r->strict) {
		run_fail(r, "connection lost to '%s': %s", c->node->name, why);
		return false;
	}
	if (r->target->cluster) /* a failover may have replaced the node */
		run_mark_stale(r);
	if (c->state != CONN_READY) {
		count_refusal(w, c, why);
		return true;
	}
	snprintf(text, sizeof text, "%s: %s", c->node->name, why);
	counters_count_error(w, "connection lost", text);
	c->down_ns = now;
	if (!w->external)
		return true;
	w->all.lost += n;
	w->reconnects++;
	losses_add(r, (uint64_t)n + 1,
	    "lost the connection to '%s' during %s: %s", c->node->name,
	    r->work->command, why);
	return true;
}

bool
losses_break(struct conn *c, const char *why, int64_t now)
{
	struct worker *w = c->worker;
	struct run *r = w->run;
	uint32_t n = c->awaited - c->refills;

	if (!losses_count_break(w, c, n - c->repeats, why, now))
		return false;
	if (c->state != CONN_READY)
		return true;
	if (n) {
		c->again = n;
		w->again++;
	}
	for (uint32_t i = c->repeats; w->parts && i < n; i++)
		w->parts[counters_find_part(w, c, i, n)].lost += w->external;
	if (r->refill)
		c->popped += (uint64_t)c->refills * r->refill->values;
	return true;
}

void
losses_fail_on_nonsense(struct conn *c, const char *why)
{
	struct run *r = c->worker->run;

	run_fail(r, "bad reply from '%s' to %s: %s", c->node->name,
	    c->state == CONN_SETUP ? "AUTH, HELLO or SELECT" : r->work->command,
	    why);
}

bool
losses_is_expired(
    struct worker *w, const struct conn *c, int64_t oldest, int64_t now)
{
	struct run *r = w->run;

	if (!c->awaited || now - oldest <= r->timeout_ns)
		return false;
	if (!r->strict)
		return true;
	run_fail(r, "no reply from '%s' for %g s", c->node->name,
	    (double)r->timeout_ns / 1e9);
	return false;
}

void
losses_count_unanswered(
    struct worker *w, struct conn *c, uint64_t n, int64_t now)
{
	struct run *r = w->run;

	w->all.unanswered += n;
	losses_add(r, n, "no reply from '%s' to %s for %g s", c->node->name,
	    r->work->command, (double)r->timeout_ns / 1e9);
	if (r->target->cluster) /* another node may have replaced this one */
		run_mark_stale(r);
	conn_close(c);
	c->down_ns = c->retry_ns = now;
	if (w->ending || atomic_load(&r->gate->lost_too_much))
		return;
	w->reconnects++;
	losses_add(r, 1, "reopened the connection to '%s'", c->node->name);
}

void
losses_expire(struct worker *w, struct conn *c, int64_t now)
{
	if (losses_is_expired(w, c, get_oldest_start(w, c), now))
		losses_count_unanswered(w, c, give_up_all(w, c, now), now);
}

/* Describes what a connecting connection waits for, to end a message. */
static const char *
describe_wait(const struct conn *c)
{
	switch (c->state) {
	case CONN_TLS:
		return ": no answer to the TLS handshake (the port may not "
		       "speak TLS)";
	case CONN_SETUP:
		return ": no reply to AUTH, HELLO or SELECT";
	default:
		return "";
	}
}

bool
losses_check(struct worker *w, struct conn *c, int64_t now)
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
			conn_open(c, now);
		break;
	case CONN_CONNECTING:
	case CONN_TLS:
	case CONN_SETUP:
		if (now - c->since_ns > r->timeout_ns)
			run_fail(r, "cannot connect to '%s' within %g s%s",
			    c->node->name, s, describe_wait(c));
		break;
	case CONN_READY:
		return true;
	}
	return false;
}

/* Moves the numbers back to the lost requests, the last n of the batch. */
static void
rewind_batch(struct worker *w, struct conn *c, uint32_t n)
{
	const struct run *r = w->run;
	uint32_t skip = c->batch > n ? c->batch - n : 0;
	size_t len;

	if (run_is_open(r))
		return;
	c->cursor = c->from;
	if (n > c->batch) /* a transaction of a mix began in an earlier one */
		c->cursor.step = c->ring.at - n;
	while (skip)
		skip -=
		    r->source->ops->make(r->source, &c->cursor, &c->node->keys,
			cmdsource_place(r->source, &c->cursor, w->batch), skip,
			RUN_SLICE, &len);
	c->from = c->cursor;
	if (w->checks) /* those that were answered are not awaited again */
		verify_forget(c->expected);
}

void
losses_resend(struct worker *w, struct conn *c, int64_t now)
{
	int64_t start = c->start_ns;
	uint32_t n = c->again + mix_complete(w, c, c->again);

	c->again = 0;
	w->again--;
	rewind_batch(w, c, n);
	if (run_is_open(w->run)) { /* the same commands, with other keys */
		c->cursor.step = c->ring.at - n;
		pools_advance(w, c, n);
		run_renew(w, c, &c->cursor, n);
	}
	run_send_again(w, c, n, now);
	c->start_ns = start;
}

void
losses_count_unfinished(struct worker *w, int64_t now)
{
	struct run *r = w->run;
	struct conn *c;
	uint64_t n;
	size_t i;

	for (i = 0; i < w->nconns; i++) {
		c = w->conns[i];
		n = give_up_all(w, c, now);
		w->all.unanswered += n;
		losses_add(r, n, "no reply from '%s' to %s until the end",
		    c->node->name, r->work->command);
	}
}

bool
losses_fail(const struct run *runs, size_t n)
{
	const struct gate *g = runs->gate;
	uint64_t lost = 0, unanswered = 0, reconnects = 0;
	const struct worker *w;
	const char *said = ""; /* such as "max number of clients reached" */
	size_t i, j;

	if (!atomic_load(&g->lost_too_much))
		return false;
	for (i = 0; i < n; i++)
		for (j = 0; j < runs[i].nworkers; j++) {
			w = &runs[i].workers[j];
			lost += w->all.lost;
			unanswered += w->all.unanswered;
			reconnects += w->reconnects;
			if (!*said)
				said = w->all.refusal;
		}
	err_say("%s%s%s%s; %" PRIu64 " lost, %" PRIu64 " unanswered, %" PRIu64
		" reconnects, where max_lost allows %lld",
	    g->cause, *said ? " (the server answered '" : "", said,
	    *said ? "')" : "", lost, unanswered, reconnects,
	    runs->work->max_lost);
	return true;
}

#define OVERDUE                                                                \
	((uint64_t)1 << 62) /* enough requests were served; reopen it when the \
			       part ends */

/* Are connections of the run reopened? */
static bool
is_wanted(const struct run *r)
{
	return r->work->conns.reconnect > 0 || r->work->conns.storm_s > 0;
}

void
losses_init_thread(struct worker *w)
{
	if (is_wanted(w->run))
		w->connect = HIST_LATENCY();
	w->storm_ns = INT64_MAX;
}

/* Lets the next tick come in time for the next storm. */
static void
hasten_tick(struct worker *w)
{
	if (w->storm_ns < w->tick_ns)
		w->tick_ns = w->storm_ns;
}

void
losses_start_slice(struct worker *w)
{
	const struct run *r = w->run;

	if (!w->connect || r->work->conns.storm_s <= 0)
		return;
	w->storm_ns = r->start + (int64_t)(r->work->conns.storm_s * 1e9);
	hasten_tick(w);
}

/*
 * Ends the last request of a connection within a part of a mix, whose next
 * commands have to follow on the same connection?
 */
static bool
is_within_part(const struct worker *w, const struct conn *c)
{
	const struct mix *m = w->run->source->mix;

	return m && !mix_step(m, &c->ring, c->ring.at - 1)->last;
}

void
losses_count_served(struct worker *w, struct conn *c, uint32_t n)
{
	long long limit = w->run->work->conns.reconnect;
	uint32_t flight = c->awaited - c->refills;

	c->served += n < flight ? n : flight;
	flight -= n < flight ? n : flight;
	if (c->served + flight >= (limit > 0 ? (uint64_t)limit : OVERDUE) &&
	    !c->next && !w->ending && !is_within_part(w, c))
		c->next = c->node;
}

void
losses_reopen(struct worker *w, struct conn *c, int64_t now)
{
	if (c->next != c->node) {
		conn_close(c);
		conn_open(c, now);
		return;
	}
	c->next = NULL; /* its address, which works, stays */
	conn_leave(c);
	w->again++;
	c->anew_ns = clock_ns();
	conn_open(c, c->anew_ns);
}

bool
losses_end_reopening(struct worker *w, struct conn *c)
{
	const struct run *r = w->run;
	int64_t now = clock_ns();

	c->served = 0;
	if (!c->anew_ns)
		return false;
	if (now >= r->from && r->t0 != r->t1)
		hist_add(w->connect, now - c->anew_ns, 1);
	if (now >= r->from && now < r->t1) {
		w->connects++;
		w->resumed += c->tls && tls_is_resumed(c->tls);
	}
	w->again--;
	c->anew_ns = 0;
	c->refused = false;
	return true;
}

void
losses_check_storm(struct worker *w, int64_t now)
{
	struct conn *c;

	if (now >= w->storm_ns && w->external && !w->ending) {
		while (w->storm_ns <= now)
			w->storm_ns +=
			    (int64_t)(w->run->work->conns.storm_s * 1e9);
		for (size_t i = 0; i < w->nconns; i++) {
			c = w->conns[i];
			if (c->state != CONN_READY || c->next)
				continue;
			if (is_within_part(w, c)) {
				c->served = OVERDUE;
				continue;
			}
			c->next = c->node;
			if (!c->awaited)
				losses_reopen(w, c, now);
		}
	}
	hasten_tick(w);
}
