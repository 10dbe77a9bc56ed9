#include "slices.h"
#include "clock.h"
#include "engine.h"
#include "hist.h"
#include "mem.h"
#include "mixparts.h"
#include "rng.h"
#include "run.h"
#include "stats.h"
#include "streams.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Slices: their seconds, and the share of each that is not measured. */
#define SLICE_LEAST .02
#define SLICE_MOST .2
#define SLICE_HEAD .1
#define SLICE_BATCHES 200 /* at least */
#define SLICE_ROUNDS 5    /* at least, of batches of all clients */
#define WARM_S .1         /* of load before the first slice, at least */
#define TURNS_LEAST 3     /* to take a rate from, if the last is shorter */

/* Of a slice. */
struct length {
	int64_t ns;   /* INT64_MAX: until the requests are made */
	int64_t head; /* not measured; 'ns' in the warm-up */
};

/* Is nothing left to do for a stream? */
static bool
is_over(const struct run *r)
{
	return run_by_duration(r)
	    ? r->sliced_ns >= (int64_t)(r->work->duration_s * 1e9)
	    : run_is_made(r);
}

/* Sets when a stream sends in a slice, and what of that is measured. */
static void
set_times(struct run *r, int64_t begin, const struct length *l)
{
	bool warms = l->head == l->ns;
	int64_t ns = l->ns;

	if (run_by_duration(r) && ns == INT64_MAX)
		ns = (int64_t)(r->work->duration_s * 1e9) + l->head;
	if (!warms && !r->active_ns)
		r->began = begin + l->head;
	r->start = begin;
	r->t0 = begin + l->head;
	r->t1 = ns == INT64_MAX ? ns : begin + ns;
	r->from = run_by_duration(r) ? r->t0 : warms ? INT64_MAX : begin;
	r->slice_s = (double)(r->t1 - r->t0) / 1e9;
	r->pauses = warms || !run_by_duration(r) ||
	    r->sliced_ns + r->t1 - r->t0 < (int64_t)(r->work->duration_s * 1e9);
}

/* Adds up the time of a slice that has ended, and sets that of its interval. */
static void
add_time(struct run *r, int64_t begin, int64_t end)
{
	int64_t last = begin, measured = r->t1 - r->t0;
	struct interval *in = &r->intervals[r->nintervals - 1];

	for (size_t i = 0; i < r->nworkers; i++)
		if (r->workers[i].last_ns > last)
			last = r->workers[i].last_ns;
	if (run_is_made(r) && last < r->t1) { /* the last slice is shorter */
		measured = last > r->t0 ? last - r->t0 : 0;
		end = last > begin ? last : end;
	}
	r->active_ns += end - begin;
	r->sliced_ns += measured;
	in->length_s = (double)measured / 1e9;
	if (measured > 0)
		return;
	hist_free(in->hist); /* it ended within its head */
	in->hist = NULL;
	r->nintervals--;
	if (r->closed > r->nintervals)
		r->closed = r->nintervals;
}

/* Loads a server for a slice. */
static void
run_slice(struct streams *s, struct side *side, const struct length *l)
{
	int64_t begin = clock_ns(), end;
	size_t i;

	for (i = 0; i < side->n; i++)
		if (!side->runs[i].idle)
			set_times(&side->runs[i], begin, l);
	s->now = side;
	streams_begin_slice(s, side);
	while (!streams_supervise(s, side, INT64_MAX))
		continue;
	end = clock_ns();
	pthread_mutex_lock(&s->gate.lock);
	for (i = 0; i < side->n; i++)
		if (!side->runs[i].idle)
			add_time(&side->runs[i], begin, end);
	pthread_mutex_unlock(&s->gate.lock);
}

/* Marks the streams that are over. Returns true if all of them are. */
static bool
is_side_over(struct side *side)
{
	bool over = true;

	for (size_t i = 0; i < side->n; i++) {
		side->runs[i].idle = is_over(&side->runs[i]);
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
		mixparts_forget(&r->workers[i]);
	}
	for (size_t i = 0; i < r->nintervals; i++)
		hist_free(r->intervals[i].hist);
	hist_clear(r->latency);
	if (r->service)
		hist_clear(r->service);
	r->nintervals = r->closed = 0;
	r->active_ns = r->sliced_ns = 0;
}

/*
 * Returns the seconds that a slice of a server needs, by what it did so far, or
 * by its rates.
 */
