#include "streams.h"
#include "clock.h"
#include "hist.h"
#include "losses.h"
#include "mem.h"
#include "run.h"
#include "slotmap.h"
#include "counters.h"
#include "threads.h"

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define LOOK_NS 250000000    /* between two looks at the run */
#define REFRESH_NS 100000000 /* between two looks at the slots */

/* All streams of one run, for the calling thread. */
struct streams {
	struct gate gate;
	struct run *runs;
	size_t n;
	const struct engine_meter *meter;
	const volatile int *stop;
	engine_progress_fn *progress;
	void *arg;
	int64_t t0, t1; /* from the first that measures to the last that ends */
};

/*
 * Raises the limit of file descriptors to what the connections need, if
 * allowed.
 */
static void
raise_fd_limit(uint64_t clients)
{
	struct rlimit l;
	rlim_t need = (rlim_t)clients + 256;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur >= need)
		return;
	l.rlim_cur = l.rlim_max < need ? l.rlim_max : need;
	/* If this fails, a connection will report the error. */
	(void)setrlimit(RLIMIT_NOFILE, &l);
}

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
	    slotmap_refresh(atomic_load(&r->map), r->target, r->setup.tls,
		r->space, (const char(*)[3])r->tags));
}

/*
 * Ends all streams early if asked to stop or if one failed; returns true then.
 */
static bool
halt_all(struct streams *s)
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
is_all_done(const struct streams *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->runs[i].ndone < s->runs[i].nworkers)
			return false;
	return true;
}

/* Waits until all are connected. Returns false if a stream failed before. */
static bool
wait_connected(struct streams *s)
{
	bool ok;

	pthread_mutex_lock(&s->gate.lock);
	while (!(ok = is_all_ready(s)) && !halt_all(s))
		wait_until(s, clock_ns() + LOOK_NS);
	pthread_mutex_unlock(&s->gate.lock);
	return ok && !halt_all(s);
}

/* Starts the clock of all streams. */
static void
set_times(struct streams *s)
{
	int64_t now = clock_ns();
	struct run *r;
	size_t i;

	s->t0 = INT64_MAX;
	s->t1 = 0;
	for (i = 0; i < s->n; i++) {
		r = &s->runs[i];
		r->base = r->start = now;
		r->t0 = now + (int64_t)(r->work->warmup_s * 1e9);
		r->t1 = r->requests == RUN_ENDLESS
		    ? r->t0 + (int64_t)(r->work->duration_s * 1e9)
		    : INT64_MAX;
		s->t0 = r->t0 < s->t0 ? r->t0 : s->t0;
		s->t1 = r->t1 > s->t1 ? r->t1 : s->t1;
	}
}

static void
open_gate(struct streams *s)
{
	size_t i;

	pthread_mutex_lock(&s->gate.lock);
	for (i = 0; i < s->n; i++)
		s->runs[i].go = true;
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
		p->rps = (isnan(p->rps) ? 0 : p->rps) + (double)last->requests;
		p->p99_ms = fmax(p->p99_ms, last->p99_ms);
	}
	return r->t1 != INT64_MAX
	    ? (double)(now - r->start) / (double)(r->t1 - r->start)
	    : (double)r->answered / (double)r->requests;
}

static void
report_progress(struct streams *s, int64_t now)
{
	struct engine_progress p = {.done = 1, .rps = NAN, .p99_ms = NAN};
	size_t i;

	pthread_mutex_lock(&s->gate.lock);
	for (i = 0; i < s->n; i++)
		p.done = fmin(p.done, get_done_share(&s->runs[i], now, &p));
	p.warmup = now < s->t0;
	pthread_mutex_unlock(&s->gate.lock);
	if (s->progress)
		s->progress(s->arg, &p);
}

static void
report_begin(const struct streams *s)
{
	if (s->meter)
		s->meter->begin(s->meter->arg);
}

static void
supervise_threads(struct streams *s)
{
	int64_t now, look = clock_ns() + LOOK_NS, next;
	bool begun = s->t0 == s->runs[0].start, ended = false, done = false;
	size_t i;

	open_gate(s);
	while (!done) {
		next = look;
		if (!begun && s->t0 < next)
			next = s->t0;
		if (begun && !ended && s->t1 < next)
			next = s->t1;
		pthread_mutex_lock(&s->gate.lock);
		if (!is_all_done(s))
			wait_until(s, next);
		done = is_all_done(s);
		pthread_mutex_unlock(&s->gate.lock);
		now = clock_ns();
		if (!begun && now >= s->t0) {
			report_begin(s);
			begun = true;
		}
		if (begun && !ended && (now >= s->t1 || done)) {
			if (s->meter)
				s->meter->end(s->meter->arg);
			ended = true;
		}
		halt_all(s);
		for (i = 0; i < s->n; i++)
			refresh_slotmap(&s->runs[i], now);
		if (now < look)
			continue;
		look = now + LOOK_NS;
		report_progress(s, now);
	}
}

static void
report_connected(const struct streams *s)
{
	pid_t *tids = NULL;
	size_t i, j, n = 0;

	for (i = 0; i < s->n; i++)
		for (j = 0; j < s->runs[i].nworkers; j++) {
			tids = mem_resize(tids, n + 1, sizeof *tids);
			tids[n++] = s->runs[i].workers[j].tid;
		}
	s->meter->connected(s->meter->arg, tids, n);
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
start_threads(struct streams *s, const struct engine_target *t,
    const struct engine_work *works, const struct run_options *options)
{
	uint64_t clients = 0;
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (threads_init(
			&s->runs[i], &s->gate, t, &works[i], &options[i]) < 0)
			return -1;
		clients += (uint64_t)works[i].clients *
		    (s->runs[i].by_key ? atomic_load(&s->runs[i].map)->n : 1);
	}
	raise_fd_limit(clients);
	for (i = 0; i < s->n; i++)
		if (threads_start(&s->runs[i]) < 0)
			return -1;
	return 0;
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

int
streams_run(const struct engine_target *t, const struct engine_work *works,
    const struct run_options *options, size_t n, const volatile int *stop,
    engine_progress_fn *progress, void *arg, const struct engine_meter *meter,
    struct engine_result *results)
{
	struct streams s = {.n = n,
	    .meter = meter,
	    .stop = stop,
	    .progress = progress,
	    .arg = arg};
	bool begun = false;
	size_t i;
	int rc = -1;

	init_gate(&s.gate);
	s.runs = mem_array(n, sizeof *s.runs);
	if (start_threads(&s, t, works, options) == 0 && wait_connected(&s)) {
		begun = true;
		if (meter)
			report_connected(&s);
		set_times(&s); /* set again below, since the meter takes time */
		if (s.t0 == s.runs[0].start)
			report_begin(&s);
		set_times(&s);
		supervise_threads(&s);
		rc = halt_all(&s) ? -1 : 0;
	} else {
		for (i = 0; i < n; i++) /* end all streams */
			if (!run_halted(&s.runs[i]))
				atomic_store(&s.runs[i].halt, 1);
		open_gate(&s);
	}
	join_threads(&s);
	if (rc == 0 && losses_fail(s.runs, n))
		rc = -1;
	for (i = 0; results && begun && i < n; i++)
		counters_collect(&s.runs[i], &results[i]);
	for (i = 0; i < n; i++)
		threads_free(&s.runs[i]);
	free(s.runs);
	pthread_cond_destroy(&s.gate.changed);
	pthread_mutex_destroy(&s.gate.lock);
	return rc;
}
