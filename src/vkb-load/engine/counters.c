#include "counters.h"
#include "verify.h"
#include "hist.h"
#include "mem.h"
#include "reconnect.h"
#include "run.h"
#include "slotmap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the row of a kind and, if it is not NULL, a text; or NULL. */
static struct engine_error *
find_row(struct engine_error *v, size_t n, const char *kind, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(v[i].kind, kind) == 0 &&
		    (!text || strcmp(v[i].text, text) == 0))
			return &v[i];
	return NULL;
}

void
counters_add_row(struct engine_error *v, size_t *n, const char *kind,
    const char *text, uint64_t count, bool by_text)
{
	struct engine_error *e = find_row(v, *n, kind, by_text ? text : NULL);

	if (!e && *n >= ENGINE_ERRORS - 1) {
		kind = "other";
		text = by_text ? "for several reasons" : text;
		e = find_row(v, *n, kind, NULL);
	}
	if (!e) {
		e = &v[(*n)++];
		snprintf(e->kind, sizeof e->kind, "%s", kind);
		snprintf(e->text, sizeof e->text, "%s", text);
		e->count = 0;
	}
	e->count += count;
}

void
counters_count_error(struct worker *w, const char *kind, const char *text)
{
	counters_add_row(w->all.errors, &w->all.nerrors, kind, text, 1, false);
}

void
counters_add_error(struct part *p, const char *line)
{
	char kind[64];

	snprintf(kind, sizeof kind, "%.*s", (int)strcspn(line, " "), line);
	counters_add_row(p->errors, &p->nerrors, kind, line, 1, false);
}

/* Returns the errors since the last interval was handed over. */
static uint64_t
take_errors(struct worker *w)
{
	uint64_t sum = 0, before = w->errors_handed;

	for (size_t i = 0; i < w->all.nerrors; i++)
		sum += w->all.errors[i].count;
	w->errors_handed = sum;
	return sum - before;
}

/*
 * Hands the intervals before 'until' over to the run. Call with the lock held.
 */
static void
hand_over(struct worker *w, size_t until)
{
	struct run *r = w->run;
	struct interval *in;

	while (r->nintervals < until) {
		r->intervals = mem_grow(r->intervals, r->nintervals,
		    &r->intervals_cap, sizeof *r->intervals);
		in = &r->intervals[r->nintervals];
		*in = (struct interval){.length_s = 1,
		    .start_ns = r->slice_s > 0
			? r->t0
			: r->t0 + (int64_t)r->nintervals * RUN_SECOND};
		r->nintervals++;
	}
	in = &r->intervals[w->interval];
	if (hist_count(w->all.latency)) {
		if (!in->hist)
			in->hist = HIST_LATENCY();
		hist_merge(in->hist, w->all.latency);
		hist_merge(r->latency, w->all.latency);
		hist_clear(w->all.latency);
		if (r->service) {
			hist_merge(r->service, w->all.service);
			hist_clear(w->all.service);
		}
	}
	in->requests += w->interval_counted;
	in->errors += take_errors(w);
	r->answered += w->interval_counted;
	w->interval_counted = 0;
	w->interval = until;
}

void
counters_end_interval(struct worker *w, int64_t now)
{
	struct run *r = w->run;
	size_t until = (size_t)((now - r->t0) / RUN_SECOND);

	pthread_mutex_lock(&r->gate->lock);
	hand_over(w, until);
	pthread_mutex_unlock(&r->gate->lock);
	w->interval_end = r->t0 + (int64_t)(until + 1) * RUN_SECOND;
}

void
counters_end_slice(struct worker *w)
{
	struct run *r = w->run;

	pthread_mutex_lock(&r->gate->lock);
	hand_over(w, w->interval + 1);
	if (r->slice_s <= 0)
		w->interval = SIZE_MAX; /* it has no part in later ones */
	r->ndone++;
	pthread_cond_broadcast(&r->gate->changed);
	pthread_mutex_unlock(&r->gate->lock);
}

void
counters_count(struct worker *w)
{
	if (w->loop.now >= w->interval_end)
		counters_end_interval(w, w->loop.now);
	w->interval_counted++;
}

void
counters_record_one(
    struct part *p, bool counted, int64_t ns, int64_t service_ns)
{
	p->counted += counted;
	if (ns < 0)
		return;
	hist_add(p->latency, ns, 1);
	if (p->service && service_ns >= 0)
		hist_add(p->service, service_ns, 1);
}

void
counters_record(struct worker *w, int64_t ns, uint32_t n)
{
	if (w->loop.now >= w->interval_end)
		counters_end_interval(w, w->loop.now);
	hist_add(w->all.latency, ns, n);
	w->interval_counted += n;
}

/* Has a thread that runs yet to hand over the interval? Where none runs, it is
 * known later when the interval ended. */