static double
compute_length(const struct side *side)
{
	double batches = 0, clients = 0, seconds = 0, rate = 0, length;
	const struct run *r;

	for (size_t i = 0; i < side->n; i++) {
		r = &side->runs[i];
		rate += r->work->rate;
		if (run_is_open(r))
			continue;
		clients += r->work->clients;
		seconds = fmax(seconds, (double)r->active_ns / 1e9);
		for (size_t k = 0; k < r->nworkers; k++)
			batches += (double)r->workers[k].answered / r->pipeline;
	}
	length = seconds > 0
	    ? fmax(SLICE_BATCHES, SLICE_ROUNDS * clients) * seconds / batches
	    : SLICE_LEAST;
	if (rate > 0)
		length = fmax(length, fmin(SLICE_MOST, SLICE_BATCHES / rate));
	return length;
}

/*
 * Loads a server without measuring it. A number of requests without a warm-up
 * includes the first.
 */
static void
warm_up(struct streams *s, struct side *side)
{
	double seconds = 0;
	struct length l;
	struct run *r;
	size_t i, n = 0;

	for (i = 0; i < side->n; i++) {
		r = &side->runs[i];
		r->idle = !run_by_duration(r) && r->work->warmup_s <= 0;
		n += !r->idle;
		seconds = fmax(seconds, r->work->warmup_s);
	}
	l.ns = l.head = (int64_t)(fmax(WARM_S, seconds) * 1e9);
	if (n)
		run_slice(s, side, &l);
}

/* Returns the seconds of all slices, after the warm-up of all servers. */
static double
choose_length(const struct streams *s)
{
	double length = SLICE_LEAST;

	for (size_t i = 0; i < s->nsides; i++)
		length = fmax(length, compute_length(&s->sides[i]));
	return length;
}

static bool
is_warm(const struct streams *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->runs[i].active_ns)
			return true;
	return false;
}

static void
set_length(struct length *l, double seconds)
{
	l->ns = (int64_t)(1e9 * seconds);
	l->head = (int64_t)(1e9 * fmin(seconds, SLICE_MOST) * SLICE_HEAD);
	if (seconds > SLICE_MOST) /* too slow for slices: one after the other */
		l->ns = INT64_MAX;
}

/* Returns the share of the work of all servers that is done. */
static double
compute_done(const struct streams *s)
{
	double least = 1;
	const struct run *r;

	for (size_t i = 0; i < s->n; i++) {
		r = &s->runs[i];
		least = fmin(least,
		    run_by_duration(r)
			? (double)r->sliced_ns / 1e9 / r->work->duration_s
			: (double)r->answered / (double)r->requests);
	}
	return least;
}

static void
shuffle_order(size_t *order, size_t n, struct rng *rng)
{
	size_t k, x;

	for (; n > 1; n--) { /* Fisher and Yates */
		k = rng_below(rng, n);
		x = order[n - 1];
		order[n - 1] = order[k];
		order[k] = x;
	}
}

/* Gives each server that has work left a slice. Returns how many had. */
static size_t
run_turn(struct streams *s, const size_t *order, const struct length *l)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nsides && !streams_halt(s); i++)
		if (!is_side_over(&s->sides[order[i]])) {
			run_slice(s, &s->sides[order[i]], l);
			n++;
		}
	return atomic_load(&s->gate.lost_too_much) ? 0 : n;
}

void
slices_run(struct streams *s, void *rng)
{
	size_t *order = mem_array(s->nsides, sizeof *order), i;
	struct length l = {0};
	double seconds;
	bool warm;

	for (i = 0; i < s->nsides && !streams_halt(s); i++)
		warm_up(s, &s->sides[i]);
	seconds = choose_length(s);
	warm = is_warm(s);
	set_length(&l, seconds);
	if (!run_by_duration(&s->runs[0])) /* it may be the only one */
		l.head = 0;
	for (i = 0; i < s->n; i++)
		forget_counts(&s->runs[i]);
	for (i = 0; i < s->nsides; i++) {
		order[i] = i;
		streams_report_begin(&s->sides[i]);
	}
	for (shuffle_order(order, s->nsides, rng); run_turn(s, order, &l);
	     shuffle_order(order, s->nsides, rng)) {
		if (!warm)
			seconds = choose_length(s);
		warm = true;
		set_length(&l, seconds);
		s->done = compute_done(s);
	}
	for (i = 0; i < s->nsides; i++)
		streams_report_end(&s->sides[i]);
	free(order);
}

