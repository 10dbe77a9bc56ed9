#include "streams.h"
#include "clock.h"
#include "counters.h"
#include "dealer.h"
#include "fdlimit.h"
#include "hist.h"
#include "losses.h"
#include "mem.h"
#include "rng.h"
#include "slicetimes.h"
#include "slotmap.h"
#include "verify.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define LOOK_NS 250000000    /* between two looks at the run */
#define METER_NS 20000000    /* to read the meter */
#define REFRESH_NS 100000000 /* between two looks at the slots */

/* Waits for a change, at most until 'until'. Call with the lock held. */
static void
wait_until(struct streams *s, int64_t until)
{
	struct timespec t = {
	    .tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};

	pthread_cond_timedwait(&s->gate.changed, &s->gate.lock, &t);
}

/*
 * Reads the slots again after a MOVED, at most every REFRESH_NS: threads see
 * the new map only at their tick.
 */
static void
refresh_slotmap(struct run *r, int64_t now)
{
	if (now < r->refresh_ns || !atomic_exchange(&r->stale, false))
		return;
	r->refresh_ns = now + REFRESH_NS;
	atomic_store(&r->map,
	    slotmap_refresh(atomic_load(&r->map), r->target, r->space,
		(const char(*)[3])r->tags));
}

/* Ends all streams early if asked to stop or if one failed; true then. */
static bool
streams_halt(struct streams *s)
{
	bool halt = s->stop && *s->stop;
	size_t i;

	for (i = 0; i < s->n; i++)
		halt |= run_halted(&s->runs[i]);
	for (i = 0; halt && i < s->n; i++)
		if (!run_halted(&s->runs[i]))
			atomic_store(&s->runs[i].halt, 1);
	return halt;
}

static bool
is_all_ready(const struct streams *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->runs[i].nready < s->runs[i].nworkers)
			return false;
	return true;
}

static bool
is_all_done(const struct side *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (!s->runs[i].idle && s->runs[i].ndone < s->runs[i].nworkers)
			return false;
	return true;
}

/* Waits until all are connected. Returns false if a stream failed before. */
static bool
wait_connected(struct streams *s)
{
	bool ok;

	pthread_mutex_lock(&s->gate.lock);
	while (!(ok = is_all_ready(s)) && !streams_halt(s))
		wait_until(s, clock_ns() + LOOK_NS);
	pthread_mutex_unlock(&s->gate.lock);
	return ok && !streams_halt(s);
}

/* Starts the clock of all streams of an ordinary run, now or at 'at'. */
static void
set_times(struct streams *s, int64_t at)
{
	int64_t now = clock_ns();
	struct run *r;
	size_t i;

	now = at > now ? at : now;
	s->t0 = INT64_MAX;
	s->t1 = 0;
	for (i = 0; i < s->n; i++) {
		r = &s->runs[i];
		r->start = now;
		r->t0 = r->began = now + (int64_t)(r->work->warmup_s * 1e9);
		r->from = r->t0;
		r->t1 = run_by_duration(r)
		    ? r->t0 + (int64_t)(r->work->duration_s * 1e9)
		    : INT64_MAX;
		s->t0 = r->t0 < s->t0 ? r->t0 : s->t0;
		s->t1 = r->t1 > s->t1 ? r->t1 : s->t1;
	}
}

/* Lets the threads of a server begin their next slice, but for idle streams. */
static void
streams_begin_slice(struct streams *s, struct side *side)
{
	size_t i;

	pthread_mutex_lock(&s->gate.lock);
	for (i = 0; i < side->n; i++) {
		if (side->runs[i].idle)
			continue;
		side->runs[i].slice++;
		side->runs[i].ndone = 0;
	}
	pthread_cond_broadcast(&s->gate.changed);
	pthread_mutex_unlock(&s->gate.lock);
}

/*
 * Returns the share of the stream that is done; adds its last interval to *p.
 */
static double
get_done_share(struct run *r, int64_t now, struct engine_progress *p)
{
	const struct interval *last;

	counters_close_intervals(r, false);
	if (r->closed) {
		last = &r->intervals[r->closed - 1];
		p->rps = (isnan(p->rps) ? 0 : p->rps) +
		    (double)last->requests / last->length_s;
		p->p99_ms = fmax(p->p99_ms, last->p99_ms);
	}
	return r->t1 != INT64_MAX
	    ? (double)(now - r->start) / (double)(r->t1 - r->start)
	    : r->work->replay ? (double)atomic_load(&r->replayed) / 1000
			      : (double)r->answered / (double)r->requests;
}

