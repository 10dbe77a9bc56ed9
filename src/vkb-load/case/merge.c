/* Merges the results of the streams of one role. */
#include "hist.h"
#include "mem.h"
#include "roles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Adds up requests; percentiles cannot be merged, so they become NAN. */
static void
add_intervals(struct engine_result *to, const struct engine_result *from)
{
	size_t n = to->nintervals > from->nintervals ? to->nintervals
						     : from->nintervals;

	to->intervals = mem_resize(to->intervals, n + 1, sizeof *to->intervals);
	for (size_t i = 0; i < from->nintervals; i++) {
		const struct engine_interval *more = &from->intervals[i];
		struct engine_interval *sum = &to->intervals[i];

		if (i >= to->nintervals) {
			*sum = *more;
			continue;
		}
		sum->requests += more->requests;
		sum->length_s = fmax(sum->length_s, more->length_s);
		sum->at_s = fmax(sum->at_s, more->at_s);
		sum->p50_ms = sum->p99_ms = NAN;
		sum->max_ms = fmax(sum->max_ms, more->max_ms);
	}
	to->nintervals = n;
}

/* A stream without answers has no hit rate, and does not change the mean. */
static double
merge_hit_rates(const struct engine_result *a, const struct engine_result *b)
{
	double n = (double)a->requests, m = (double)b->requests;

	if (!a->requests)
		return b->requests ? b->hit_rate_percent : NAN;
	if (!b->requests)
		return a->hit_rate_percent;
	return (a->hit_rate_percent * n + b->hit_rate_percent * m) / (n + m);
}

/*
 * Adds one result to another; a value that is NAN in either is NAN in the sum.
 */
static void
add_result(struct engine_result *to, const struct engine_result *from)
{
	to->hit_rate_percent = merge_hit_rates(to, from);
	to->requests += from->requests;
	if (from->start_ns < to->start_ns)
		to->start_ns = from->start_ns;
	if (from->end_ns > to->end_ns)
		to->end_ns = from->end_ns;
	to->offered_rps += from->offered_rps;
	to->max_backlog += from->max_backlog;
	to->refilled += from->refilled;
	for (size_t i = 0; i < from->nerrors; i++)
		engine_result_add_error(to, &from->errors[i]);
	to->errors_total += from->errors_total;
	to->errors_unknown |= from->errors_unknown;
	to->refused += from->refused;
	to->lost += from->lost;
	to->unanswered += from->unanswered;
	to->reconnects += from->reconnects;
	to->pushes += from->pushes;
	if (!*to->refusal)
		memcpy(to->refusal, from->refusal, sizeof to->refusal);
	if (to->latency && from->latency)
		hist_merge(to->latency, from->latency);
	if (to->service && from->service)
		hist_merge(to->service, from->service);
	add_intervals(to, from);
}

void
roles_merge(struct engine_result *v, size_t n)
{
	if (n < 2)
		return;
	for (size_t i = 1; i < n; i++) {
		add_result(&v[0], &v[i]);
		engine_result_free(&v[i]);
		v[i] = (struct engine_result){0};
	}
	v[0].elapsed_s = (double)(v[0].end_ns - v[0].start_ns) / 1e9;
	v[0].rps =
	    v[0].elapsed_s > 0 ? (double)v[0].requests / v[0].elapsed_s : NAN;
	if (v[0].latency)
		engine_result_set_latencies(&v[0]);
}
