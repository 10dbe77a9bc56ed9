#include "supply.h"

/* Shares get smaller towards the end, so that the lock is rarely taken. */
bool
supply_more(struct worker *w)
{
	struct run *r = w->run;
	uint64_t n = 65536, left;

	pthread_mutex_lock(&r->gate->lock);
	left = r->requests - r->next;
	if (r->requests != RUN_ENDLESS)
		n = left / (4 * r->nworkers);
	if (n < r->pipeline)
		n = r->pipeline;
	if (n > left)
		n = left;
	w->at = r->next;
	w->end = r->next += n;
	pthread_mutex_unlock(&r->gate->lock);
	return n > 0;
}

/* Sets where the batch of n continues in the sequence. */
void
supply_sequence(struct worker *w, struct conn *c, uint32_t n)
{
	const struct run *r = w->run;

	c->sequence = NULL;
	if (!r->sequential)
		return;
	if (r->by_key && r->command->ntags &&
	    (c->counted || r->work->rate > 0)) {
		c->here = c->first *= r->sequence_step;
		c->sequence = &c->here;
	} else if (!c->counted) {
		c->sequence = &w->warm;
	} else {
		c->here = c->first = (w->at - n) * r->sequence_step;
		c->sequence = &c->here;
	}
}

void
supply_course(struct worker *w, struct conn *c, uint32_t n)
{
	struct run *r = w->run;
	struct cursor *to = &c->course;
	uint64_t takes;
	int i;

	rng_seed(&to->rng, rng_next(&w->rng), 0);
	for (i = 0; i < TEMPLATE_KINDS; i++) {
		takes = template_takes(
		    r->template, (enum template_kind)i, to->turn, n);
		if (takes)
			to->next[i] = atomic_fetch_add_explicit(
			    r->taken[i], takes, memory_order_relaxed);
	}
	to->sequential = r->work->sequential;
	if (to->sequential && r->by_key && r->command->ntags) {
		if (!c->counted && r->work->rate <= 0) {
			c->first = w->warm;
			w->warm += n;
		}
		to->number = c->first;
	} else if (to->sequential) {
		to->number = atomic_fetch_add_explicit(
		    &r->number, n, memory_order_relaxed);
	}
	c->from = *to;
}
