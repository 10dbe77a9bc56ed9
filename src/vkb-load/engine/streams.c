#include "streams.h"
#include "clock.h"
#include "hist.h"
#include "losses.h"
#include "mem.h"
#include "rng.h"
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

/* Slices: their seconds, and the share of each that is not measured. */
#define SLICE_LEAST .02
#define SLICE_MOST .2
#define SLICE_HEAD .1
#define SLICE_BATCHES 200 /* at least, if SLICE_MOST allows it */
#define WARM_NS 100000000 /* load before the first slice, at least */

/* The streams of one server, which run at the same time. */
struct side {
	const struct engine_load *load;
	struct run *runs;
	size_t n;
};

/* All streams of one run, for the calling thread. */
struct streams {
	struct gate gate;
	struct run *runs;
	size_t n;
	struct side *sides;
	size_t nsides;
	const volatile int *stop;
	engine_progress_fn *progress;
	void *arg;
	double done;    /* share of the turns; NAN: there are none */
	int64_t t0, t1; /* from the first that measures to the last that ends */
	int64_t look;   /* time of the next report */
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
is_all_done(const struct side *s)
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

/* Starts the clock of all streams of an ordinary run. */
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
		r->t0 = r->began = now + (int64_t)(r->work->warmup_s * 1e9);
		r->t1 = r->requests == RUN_ENDLESS
		    ? r->t0 + (int64_t)(r->work->duration_s * 1e9)
		    : INT64_MAX;
		s->t0 = r->t0 < s->t0 ? r->t0 : s->t0;
		s->t1 = r->t1 > s->t1 ? r->t1 : s->t1;
	}
}

static void
begin_slice(struct streams *s, struct side *side)
{
	size_t i;

	pthread_mutex_lock(&s->gate.lock);
	for (i = 0; i < side->n; i++) {
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
		    (double)last->requests /
			(last->length_s > 0 ? last->length_s : 1);
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
	if (!isnan(s->done))
		p.done = s->done;
	p.warmup = now < s->t0;
	pthread_mutex_unlock(&s->gate.lock);
	if (s->progress)
		s->progress(s->arg, &p);
}

static void
report_begin(const struct side *s)
{
	const struct engine_meter *m = s->load->meter;

	if (m)
		m->begin(m->arg);
}

static void
report_end(const struct side *s)
{
	const struct engine_meter *m = s->load->meter;

	if (m)
		m->end(m->arg);
}

/*
 * Waits for the end of a slice, until 'next' at most, and looks after all
 * streams. Returns true if the slice has ended.
 */
static bool
supervise_slice(struct streams *s, const struct side *side, int64_t next)
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
	halt_all(s);
	for (i = 0; i < side->n; i++)
		refresh_slotmap(&side->runs[i], now);
	if (now >= s->look) {
		s->look = now + LOOK_NS;
		report_progress(s, now);
	}
	return done;
}

/* Makes an ordinary run: all streams of one server, once. */
static void
run_once(struct streams *s)
{
	struct side *side = &s->sides[0];
	bool begun, ended = false, done = false;
	int64_t now;

	set_times(s); /* set again below, since the meter takes time */
	begun = s->t0 == s->runs[0].start;
	if (begun)
		report_begin(side);
	set_times(s);
	begin_slice(s, side);
	while (!done) {
		done = supervise_slice(s, side,
		    !begun	? s->t0
			: ended ? INT64_MAX
				: s->t1);
		now = clock_ns();
		if (!begun && now >= s->t0) {
			report_begin(side);
			begun = true;
		}
		if (begun && !ended && (now >= s->t1 || done)) {
			report_end(side);
			ended = true;
		}
	}
}

/*
 * Loads a server for a slice of 'ns', of which the first 'head' are not
 * measured.
 */