/* Reports to the meters what has ended, but no warm-up of slices. */
static void
tell_intervals(struct streams *s)
{
	const struct side *side;

	for (size_t i = 0; i < s->nsides; i++) {
		side = &s->sides[i];
		for (size_t k = 0; k < side->n; k++)
			counters_tell_intervals(
			    &side->runs[k], side->load->meter, k);
	}
}

static void
report_progress(struct streams *s, int64_t now)
{
	struct engine_progress p = {.done = 1, .rps = NAN, .p99_ms = NAN};
	const struct side *side = s->now ? s->now : &s->sides[0];
	size_t i;

	pthread_mutex_lock(&s->gate.lock);
	for (i = 0; i < side->n; i++)
		p.done = fmin(p.done, get_done_share(&side->runs[i], now, &p));
	p.warmup = s->now ? isnan(s->done) : now < s->t0;
	if (s->now)
		p.done = p.warmup ? 0 : s->done;
	pthread_mutex_unlock(&s->gate.lock);
	if (!s->now || !p.warmup)
		tell_intervals(s);
	if (s->progress)
		s->progress(s->arg, &p);
}

/* Call the meter of a server. */
static void
streams_report_begin(const struct side *s)
{
	const struct engine_meter *m = s->load->meter;

	if (m && m->begin)
		m->begin(m->arg);
}

static void
streams_report_end(const struct side *s)
{
	const struct engine_meter *m = s->load->meter;

	if (m && m->end)
		m->end(m->arg);
}

/*
 * Waits for the end of a slice, until 'next' at most, and looks after all
 * streams. Returns true if the slice has ended.
 */
static bool
streams_supervise(struct streams *s, const struct side *side, int64_t next)
{
	int64_t now;
	bool done;
	size_t i;

	pthread_mutex_lock(&s->gate.lock);
	if (!is_all_done(side))
		wait_until(s, next < s->look ? next : s->look);
	done = is_all_done(side);
	pthread_mutex_unlock(&s->gate.lock);
	now = clock_ns();
	streams_halt(s);
	for (i = 0; i < side->n; i++)
		refresh_slotmap(&side->runs[i], now);
	if (now >= s->look) {
		s->look = now + LOOK_NS;
		report_progress(s, now);
	}
	return done;
}

/* Waits until a time, for LOOK_NS at most at once. False if the run ends. */
static bool
wait_begin(struct streams *s, int64_t at)
{
	int64_t now;

	while ((now = clock_ns()) < at && !streams_halt(s)) {
		pthread_mutex_lock(&s->gate.lock);
		wait_until(s, at - now < LOOK_NS ? at : now + LOOK_NS);
		pthread_mutex_unlock(&s->gate.lock);
	}
	return !streams_halt(s);
}

/*
 * Asks the meter when the load begins, with its warm-up, and waits almost until
 * then: the meter needs time. Returns that time, 0 for now, or -1.
 */
static int64_t
wait_turn(struct streams *s)
{
	const struct engine_meter *m = s->sides[0].load->meter;
	double warmup = 0;
	int64_t at;

	if (!m || !m->when)
		return 0;
	for (size_t i = 0; i < s->n; i++)
		warmup = fmax(warmup, s->runs[i].work->warmup_s);
	at = m->when(m->when_arg, warmup);
	if (at >= 0)
		at -= (int64_t)(warmup * 1e9);
	else
		atomic_store(&s->runs[0].halt, 2);
	return wait_begin(s, at - METER_NS) ? at : -1;
}

/* Makes an ordinary run: all streams of one server, once. */
static void
run_once(struct streams *s)
{
	struct side *side = &s->sides[0];
	bool begun, ended = false, done = false;
	int64_t now, at = wait_turn(s);

	if (at < 0)
		return;
	set_times(s, at); /* set again below, since the meter takes time */
	begun = s->t0 == s->runs[0].start;
	if (begun)
		streams_report_begin(side);
	if (!wait_begin(s, at)) {
		if (begun)
			streams_report_end(side);
		return;
	}
	set_times(s, at);
	streams_begin_slice(s, side);
	while (!done) {
		done = streams_supervise(s, side,
		    !begun      ? s->t0
			: ended ? INT64_MAX
				: s->t1);
		now = clock_ns();
		if (!begun && now >= s->t0) {
			streams_report_begin(side);
			begun = true;
		}
		if (begun && !ended && (now >= s->t1 || done)) {
			streams_report_end(side);
			ended = true;
		}
	}
}