/* What is compared: the streams of one role, of all loads. */
struct roles {
	const struct engine_load *loads;
	size_t n, role;
};

/* Is a stream of a load of this role? */
static bool
is_of(const struct roles *x, size_t k, size_t i)
{
	return x->loads[k].works[i].role == x->role;
}

/* ln of the rate of a load in a turn; -INFINITY: nothing was answered. */
static double
get_log_rate(const struct roles *x, size_t k, size_t turn)
{
	const struct engine_interval *v;
	double rate = 0;

	for (size_t i = 0; i < x->loads[k].n; i++)
		if (is_of(x, k, i)) {
			v = &x->loads[k].results[i].intervals[turn];
			rate += (double)v->requests / v->length_s;
		}
	return rate > 0 ? log(rate) : -INFINITY;
}

/* Returns the turns in which all streams had a whole slice. */
static size_t
count_turns(const struct roles *x)
{
	const struct engine_work *w;
	size_t turns = SIZE_MAX, own;

	for (size_t k = 0; k < x->n; k++)
		for (size_t i = 0; i < x->loads[k].n; i++) {
			if (!is_of(x, k, i))
				continue;
			w = &x->loads[k].works[i];
			own = x->loads[k].results[i].nintervals;
			if (w->requests > 0) /* the last is shorter */
				own = own > TURNS_LEAST ? own - 1 : 0;
			if (w->rate > 0) /* the rate is what was asked for */
				own = 0;
			turns = own < turns ? own : turns;
		}
	return turns == SIZE_MAX ? 0 : turns;
}

static void
scale_rate(struct engine_result *v, double by)
{
	v->rps *= by;
	for (size_t i = 0; i < v->nparts; i++)
		v->parts[i].rps *= by;
}

/* Scales the rates of a load's streams so that their sum is 'rate'. */
static void
set_rate(const struct roles *x, size_t k, double rate)
{
	struct engine_result *v = x->loads[k].results;
	double sum = 0;

	for (size_t i = 0; i < x->loads[k].n; i++)
		sum += is_of(x, k, i) ? v[i].rps : 0;
	for (size_t i = 0; i < x->loads[k].n && sum > 0 && isfinite(rate); i++)
		if (is_of(x, k, i))
			scale_rate(&v[i], rate / sum);
}

/* Does one load have clearly more slices without an answer than another? */
static bool
is_one_sided(const size_t *silent, size_t n)
{
	size_t least = SIZE_MAX, most = 0;

	for (size_t k = 0; k < n; k++) {
		least = silent[k] < least ? silent[k] : least;
		most = silent[k] > most ? silent[k] : most;
	}
	return (double)(most - least) > 3 * sqrt((double)(most + least));
}

static void
set_role_rates(const struct roles *x)
{
	size_t turns = count_turns(x), n = x->n, kept = 0, at;
	double *means = mem_array(turns + 1, sizeof *means);
	double *v = mem_array(turns + 1, sizeof *v), level, own;
	size_t *silent = mem_array(n, sizeof *silent);
	bool keep;

	for (size_t t = 0; t < turns; t++)
		for (size_t k = 0; k < n; k++) {
			own = get_log_rate(x, k, t);
			means[t] += own / (double)n;
			silent[k] += own == -INFINITY;
		}
	keep = is_one_sided(silent, n);
	for (size_t t = 0; t < turns; t++)
		if (keep || isfinite(means[t]))
			v[kept++] = means[t];
	stats_sort(v, kept);
	level = turns && 2 * kept > turns ? stats_median(v, kept) : NAN;
	for (size_t k = 0; k < n; k++) {
		at = 0;
		for (size_t t = 0; t < turns; t++) {
			own = get_log_rate(x, k, t);
			if (isfinite(means[t]))
				v[at++] = own - means[t];
			else if (keep)
				v[at++] = isfinite(own) ? INFINITY : own;
		}
		stats_sort(v, at);
		set_rate(x, k, exp(level + stats_median(v, at)));
	}
	free(silent);
	free(v);
	free(means);
}

void
slices_set_rates(const struct engine_load *loads, size_t n)
{
	struct roles x = {loads, n, 0};
	size_t roles = 0;

	for (size_t i = 0; i < loads[0].n; i++)
		if (loads[0].works[i].role >= roles)
			roles = loads[0].works[i].role + 1;
	for (; x.role < roles; x.role++)
		set_role_rates(&x);
}