static bool
is_open(const struct run *r, size_t interval)
{
	for (size_t i = 0; i < r->nworkers; i++)
		if (r->workers[i].interval <= interval)
			return true;
	return r->ndone == r->nworkers;
}

void
counters_close_intervals(struct run *r, bool all)
{
	struct interval *in;

	for (; r->closed < r->nintervals; r->closed++) {
		in = &r->intervals[r->closed];
		if (!all && is_open(r, r->closed))
			return;
		in->p50_ms = in->p99_ms = in->max_ms = NAN;
		if (!in->hist)
			continue;
		in->p50_ms = (double)hist_quantile(in->hist, .5) / 1e6;
		in->p99_ms = (double)hist_quantile(in->hist, .99) / 1e6;
		in->max_ms = (double)hist_max(in->hist) / 1e6;
		if (r->tells)
			continue;
		hist_free(in->hist);
		in->hist = NULL;
	}
}

void
counters_tell_intervals(struct run *r, const struct engine_meter *m, size_t k)
{
	struct interval in;
	bool more = m && m->ended;

	while (more) {
		pthread_mutex_lock(&r->gate->lock);
		more = r->told < r->closed;
		if (more) {
			in = r->intervals[r->told];
			r->intervals[r->told++].hist = NULL;
		}
		pthread_mutex_unlock(&r->gate->lock);
		if (!more)
			break;
		m->ended(m->ended_arg,
		    &(struct engine_ended){k, in.start_ns, in.length_s,
			in.requests, in.errors, in.hist});
		hist_free(in.hist);
	}
}

bool
counters_count_error_reply(
    struct worker *w, const struct conn *c, const char *line)
{
	struct run *r = w->run;
	bool moved = strncmp(line, "MOVED ", strlen("MOVED ")) == 0;

	/* Beside data of others, their writes fail, too. */
	if (c->state == CONN_SETUP || r->strict ||
	    (r->target->prefix && strncmp(line, "OOM ", 4) == 0)) {
		run_fail(r, "'%s' answered: %s%s", c->node->name, line,
		    moved ? "; " RUN_MOVED : "");
		return false;
	}
	counters_add_error(&w->all, line);
	if (r->target->cluster && moved)
		run_mark_stale(r);
	return true;
}

void
counters_count_refused(struct part *p, const char *line)
{
	p->wrong++;
	if (!*p->refusal)
		snprintf(p->refusal, sizeof p->refusal, "%s", line);
}

void
counters_check_value(
    struct conn *c, uint32_t nth, const char *p, size_t n, uint64_t left)
{
	verify_take(c->worker->checks, c->expected, nth, p, n, left);
}

void
counters_count_answers(
    struct worker *w, bool counted, uint32_t misses, int64_t now)
{
	struct part *p;

	if (counted) {
		w->all.misses += misses;
		w->all.refused += w->all.wrong;
		w->last_ns = now;
	}
	w->all.wrong = 0;
	for (p = w->parts; p < w->parts + w->nparts; p++) {
		if (counted) {
			p->misses += p->missed;
			p->refused += p->wrong;
		}
		p->missed = p->wrong = 0;
	}
}

/* Adds a row of errors, as of a thread. */
static void
add_error(struct engine_result *r, const struct engine_error *e)
{
	counters_add_row(
	    r->errors, &r->nerrors, e->kind, e->text, e->count, false);
}

void
engine_result_add_errors(
    struct engine_result *to, const struct engine_result *from)
{
	for (size_t i = 0; i < from->nerrors; i++)
		add_error(to, &from->errors[i]);
	to->errors_total += from->errors_total;
	to->refused += from->refused;
	to->lost += from->lost;
	to->unanswered += from->unanswered;
	to->reconnects += from->reconnects;
	engine_verified_add(&to->verified, &from->verified);
}

/* Returns the mean of a rate that changes, in a part of the measured time. */
static double
get_offered(const struct engine_work *w, double from_s, double to_s)
{
	struct ratespec_timing c = {w->ramp, w->warmup_s, w->duration_s};
	double end_s = fmin(to_s, w->duration_s); /* nothing is due later */

	if (!ratespec_changes(&w->ramp) || end_s <= from_s)
		return 0;
	return (ratespec_due(&c, w->warmup_s + end_s) -
		   ratespec_due(&c, w->warmup_s + from_s)) /
	    (to_s - from_s);
}

static void
set_intervals(struct run *r, struct engine_result *out)
{
	struct engine_interval *e;
	struct interval *in;
	double at = 0;

	counters_close_intervals(r, true);
	out->intervals = mem_array(r->nintervals + 1, sizeof *out->intervals);
	for (in = r->intervals; in < r->intervals + r->nintervals; in++) {
		if (at >= out->elapsed_s)
			break; /* only late replies of the drain */
		in->length_s = fmin(in->length_s, out->elapsed_s - at);
		e = &out->intervals[out->nintervals++];
		e->length_s = in->length_s;
		e->at_s = at += e->length_s;
		e->requests = in->requests;
		e->p50_ms = in->p50_ms;
		e->p99_ms = in->p99_ms;
		e->max_ms = in->max_ms;
		e->offered_rps = get_offered(r->work, at - e->length_s, at);
	}
}