static void
report_connected(const struct side *s)
{
	const struct engine_meter *m = s->load->meter;
	pid_t *tids = NULL;
	size_t i, j, n = 0;

	for (i = 0; m && i < s->n; i++)
		for (j = 0; j < s->runs[i].nworkers; j++) {
			tids = mem_resize(tids, n + 1, sizeof *tids);
			tids[n++] = s->runs[i].workers[j].tid;
		}
	if (m && m->connected)
		m->connected(m->arg, tids, n);
	free(tids);
}

static void
join_threads(struct streams *s)
{
	struct run *r;
	size_t i, j;

	pthread_mutex_lock(&s->gate.lock);
	for (i = 0; i < s->n; i++)
		s->runs[i].released = true;
	pthread_cond_broadcast(&s->gate.changed);
	pthread_mutex_unlock(&s->gate.lock);
	for (i = 0; i < s->n; i++) {
		r = &s->runs[i];
		for (j = 0; j < r->nworkers; j++)
			if (r->workers[j].started)
				pthread_join(r->workers[j].thread, NULL);
	}
}

static int
start_threads(struct streams *s, const struct run_options *options)
{
	const struct engine_load *l;
	uint64_t clients = 0;
	struct run *r;
	bool kept;
	size_t i, k;

	for (i = 0; i < s->nsides; i++) {
		l = s->sides[i].load;
		kept = verify_keeps(l->target, l->works, l->n);
		for (k = 0; k < l->n; k++) {
			r = &s->sides[i].runs[k];
			r->tells = l->meter && l->meter->ended;
			r->kept = kept;
			if (threads_init(r, &s->gate, l->target, &l->works[k],
				&options[r - s->runs]) < 0)
				return -1;
			clients += (uint64_t)l->works[k].clients *
			    (r->by_key ? atomic_load(&r->map)->n : 1);
		}
	}
	if (fdlimit_raise(clients, "connections") < 0)
		return -1;
	for (i = 0; i < s->n; i++)
		if (threads_start(&s->runs[i]) < 0)
			return -1;
	return 0;
}

static void
make_sides(struct streams *s, const struct engine_load *loads)
{
	size_t i;

	s->sides = mem_array(s->nsides, sizeof *s->sides);
	for (i = 0; i < s->nsides; i++)
		s->n += loads[i].n;
	s->runs = mem_array(s->n, sizeof *s->runs);
	s->n = 0;
	for (i = 0; i < s->nsides; i++) {
		s->sides[i] =
		    (struct side){&loads[i], &s->runs[s->n], loads[i].n};
		s->n += loads[i].n;
	}
}

static void
init_gate(struct gate *g)
{
	pthread_condattr_t a;

	pthread_mutex_init(&g->lock, NULL);
	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(&g->changed, &a);
	pthread_condattr_destroy(&a);
}

static void
collect_result(struct run *r, struct engine_result *out)
{
	counters_collect(r, out);
	for (size_t i = 0; i < r->nworkers; i++)
		dealer_report(r->workers[i].dealer, out);
}

/* Loads a server for a slice. */
static void
run_slice(struct streams *s, struct side *side, const struct slicetimes *l)
{
	int64_t begin = clock_ns(), end;
	size_t i;

	for (i = 0; i < side->n; i++)
		if (!side->runs[i].idle)
			slicetimes_begin(&side->runs[i], begin, l);
	s->now = side;
	streams_begin_slice(s, side);
	while (!streams_supervise(s, side, INT64_MAX))
		continue;
	end = clock_ns();
	pthread_mutex_lock(&s->gate.lock);
	for (i = 0; i < side->n; i++)
		if (!side->runs[i].idle)
			slicetimes_end(&side->runs[i], begin, end);
	pthread_mutex_unlock(&s->gate.lock);
}

/* Marks the streams that are over. Returns true if all of them are. */
static bool
is_side_over(struct side *side)
{
	bool over = true;

	for (size_t i = 0; i < side->n; i++) {
		side->runs[i].idle = slicetimes_is_over(&side->runs[i]);
		over = over && side->runs[i].idle;
	}
	return over;
}

