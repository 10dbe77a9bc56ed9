#include "reconnect.h"
#include "clock.h"
#include "hist.h"
#include "run.h"
#include "tls.h"

#include <math.h>

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
reconnect_init(struct worker *w)
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
reconnect_start(struct worker *w)
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
reconnect_count(struct worker *w, struct conn *c, uint32_t n)
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
reconnect_open(struct worker *w, struct conn *c, int64_t now)
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
reconnect_finish(struct worker *w, struct conn *c)
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
reconnect_check(struct worker *w, int64_t now)
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
				reconnect_open(w, c, now);
		}
	}
	hasten_tick(w);
}

void
reconnect_collect(const struct run *r, struct engine_result *out)
{
	const struct worker *w;

	if (!is_wanted(r))
		return;
	out->connect = HIST_LATENCY();
	for (size_t i = 0; i < r->nworkers; i++) {
		w = &r->workers[i];
		if (w->connect)
			hist_merge(out->connect, w->connect);
		out->connects += (double)w->connects;
		out->resumed += (double)w->resumed;
	}
	if (!r->setup.tls)
		out->resumed = NAN;
}
