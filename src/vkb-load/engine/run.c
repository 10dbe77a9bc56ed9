#include "run.h"
#include "conn.h"

#include <stdarg.h>
#include <stdio.h>

void
run_fail(struct run *r, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	bool first;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&r->gate->lock);
	first = !r->failed;
	r->failed = true;
	atomic_store(&r->halt, 2);
	pthread_cond_broadcast(&r->gate->changed);
	pthread_mutex_unlock(&r->gate->lock);
	if (first)
		err_say("%s", text);
}

uint64_t
run_space(const struct engine_work *w)
{
	return w->keyspacelen > 0 ? (uint64_t)w->keyspacelen : 1;
}

int
run_check(const struct engine_target *t, const struct engine_work *w)
{
	if (w->replay && w->parts > 1)
		return err_fail("the replay of a trace cannot be shared among "
				"several programs (--client)");
	if (w->replay && w->max_lost > 0)
		return err_fail("the replay of a trace cannot go on after a "
				"lost connection, whose database and "
				"transaction are gone: max_lost must "
				"be 0");
	if (t->nnodes == 0 || w->clients < 1 || w->threads < 1 ||
	    w->pipeline < 1 || w->data_size < 0 || w->warmup_s < 0 ||
	    w->rate < 0 ||
	    (w->requests <= 0 && w->duration_s <= 0 && !w->replay))
		err_die("a run without nodes, clients, threads, or an end");
	if ((uint64_t)w->keyspacelen > KEYS_NUMBERS)
		return err_fail(
		    "keyspacelen %lld has more than 12 digits", w->keyspacelen);
	return 0;
}

void
run_mark_stale(struct run *r)
{
	if (atomic_load_explicit(&r->stale, memory_order_relaxed) ||
	    atomic_exchange(&r->stale, true))
		return;
	pthread_mutex_lock(&r->gate->lock);
	pthread_cond_broadcast(&r->gate->changed);
	pthread_mutex_unlock(&r->gate->lock);
}

bool
run_is_made(const struct run *r)
{
	const struct worker *w;

	if (run_by_duration(r) || (!run_is_open(r) && r->next < r->requests))
		return false;
	for (size_t i = 0; i < r->nworkers; i++) {
		w = &r->workers[i];
		if (run_is_open(r) ? !r->arrivals->pacing->sent(w)
				   : w->at < w->end)
			return false;
	}
	return true;
}

/* Shares get smaller towards the end, so that the lock is rarely taken. They
 * are whole batches, but for the last. */
bool
run_take_share(struct worker *w)
{
	struct run *r = w->run;
	uint64_t n = 65536, left;

	pthread_mutex_lock(&r->gate->lock);
	left = r->requests - r->next;
	if (r->requests != RUN_ENDLESS)
		n = left / (4 * r->nworkers);
	n -= n % r->pipeline;
	if (n < r->pipeline)
		n = r->pipeline;
	if (n > left)
		n = left;
	w->at = r->next;
	w->end = r->next += n;
	pthread_mutex_unlock(&r->gate->lock);
	return n > 0;
}
