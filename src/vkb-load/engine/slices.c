#include "slices.h"
#include "clock.h"
#include "hist.h"
#include "mem.h"
#include "mixparts.h"
#include "rng.h"
#include "run.h"
#include "slicetimes.h"
#include "streams.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

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