/* Returns the time in which the counted requests were made. */
static int64_t
get_elapsed(const struct run *r, int64_t last)
{
	if (!r->active_ns)
		return last - r->t0;
	return run_by_duration(r) ? r->sliced_ns : r->active_ns;
}

/* Returns the requests per second of the schedule; those of a number of
 * requests, or of a trace to its end, were due until the last of them. */
static double
get_offered_rps(const struct run *r, const struct engine_result *out)
{
	double rps = 0, due = 0, last = 0, ns;
	const struct worker *w;

	for (w = r->workers; w < r->workers + r->nworkers; w++) {
		due += (double)w->measured;
		last = fmax(last, w->last_due);
		ns = w->seen.next_ns - w->first_due;
		if (w->measured && ns > 0)
			rps += (double)w->measured * 1e9 / ns;
	}
	if (run_by_duration(r))
		rps = due / out->elapsed_s;
	else if (r->work->replay)
		rps = last > 0 ? due * 1e9 / last : NAN;
	return rps * r->together;
}

static void
collect_checks(const struct verify_checks *k, struct engine_result *out)
{
	engine_verified_add(&out->verified, &k->found);
	if (!out->written)
		out->written = verify_written_new(VERIFY_WRITTEN_MOST);
	verify_written_merge(out->written, k->written);
	out->written->kept = k->kept;
}

uint64_t
counters_add_part(struct engine_result *to, const struct part *p)
{
	to->requests += p->counted;
	to->refused += p->refused;
	to->lost += (double)p->lost;
	to->unanswered += (double)p->unanswered;
	if (!*to->refusal)
		memcpy(to->refusal, p->refusal, sizeof to->refusal);
	for (size_t k = 0; k < p->nerrors; k++) {
		to->errors_total += p->errors[k].count;
		add_error(to, &p->errors[k]);
	}
	if (to->latency)
		hist_merge(to->latency, p->latency);
	if (to->service)
		hist_merge(to->service, p->service);
	return p->misses;
}

void
counters_set_rates(struct engine_result *to, uint64_t misses, unsigned items)
{
	double most = (double)to->requests * items;

	to->rps =
	    to->elapsed_s > 0 ? (double)to->requests / to->elapsed_s : NAN;
	misses += to->refused * items;
	to->hit_rate_percent =
	    most > 0 ? 100 * (1 - (double)misses / most) : NAN;
}

void
counters_collect(struct run *r, struct engine_result *out)
{
	uint64_t misses = 0;
	int64_t last = r->t0;
	bool cut = run_halted(r); /* before the measured time was over */
	const struct worker *w;
	size_t i;

	for (i = 0; i < r->nworkers; i++) {
		w = &r->workers[i];
		misses += counters_add_part(out, &w->all);
		out->answered += w->answered;
		out->refilled += w->refilled;
		out->reconnects += (double)w->reconnects;
		out->pushes += (double)w->loop.pushes;
		cut |= w->cut;
		if (w->last_ns > last)
			last = w->last_ns;
		out->max_backlog = fmax(out->max_backlog, w->max_backlog);
		if (w->checks)
			collect_checks(w->checks, out);
	}
	if (run_by_duration(r) && !cut)
		last = r->t1;
	out->start_ns = r->began;
	out->end_ns = last;
	out->elapsed_s = (double)get_elapsed(r, last) / 1e9;
	out->active_s = (double)r->active_ns / 1e9;
	counters_set_rates(out, misses, r->source->items);
	out->offered_rps = NAN;
	if (run_is_open(r))
		out->offered_rps = get_offered_rps(r, out);
	else
		out->max_backlog = NAN;
	reconnect_collect(r, out);
	if (!r->work->resp3)
		out->pushes = NAN;
	set_intervals(r, out);
	out->latency = r->latency;
	out->service = r->service;
	r->latency = r->service = NULL;
}

void
engine_result_free(struct engine_result *r)
{
	hist_free(r->latency);
	hist_free(r->service);
	hist_free(r->connect);
	free(r->intervals);
	free(r->name);
	verify_written_free(r->written);
	r->name = NULL;
	r->written = NULL;
	r->latency = r->service = r->connect = NULL;
	r->intervals = NULL;
	r->nintervals = 0;
	for (size_t i = 0; i < r->nparts; i++)
		engine_result_free(&r->parts[i]);
	free(r->parts);
	r->parts = NULL;
	r->nparts = 0;
}
