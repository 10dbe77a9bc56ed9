/*
 * Hands out requests to threads. Private to the engine, like run.h.
 */
#ifndef SUPPLY_H
#define SUPPLY_H

#include "run.h"

/*
 * Takes a further share of the requests of the run. Returns false if none is
 * left.
 */
bool supply_take_share(struct worker *);

/* Returns how many requests the next batch may have; sets c->counted. */
static inline uint32_t
supply_take(struct worker *w, struct conn *c, int64_t now)
{
	struct run *r = w->run;
	uint64_t n = r->pipeline;

	if (now >= r->t1)
		w->ending = true;
	if (w->ending)
		return 0;
	c->counted = now >= r->t0;
	if (!c->counted || (run_by_duration(r) && !r->chooser->ordered))
		return r->pipeline;
	if (w->at == w->end && !supply_take_share(w)) {
		w->ending = true;
		return 0;
	}
	if (n > w->end - w->at)
		n = w->end - w->at;
	w->at += n;
	return (uint32_t)n;
}

#endif