static void
run_slice(struct streams *s, struct side *side, int64_t head, int64_t ns)
{
	int64_t begin = clock_ns(), end;
	struct run *r;
	size_t i;

	for (i = 0; i < side->n; i++) {
		r = &side->runs[i];
		r->base = r->start = begin;
		r->t0 = begin + head;
		r->t1 = begin + ns;
	}
	begin_slice(s, side);
	while (!supervise_slice(s, side, INT64_MAX))
		continue;
	end = clock_ns();
	for (i = 0; i < side->n; i++) {
		r = &side->runs[i];
		r->active_ns += end - begin;
		r->sliced_ns += ns - head;
		r->intervals[r->nintervals - 1].length_s =
		    (double)(ns - head) / 1e9;
	}
}

/* Loads a server without measuring it. Returns the seconds of 200 batches. */
static double
warm_up(struct streams *s, struct side *side)
{
	int64_t ns = (int64_t)(side->load->works->warmup_s * 1e9);
	double batches = 0, seconds;
	struct run *r;
	size_t i, k;

	if (ns < WARM_NS)
		ns = WARM_NS;
	run_slice(s, side, ns, ns);
	seconds = (double)side->runs[0].active_ns / 1e9;
	for (i = 0; i < side->n; i++) {
		r = &side->runs[i];
		for (k = 0; k < r->nworkers; k++) {
			batches +=
			    (double)r->workers[k].answered / r->pipeline;
			r->workers[k].answered = 0;
			r->workers[k].interval = 0;
		}
		hist_clear(r->latency);
		r->nintervals = r->closed = 0;
		r->active_ns = r->sliced_ns = 0;
		r->began = clock_ns();
	}
	return batches > 0 ? SLICE_BATCHES * seconds / batches : 0;
}

/* Measures all servers in turns. */
static void
run_turns(struct streams *s, struct rng *rng)
{
	size_t *order = mem_array(s->nsides, sizeof *order), i, k, x;
	double length = SLICE_LEAST, turns = 1, duration;

	for (i = 0; i < s->nsides && !halt_all(s); i++)
		length = fmax(length, warm_up(s, &s->sides[i]));
	length = fmin(length, SLICE_MOST);
	duration = s->sides[0].load->works->duration_s;
	turns = ceil(duration / (length * (1 - SLICE_HEAD)));
	for (i = 0; i < s->nsides; i++) {
		order[i] = i;
		report_begin(&s->sides[i]);
	}
	for (double turn = 0; turn < turns && !halt_all(s); turn++) {
		s->done = turn / turns;
		for (i = s->nsides; i > 1; i--) { /* Fisher and Yates */
			k = rng_below(rng, i);
			x = order[i - 1];
			order[i - 1] = order[k];
			order[k] = x;
		}
		for (i = 0; i < s->nsides && !halt_all(s); i++)
			run_slice(s, &s->sides[order[i]],
			    (int64_t)(1e9 * length * SLICE_HEAD),
			    (int64_t)(1e9 * length));
	}
	for (i = 0; i < s->nsides; i++)
		report_end(&s->sides[i]);
	free(order);
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
	if (m)
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
	size_t i, k;

	for (i = 0; i < s->nsides; i++) {
		l = s->sides[i].load;
		for (k = 0; k < l->n; k++) {
			r = &s->sides[i].runs[k];
			if (threads_init(r, &s->gate, l->target, &l->works[k],
				&options[r - s->runs]) < 0)
				return -1;
			clients += (uint64_t)l->works[k].clients *
			    (r->by_key ? atomic_load(&r->map)->n : 1);
		}
	}
	raise_fd_limit(clients);
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

int
streams_run(const struct engine_load *loads, size_t n, struct rng *rng,
    const struct run_options *options, const volatile int *stop,
    engine_progress_fn *progress, void *arg)
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
			run_turns(&s, rng);
		else
			run_once(&s);
		rc = halt_all(&s) ? -1 : 0;
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
			counters_collect(
			    &side->runs[k], &side->load->results[k]);
	}
	for (i = 0; i < s.n; i++)
		threads_free(&s.runs[i]);
	free(s.runs);
	free(s.sides);
	pthread_cond_destroy(&s.gate.changed);
	pthread_mutex_destroy(&s.gate.lock);
	return rc;
}
