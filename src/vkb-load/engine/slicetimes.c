#include "slicetimes.h"
#include "counters.h"
#include "hist.h"
#include "run.h"
#include "streams.h"

#include <math.h>

/* Their seconds, and the share of each that is not measured. */
#define SLICE_LEAST .02
#define SLICE_MOST .2
#define SLICE_HEAD .1
#define SLICE_BATCHES 200 /* at least */
#define SLICE_ROUNDS 5    /* at least, of batches of all clients */
#define WARM_S .1 /* of load before the first slice, at least: vkb-quiet(7) */

bool
slicetimes_is_over(const struct run *r)
{
	return run_by_duration(r)
	    ? r->sliced_ns >= (int64_t)(r->work->duration_s * 1e9)
	    : run_is_made(r);
}

void
slicetimes_begin(struct run *r, int64_t begin, const struct slicetimes *l)
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

void
slicetimes_end(struct run *r, int64_t begin, int64_t end)
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
	if (measured > 0) {
		counters_close_intervals(r, true);
		return;
	}
	hist_free(in->hist); /* it ended within its head */
	in->hist = NULL;
	r->nintervals--;
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

bool
slicetimes_warm_up(struct slicetimes *l, struct side *side)
{
	double seconds = 0;
	struct run *r;
	size_t i, n = 0;

	for (i = 0; i < side->n; i++) {
		r = &side->runs[i];
		r->idle = !run_by_duration(r) && r->work->warmup_s <= 0;
		n += !r->idle;
		seconds = fmax(seconds, r->work->warmup_s);
	}
	l->ns = l->head = (int64_t)(fmax(WARM_S, seconds) * 1e9);
	return n > 0;
}

double
slicetimes_choose(const struct streams *s)
{
	double length = SLICE_LEAST;

	for (size_t i = 0; i < s->nsides; i++)
		length = fmax(length, compute_length(&s->sides[i]));
	return length;
}

void
slicetimes_set(struct slicetimes *l, double seconds)
{
	/* Too slow for slices: one after the other. */
	l->ns = seconds > SLICE_MOST ? INT64_MAX : (int64_t)(1e9 * seconds);
	l->head = (int64_t)(1e9 * fmin(seconds, SLICE_MOST) * SLICE_HEAD);
}

double
slicetimes_get_done(const struct streams *s)
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
