#include "counters.h"
#include "dealer.h"
#include "hist.h"
#include "intern.h"
#include "mem.h"
#include "mix.h"
#include "run.h"
#include "slotmap.h"
#include "verify.h"

#include <endian.h>
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

/* Adds what one thread got. Returns the misses. */
static uint64_t
add_part(struct engine_result *to, const struct part *p)
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

/* Sets the rate, and the hits of requests that have so many misses; 'items': at
 * most in each reply, 0: not known. */
static void
set_rates(struct engine_result *to, uint64_t misses, unsigned items)
{
	double most = (double)to->requests * items;

	to->rps =
	    to->elapsed_s > 0 ? (double)to->requests / to->elapsed_s : NAN;
	misses += to->refused * items;
	to->hit_rate_percent =
	    most > 0 ? 100 * (1 - (double)misses / most) : NAN;
}

/* Adds the connections that were reopened on purpose. */
static void
collect_reopened(const struct run *r, struct engine_result *out)
{
	const struct worker *w;

	if (r->work->conns.reconnect <= 0 && r->work->conns.storm_s <= 0)
		return;
	out->connect = HIST_LATENCY();
	for (size_t i = 0; i < r->nworkers; i++) {
		w = &r->workers[i];
		if (w->connect)
			hist_merge(out->connect, w->connect);
		out->connects += (double)w->connects;
		out->resumed += (double)w->resumed;
	}
	if (!r->setup.tls)
		out->resumed = NAN;
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

#define PARTS_MOST 50 /* names of a trace; those behind are all "others" */

#define FEW 16      /* replies that are counted one by one */
#define FEW_STEPS 6 /* of a mix, each of which is counted by itself */

static void
init_part(const struct worker *w, struct part *p)
{
	*p = (struct part){.latency = HIST_LATENCY(),
	    .service = run_is_open(w->run) ? HIST_LATENCY() : NULL};
}

void
counters_init(struct worker *w)
{
	const struct mix *m = w->run->source->mix;

	init_part(w, &w->all);
	if (w->run->work->replay)
		w->names = intern_new();
	if (!m)
		return;
	w->nparts = m->nparts;
	w->parts = mem_array(w->nparts, sizeof *w->parts);
	for (size_t i = 0; i < w->nparts; i++)
		init_part(w, &w->parts[i]);
}

size_t
counters_name_part(struct worker *w, const char *name)
{
	size_t i = intern_id(w->names, name);

	i = i < PARTS_MOST ? i : PARTS_MOST;
	if (i < w->nparts)
		return i;
	init_part(w, MEM_ADD(w->parts, w->nparts, w->parts_cap));
	return i;
}

void
counters_free(struct worker *w)
{
	hist_free(w->all.latency);
	hist_free(w->all.service);
	for (size_t i = 0; i < w->nparts; i++) {
		hist_free(w->parts[i].latency);
		hist_free(w->parts[i].service);
	}
	free(w->parts);
	if (w->names)
		intern_free(w->names);
}

size_t
counters_find_part(
    const struct worker *w, const struct conn *c, uint32_t nth, uint32_t n)
{
	if (c->list)
		return dealer_at(c->list, nth)->part;
	return mix_step(w->run->source->mix, &c->ring, c->ring.at - n + nth)
	    ->part;
}

#define ONES UINT64_C(0x0101010101010101)
#define LOW (127 * ONES)
#define PAIRS UINT64_C(0x00ff00ff00ff00ff)
#define WORDS_MOST 255 /* after so many words a lane of one byte is full */

/* Counts the bytes that are 'step' among n, eight at a time; MIX_SLACK more may
 * be read. */
static uint32_t
count_equal(const uint8_t *p, uint32_t n, uint8_t step)
{
	uint64_t x, others, same = step * ONES;
	uint32_t count = 0, words, i;

	for (; n; n -= words) {
		words = n < WORDS_MOST * sizeof x ? n : WORDS_MOST * sizeof x;
		count += words;
		for (i = 0, others = 0; i < words; i += 8, p += sizeof x) {
			memcpy(&x, p, sizeof x);
			x = le64toh(x) ^ same;
			if (words - i < sizeof x) /* those behind count not */
				x &= ((uint64_t)1 << 8 * (words - i)) - 1;
			/* the high bit of each byte that is not 0 */
			others += (((x & LOW) + LOW) | x) >> 7 & ONES;
		}
		others = (others & PAIRS) + (others >> 8 & PAIRS);
		count -=
		    (uint32_t)(others * UINT64_C(0x0001000100010001) >> 48);
	}
	return count;
}

/* The same of two steps, 0 and 1: counts the second, which is their sum. */
static uint32_t
count_second(const uint8_t *p, uint32_t n)
{
	uint64_t x, sum;
	uint32_t count = 0, words, i;

	for (; n; n -= words) {
		words = n < WORDS_MOST * sizeof x ? n : WORDS_MOST * sizeof x;
		for (i = sum = 0; i + sizeof x <= words; i += 8) {
			memcpy(&x, p + i, sizeof x);
			sum += x;
		}
		memcpy(&x, p + i, sizeof x);
		if (i < words) /* those behind count not */
			sum +=
			    le64toh(x) & (((uint64_t)1 << 8 * (words - i)) - 1);
		sum = (sum & PAIRS) + (sum >> 8 & PAIRS);
		count += (uint32_t)(sum * UINT64_C(0x0001000100010001) >> 48);
		p += words;
	}
	return count;
}

/* Counts how often each step is among n in a row, one by one. */
static void
count_many(struct worker *w, const uint8_t *steps, uint32_t n)
{
	const struct mix *m = w->run->source->mix;
	uint32_t counts[MIX_STEPS + 1] = {0};

	for (; n; n--)
		counts[*steps++]++;
	for (size_t i = 0; i < m->nsteps; i++)
		w->parts[m->steps[i].part].n += counts[i];
}

/* The same, if they are few by counting each apart. */
static void
count_row(struct worker *w, const uint8_t *steps, uint32_t n)
{
	const struct mix *m = w->run->source->mix;
	uint32_t left = n, k;

	if (m->nsteps > FEW_STEPS) {
		count_many(w, steps, n);
		return;
	}
	for (size_t i = 1; i < m->nsteps; i++) {
		k = m->nsteps == 2 ? count_second(steps, n)
				   : count_equal(steps, n, (uint8_t)i);
		w->parts[m->steps[i].part].n += k;
		left -= k;
	}
	w->parts[m->steps[0].part].n += left;
}

/* The same in a ring, which is one row or two. */
static void
count_steps(struct worker *w, const struct mix_ring *r, uint32_t at, uint32_t n)
{
	uint32_t begin = at & r->mask, first = r->mask + 1 - begin;

	first = first < n ? first : n;
	count_row(w, r->steps + begin, first);
	if (first < n)
		count_row(w, r->steps, n - first);
}

/* Sets what each part has of the n replies, those taken left out. */
static void
take_replies(struct worker *w, const struct conn *c, uint32_t n)
{
	const struct mix *m = w->run->source->mix;
	uint32_t at = c->ring.at - c->awaited - n;

	if (c->list)
		for (uint32_t i = 0; i < n; i++)
			w->parts[dealer_at(c->list, i)->part].n++;
	else if (n > FEW)
		count_steps(w, &c->ring, at, n);
	else
		for (; n; n--)
			w->parts[mix_step(m, &c->ring, at++)->part].n++;
	for (size_t i = 0; w->all.taken && i < w->nparts; i++) {
		w->parts[i].n -= w->parts[i].taken;
		w->parts[i].taken = 0;
	}
}

void
counters_record_parts(struct worker *w, const struct conn *c, uint32_t n,
    bool counted, int64_t now, int64_t ns)
{
	const struct run *r = w->run;
	bool recorded = now >= r->t1 || (counted && now >= r->t0);
	struct part *p;

	take_replies(w, c, n);
	for (p = w->parts; p < w->parts + w->nparts; p++) {
		if (!p->n)
			continue;
		if (counted)
			p->counted += p->n;
		if (recorded)
			hist_add(p->latency, ns, p->n);
		p->n = 0;
	}
}

void
counters_miss(struct worker *w, size_t part, bool zero)
{
	const struct mix *m = w->run->source->mix;

	if (m->parts[part].items && (!zero || m->parts[part].zero_miss))
		w->parts[part].missed++;
}

void
counters_forget(struct worker *w)
{
	for (size_t i = 0; i < w->nparts; i++) {
		hist_clear(w->parts[i].latency);
		if (w->parts[i].service)
			hist_clear(w->parts[i].service);
	}
}

void
engine_result_set_unknown(struct engine_result *r)
{
	r->lost = r->unanswered = r->reconnects = r->pushes = NAN;
	r->hit_rate_percent = r->offered_rps = r->max_backlog = NAN;
}

static void
begin_result(const struct run *r, const struct engine_result *all,
    struct engine_result *to)
{
	*to = (struct engine_result){.start_ns = all->start_ns,
	    .end_ns = all->end_ns,
	    .elapsed_s = all->elapsed_s,
	    .active_s = all->active_s,
	    .latency = HIST_LATENCY(),
	    .service = run_is_open(r) ? HIST_LATENCY() : NULL};
	engine_result_set_unknown(to);
	to->lost = to->unanswered = 0;
}

static void
collect_part(const struct run *r, const struct engine_result *all, size_t i)
{
	struct engine_result *to = &all->parts[i];
	uint64_t misses = 0;

	begin_result(r, all, to);
	for (size_t k = 0; k < r->nworkers; k++)
		misses += add_part(to, &r->workers[k].parts[i]);
	set_rates(to, misses, r->source->mix->parts[i].items);
}

/* The threads of a trace have numbered its commands as they came. */
static void
collect_names(const struct run *r, struct engine_result *out)
{
	struct intern *names = intern_new();
	const struct worker *w;
	const char *name;
	size_t cap = 0, id, n;

	for (w = r->workers; w < r->workers + r->nworkers; w++)
		for (size_t i = 0; i < w->nparts; i++) {
			name = i < PARTS_MOST ? intern_text(w->names, i)
					      : "others";
			id = intern_id(names, name);
			if (id == out->nparts) {
				out->parts = mem_grow(
				    out->parts, id, &cap, sizeof *out->parts);
				begin_result(r, out, &out->parts[id]);
				out->parts[id].name = mem_str(name);
				out->nparts++;
			}
			add_part(&out->parts[id], &w->parts[i]);
		}
	intern_free(names);
	n = out->nparts;
	out->nparts = 0;
	for (size_t i = 0; i < n; i++) {
		set_rates(&out->parts[i], 0, 0);
		if (hist_count(out->parts[i].latency))
			out->parts[out->nparts++] = out->parts[i];
		else /* it was sent before the measured time alone */
			engine_result_free(&out->parts[i]);
	}
}

/* The hit rate of all parts that have one, each in proportion to its reads. */
static void
set_hit_rate(const struct run *r, struct engine_result *out)
{
	const struct engine_result *v;
	double hits = 0, all = 0, n;

	for (size_t i = 0; i < out->nparts; i++) {
		v = &out->parts[i];
		if (isnan(v->hit_rate_percent))
			continue;
		n = (double)v->requests * r->source->mix->parts[i].items;
		hits += n * v->hit_rate_percent;
		all += n;
	}
	out->hit_rate_percent = all > 0 ? hits / all : NAN;
}

/* Makes the results of the parts; 'out' has those of all. */
static void
collect_parts(struct run *r, struct engine_result *out)
{
	const struct mix *m = r->source->mix;

	if (r->work->replay)
		collect_names(r, out);
	if (!m)
		return;
	out->nparts = m->nparts;
	out->parts = mem_array(m->nparts, sizeof *out->parts);
	for (size_t i = 0; i < m->nparts; i++)
		collect_part(r, out, i);
	set_hit_rate(r, out);
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
		misses += add_part(out, &w->all);
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
	set_rates(out, misses, r->source->items);
	out->offered_rps = NAN;
	if (run_is_open(r))
		out->offered_rps = get_offered_rps(r, out);
	else
		out->max_backlog = NAN;
	collect_reopened(r, out);
	if (!r->work->resp3)
		out->pushes = NAN;
	set_intervals(r, out);
	out->latency = r->latency;
	out->service = r->service;
	r->latency = r->service = NULL;
	collect_parts(r, out);
}
