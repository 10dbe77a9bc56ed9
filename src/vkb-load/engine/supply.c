#include "supply.h"

/* Shares get smaller towards the end, so that the lock is rarely taken. */
bool
supply_take_share(struct worker *w)
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