/* Forgets what the warm-up counted. */
static void
forget_counts(struct run *r)
{
	for (size_t i = 0; i < r->nworkers; i++) {
		r->workers[i].answered = 0;
		r->workers[i].interval = 0;
		counters_forget(&r->workers[i]);
	}
	for (size_t i = 0; i < r->nintervals; i++)
		hist_free(r->intervals[i].hist);
	hist_clear(r->latency);
	if (r->service)
		hist_clear(r->service);
	r->nintervals = r->closed = r->told = 0;
	r->active_ns = r->sliced_ns = 0;
}

/* Loads a server without measuring it. */
static void
warm_up(struct streams *s, struct side *side)
{
	struct slicetimes l;

	if (slicetimes_warm_up(&l, side))
		run_slice(s, side, &l);
}

static bool
is_warm(const struct streams *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->runs[i].active_ns)
			return true;
	return false;
}

/* Gives each server that has work left a slice. Returns how many had. */
static size_t
run_turn(struct streams *s, const size_t *order, const struct slicetimes *l)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nsides && !streams_halt(s); i++)
		if (!is_side_over(&s->sides[order[i]])) {
			run_slice(s, &s->sides[order[i]], l);
			n++;
		}
	return atomic_load(&s->gate.lost_too_much) ? 0 : n;
}

/*
 * Loads the servers of all streams interleaved, in the order that 'rng'
 * chooses, as engine_run_slices says.
 */
static void
run_slices(struct streams *s, struct rng *rng)
{
	size_t *order = mem_array(s->nsides, sizeof *order), i;
	struct slicetimes l = {0};
	double seconds;
	bool warm;

	for (i = 0; i < s->nsides && !streams_halt(s); i++)
		warm_up(s, &s->sides[i]);
	seconds = slicetimes_choose(s);
	warm = is_warm(s);
	slicetimes_set(&l, seconds);
	if (!run_by_duration(&s->runs[0])) /* it may be the only one */
		l.head = 0;
	for (i = 0; i < s->n; i++)
		forget_counts(&s->runs[i]);
	for (i = 0; i < s->nsides; i++) {
		order[i] = i;
		streams_report_begin(&s->sides[i]);
	}
	for (;;) {
		rng_shuffle(rng, order, s->nsides, sizeof *order);
		if (!run_turn(s, order, &l))
			break;
		if (!warm)
			seconds = slicetimes_choose(s);
		warm = true;
		slicetimes_set(&l, seconds);
		s->done = slicetimes_get_done(s);
	}
	for (i = 0; i < s->nsides; i++)
		streams_report_end(&s->sides[i]);
	free(order);
}

int
streams_run(const struct engine_load *loads, size_t n,
    const struct run_options *options, struct rng *rng,
    const volatile int *stop, engine_progress_fn *progress, void *arg)
{
	struct streams s = {.nsides = n,
	    .stop = stop,
	    .progress = progress,
	    .arg = arg,
	    .done = NAN,
	    .look = clock_ns() + LOOK_NS};
	const struct side *side;
	bool begun = false;
	size_t i, k;
	int rc = -1;

	init_gate(&s.gate);
	make_sides(&s, loads);
	if (start_threads(&s, options) == 0 && wait_connected(&s)) {
		begun = true;
		for (i = 0; i < n; i++)
			report_connected(&s.sides[i]);
		if (rng)
			run_slices(&s, rng);
		else
			run_once(&s);
		rc = streams_halt(&s) ? -1 : 0;
	} else {
		for (i = 0; i < s.n; i++) /* end all streams */
			if (!run_halted(&s.runs[i]))
				atomic_store(&s.runs[i].halt, 1);
	}
	join_threads(&s);
	if (rc == 0 && losses_fail(s.runs, s.n))
		rc = -1;
	for (i = 0; begun && i < n; i++) {
		side = &s.sides[i];
		for (k = 0; side->load->results && k < side->n; k++)
			collect_result(&side->runs[k], &side->load->results[k]);
	}
	if (begun)
		tell_intervals(&s);
	for (i = 0; i < s.n; i++)
		threads_free(&s.runs[i]);
	free(s.runs);
	free(s.sides);
	pthread_cond_destroy(&s.gate.changed);
	pthread_mutex_destroy(&s.gate.lock);
	return rc;
}
