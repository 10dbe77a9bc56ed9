#include "slices.h"
#include "clock.h"
#include "engine.h"
#include "hist.h"
#include "mem.h"
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
#define WARM_NS 100000000 /* load before the first slice, at least */

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
		r->slice_s = (double)(ns - head) / 1e9;
	}
	s->now = side;
	streams_begin_slice(s, side);
	while (!streams_supervise(s, side, INT64_MAX))
		continue;
	end = clock_ns();
	for (i = 0; i < side->n; i++) {
		r = &side->runs[i];
		r->active_ns += end - begin;
		r->sliced_ns += ns - head;
	}
}

/* Forgets what the warm-up counted. */
static void
forget_counts(struct run *r)
{
	for (size_t i = 0; i < r->nworkers; i++) {
		r->workers[i].answered = 0;
		r->workers[i].interval = 0;
	}
	for (size_t i = 0; i < r->nintervals; i++)
		hist_free(r->intervals[i].hist);
	hist_clear(r->latency);
	r->nintervals = r->closed = 0;
	r->active_ns = r->sliced_ns = 0;
	r->began = clock_ns();
}

/* Loads a server without measuring it. Returns the seconds that a slice needs;
 * INFINITY: not known. */
static double
warm_up(struct streams *s, struct side *side)
{
	int64_t ns = (int64_t)(side->load->works->warmup_s * 1e9);
	double batches = 0, clients = 0, seconds;
	struct run *r;
	size_t i, k;

	if (ns < WARM_NS)
		ns = WARM_NS;
	run_slice(s, side, ns, ns);
	seconds = (double)side->runs[0].active_ns / 1e9;
	for (i = 0; i < side->n; i++) {
		r = &side->runs[i];
		clients += r->work->clients;
		for (k = 0; k < r->nworkers; k++)
			batches += (double)r->workers[k].answered / r->pipeline;
		forget_counts(r);
	}
	return fmax(SLICE_BATCHES, SLICE_ROUNDS * clients) * seconds / batches;
}

void
slices_run(struct streams *s, void *rng)
{
	size_t *order = mem_array(s->nsides, sizeof *order), i, k, x;
	double length = SLICE_LEAST, turns = 1, duration;

	for (i = 0; i < s->nsides && !streams_halt(s); i++)
		length = fmax(length, warm_up(s, &s->sides[i]));
	duration = s->sides[0].load->works->duration_s;
	if (length > SLICE_MOST) /* too slow for slices: one after the other */
		length = duration / (1 - SLICE_HEAD);
	turns = ceil(duration / (length * (1 - SLICE_HEAD)) - 1e-9);
	for (i = 0; i < s->nsides; i++) {
		order[i] = i;
		streams_report_begin(&s->sides[i]);
	}
	for (double turn = 0; turn < turns && !streams_halt(s) &&
	     !atomic_load(&s->gate.lost_too_much);
	     turn++) {
		s->done = turn / turns;
		for (i = s->nsides; i > 1; i--) { /* Fisher and Yates */
			k = rng_below(rng, i);
			x = order[i - 1];
			order[i - 1] = order[k];
			order[k] = x;
		}
		for (i = 0; i < s->nsides && !streams_halt(s); i++)
			run_slice(s, &s->sides[order[i]],
			    (int64_t)(1e9 * length * SLICE_HEAD),
			    (int64_t)(1e9 * length));
	}
	for (i = 0; i < s->nsides; i++)
		streams_report_end(&s->sides[i]);
	free(order);
}

/* ln of the rate of a load in a turn; -INFINITY: nothing was answered. */
static double
get_log_rate(const struct engine_load *l, size_t turn)
{
	const struct engine_interval *v;
	double rate = 0;

	for (size_t i = 0; i < l->n; i++) {
		v = &l->results[i].intervals[turn];
		rate += (double)v->requests / v->length_s;
	}
	return rate > 0 ? log(rate) : -INFINITY;
}

static size_t
count_turns(const struct engine_load *loads, size_t n)
{
	size_t turns = SIZE_MAX;

	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < loads[k].n; i++)
			if (loads[k].results[i].nintervals < turns)
				turns = loads[k].results[i].nintervals;
	return turns;
}

/* Scales the rates of a load's streams so that their sum is 'rate'. */
static void
set_rate(const struct engine_load *l, double rate)
{
	double sum = 0;

	for (size_t i = 0; i < l->n; i++)
		sum += l->results[i].rps;
	for (size_t i = 0; i < l->n && sum > 0 && isfinite(rate); i++)
		l->results[i].rps *= rate / sum;
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

void
slices_set_rates(const struct engine_load *loads, size_t n)
{
	size_t turns = count_turns(loads, n), kept = 0, at;
	double *means = mem_array(turns + 1, sizeof *means);
	double *v = mem_array(turns + 1, sizeof *v), level, own;
	size_t *silent = mem_array(n, sizeof *silent);
	bool keep;

	for (size_t t = 0; t < turns; t++)
		for (size_t k = 0; k < n; k++) {
			own = get_log_rate(&loads[k], t);
			means[t] += own / (double)n;
			silent[k] += own == -INFINITY;
		}
	keep = is_one_sided(silent, n);
	for (size_t t = 0; t < turns; t++)
		if (keep || isfinite(means[t]))
			v[kept++] = means[t];
	stats_sort(v, kept);
	level = 2 * kept > turns ? stats_median(v, kept) : NAN;
	for (size_t k = 0; k < n; k++) {
		at = 0;
		for (size_t t = 0; t < turns; t++) {
			own = get_log_rate(&loads[k], t);
			if (isfinite(means[t]))
				v[at++] = own - means[t];
			else if (keep)
				v[at++] = isfinite(own) ? INFINITY : own;
		}
		stats_sort(v, at);
		set_rate(&loads[k], exp(level + stats_median(v, at)));
	}
	free(silent);
	free(v);
	free(means);
}
