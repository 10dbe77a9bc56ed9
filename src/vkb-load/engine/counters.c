#include "counters.h"
#include "hist.h"
#include "mem.h"
#include "run.h"
#include "slotmap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void
counters_error(struct worker *w, const char *kind, const char *text)
{
	struct engine_error *e;
	size_t i;

	for (i = 0; i < w->nerrors; i++)
		if (strcmp(w->errors[i].kind, kind) == 0) {
			w->errors[i].count++;
			return;
		}
	if (w->nerrors == ENGINE_ERRORS - 1) {
		/* The last row counts all further kinds. */
		kind = "other";
	} else if (w->nerrors == ENGINE_ERRORS) {
		w->errors[ENGINE_ERRORS - 1].count++;
		return;
	}
	e = &w->errors[w->nerrors++];
	snprintf(e->kind, sizeof e->kind, "%s", kind);
	snprintf(e->text, sizeof e->text, "%s", text);
	e->count = 1;
}

void
counters_hand_over(struct worker *w, size_t until)
{
	struct run *r = w->run;
	struct interval *in;

	while (r->nintervals <= w->interval || r->nintervals < until) {
		r->intervals = mem_grow(r->intervals, r->nintervals,
		    &r->intervals_cap, sizeof *r->intervals);
		memset(&r->intervals[r->nintervals++], 0, sizeof *r->intervals);
	}
	in = &r->intervals[w->interval];
	if (hist_count(w->latency)) {
		if (!in->hist)
			in->hist = HIST_LATENCY();
		hist_merge(in->hist, w->latency);
		hist_merge(r->latency, w->latency);
		if (r->service)
			hist_merge(r->service, w->service);
	}
	in->requests += w->interval_counted;
	r->answered += w->interval_counted;
	for (; w->interval < until; w->interval++)
		r->intervals[w->interval].handed++;
}

void
counters_interval(struct worker *w, int64_t now)
{
	struct run *r = w->run;
	size_t until = (size_t)((now - r->t0) / RUN_SECOND);

	pthread_mutex_lock(&r->gate->lock);
	counters_hand_over(w, until);
	pthread_mutex_unlock(&r->gate->lock);
	if (hist_count(w->latency)) {
		hist_clear(w->latency);
		if (w->service)
			hist_clear(w->service);
	}
	w->interval_counted = 0;
	w->interval_end = r->t0 + (int64_t)(until + 1) * RUN_SECOND;
}

void
counters_record_late(struct worker *w, int64_t ns, uint32_t n)
{
	hist_add(w->latency, ns, n);
}

void
counters_record(struct worker *w, int64_t ns, uint32_t n)
{
	if (w->loop.now >= w->interval_end)
		counters_interval(w, w->loop.now);
	hist_add(w->latency, ns, n);
	w->interval_counted += n;
	w->counted += n;
}

void
counters_close_intervals(struct run *r, bool all)
{
	struct interval *in;

	for (; r->closed < r->nintervals; r->closed++) {
		in = &r->intervals[r->closed];
		if (!all && (size_t)in->handed < r->nworkers)
			return;
		in->p50_ms = in->p99_ms = in->max_ms = NAN;
		if (!in->hist)
			continue;
		in->p50_ms = (double)hist_quantile(in->hist, .5) / 1e6;
		in->p99_ms = (double)hist_quantile(in->hist, .99) / 1e6;
		in->max_ms = (double)hist_max(in->hist) / 1e6;
		hist_free(in->hist);
		in->hist = NULL;
	}
}

bool
counters_error_reply(struct worker *w, const struct conn *c, const char *line)
{
	struct run *r = w->run;
	size_t n = strcspn(line, " ");
	char kind[64];

	if (c->state == CONN_SETUP || r->strict) {
		run_fail(r, "'%s' answered: %s", c->node->name, line);
		return false;
	}
	snprintf(kind, sizeof kind, "%.*s", (int)n, line);
	counters_error(w, kind, line);
	if (r->target->cluster && strcmp(kind, "MOVED") == 0)
		run_mark_stale(r);
	return true;
}

void
counters_refused(struct worker *w, const char *line)
{
	w->wrong++;
	if (!*w->refusal)
		snprintf(w->refusal, sizeof w->refusal, "%s", line);
}

void
counters_answers(struct worker *w, bool counted, uint32_t misses, int64_t now)
{
	if (counted) {
		w->misses += misses;
		w->refused += w->wrong;
		w->last_ns = now;
	}
	w->wrong = 0;
}
