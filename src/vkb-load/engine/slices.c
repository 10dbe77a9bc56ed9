#include "slices.h"
#include "clock.h"
#include "engine.h"
#include "hist.h"
#include "mem.h"
#include "mixparts.h"
#include "rng.h"
#include "run.h"
#include "slicetimes.h"
#include "stats.h"
#include "streams.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define TURNS_LEAST 3 /* to take a rate from, if the last is shorter */

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
		mixparts_forget(&r->workers[i]);
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

void
slices_run(struct streams *s, void *rng)
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
	for (shuffle_order(order, s->nsides, rng); run_turn(s, order, &l);
	     shuffle_order(order, s->nsides, rng)) {
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

/* Does one load have significantly more slices without an answer than another?
 */
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
