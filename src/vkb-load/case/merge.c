/* Merges the results of the streams of one role. */
#include "hist.h"
#include "mem.h"
#include "roles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void
add_errors(struct engine_result *to, const struct engine_result *from)
{
	const struct engine_error *e;
	size_t k;

	for (size_t i = 0; i < from->nerrors; i++) {
		e = &from->errors[i];
		for (k = 0; k < to->nerrors; k++)
			if (strcmp(to->errors[k].kind, e->kind) == 0)
				break;
		if (k == ENGINE_ERRORS)
			k--;
		if (k < to->nerrors)
			to->errors[k].count += e->count;
		else
			to->errors[to->nerrors++] = *e;
	}
	to->errors_total += from->errors_total;
	to->errors_unknown |= from->errors_unknown;
	to->refused += from->refused;
	to->lost += from->lost;
	to->unanswered += from->unanswered;
	to->reconnects += from->reconnects;
	to->pushes += from->pushes;
	if (!*to->refusal)
		memcpy(to->refusal, from->refusal, sizeof to->refusal);
}

static void
merge_hist(struct hist **to, const struct hist *from)
{
	if (!*to || !from)
		return;
	hist_merge(*to, from);
}

/* Adds up requests; percentiles cannot be merged, so they become NAN. */
static void
add_intervals(struct engine_result *to, const struct engine_result *from)
{
	size_t n = to->nintervals > from->nintervals ? to->nintervals
						     : from->nintervals;

	to->intervals = mem_resize(to->intervals, n + 1, sizeof *to->intervals);
	for (size_t i = 0; i < n; i++) {
		if (i >= from->nintervals)
			continue;
		if (i >= to->nintervals) {
			to->intervals[i] = from->intervals[i];
			continue;
		}
		to->intervals[i].requests += from->intervals[i].requests;
		to->intervals[i].length_s = fmax(
		    to->intervals[i].length_s, from->intervals[i].length_s);
		to->intervals[i].at_s =
		    fmax(to->intervals[i].at_s, from->intervals[i].at_s);
		to->intervals[i].p50_ms = to->intervals[i].p99_ms = NAN;
		to->intervals[i].max_ms =
		    fmax(to->intervals[i].max_ms, from->intervals[i].max_ms);
	}
	to->nintervals = n;
}

static double
convert_to_ms(int64_t ns)
{
	return (double)ns / 1e6;
}

static void
set_latencies(struct engine_result *r)
{
	if (!r->latency || !hist_count(r->latency))
		return;
	r->avg_ms = hist_mean(r->latency) / 1e6;
	r->min_ms = convert_to_ms(hist_min(r->latency));
	r->p50_ms = convert_to_ms(hist_quantile(r->latency, .5));
	r->p95_ms = convert_to_ms(hist_quantile(r->latency, .95));
	r->p99_ms = convert_to_ms(hist_quantile(r->latency, .99));
	r->p999_ms = convert_to_ms(hist_quantile(r->latency, .999));
	r->max_ms = convert_to_ms(hist_max(r->latency));
}

/*
 * Adds one result to another; a value that is NAN in either is NAN in the sum.
 */
static void
add_result(struct engine_result *to, const struct engine_result *from)
{
	double n = (double)to->requests, m = (double)from->requests;

	to->hit_rate_percent = n + m > 0
	    ? (to->hit_rate_percent * n + from->hit_rate_percent * m) / (n + m)
	    : NAN;
	to->requests += from->requests;
	if (from->start_ns < to->start_ns)
		to->start_ns = from->start_ns;
	if (from->end_ns > to->end_ns)
		to->end_ns = from->end_ns;
	to->offered_rps += from->offered_rps;
	to->max_backlog += from->max_backlog;
	to->refilled += from->refilled;
	add_errors(to, from);
	merge_hist(&to->latency, from->latency);
	merge_hist(&to->service, from->service);
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
	set_latencies(&v[0]);
}
