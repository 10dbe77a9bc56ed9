#include "mixparts.h"
#include "counters.h"
#include "hist.h"
#include "intern.h"
#include "mem.h"
#include "mix.h"
#include "run.h"
#include "outbox.h"

#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FEW 16      /* replies that are counted one by one */
#define FEW_STEPS 6 /* of a mix, each of which is counted by itself */

static void
init_part(const struct worker *w, struct part *p)
{
	*p = (struct part){.latency = HIST_LATENCY(),
	    .service = run_is_open(w->run) ? HIST_LATENCY() : NULL};
}

void
mixparts_init(struct worker *w)
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
mixparts_name(struct worker *w, const char *name)
{
	size_t i = intern_id(w->names, name);

	i = i < MIXPARTS_MOST ? i : MIXPARTS_MOST;
	if (i < w->nparts)
		return i;
	w->parts =
	    mem_grow(w->parts, w->nparts, &w->parts_cap, sizeof *w->parts);
	init_part(w, &w->parts[w->nparts++]);
	return i;
}

void
mixparts_free(struct worker *w)
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
mixparts_find(
    const struct worker *w, const struct conn *c, uint32_t nth, uint32_t n)
{
	if (c->list)
		return outbox_at(c->list, nth)->part;
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
			w->parts[outbox_at(c->list, i)->part].n++;
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
mixparts_record(struct worker *w, const struct conn *c, uint32_t n,
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
mixparts_miss(struct worker *w, size_t part, bool zero)
{
	const struct mix *m = w->run->source->mix;

	if (m->items[part] && (!zero || m->zero_misses[part]))
		w->parts[part].missed++;
}

void
mixparts_forget(struct worker *w)
{
	for (size_t i = 0; i < w->nparts; i++) {
		hist_clear(w->parts[i].latency);
		if (w->parts[i].service)
			hist_clear(w->parts[i].service);
	}
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
	    .service = run_is_open(r) ? HIST_LATENCY() : NULL,
	    .reconnects = NAN,
	    .pushes = NAN,
	    .offered_rps = NAN,
	    .max_backlog = NAN};
}

static void
collect_part(const struct run *r, const struct engine_result *all, size_t i)
{
	struct engine_result *to = &all->parts[i];
	uint64_t misses = 0;

	begin_result(r, all, to);
	for (size_t k = 0; k < r->nworkers; k++)
		misses += counters_add_part(to, &r->workers[k].parts[i]);
	counters_set_rates(to, misses, r->source->mix->items[i]);
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
			name = i < MIXPARTS_MOST ? intern_text(w->names, i)
						 : "others";
			id = intern_id(names, name);
			if (id == out->nparts) {
				out->parts = mem_grow(
				    out->parts, id, &cap, sizeof *out->parts);
				begin_result(r, out, &out->parts[id]);
				out->parts[id].name = mem_str(name);
				out->nparts++;
			}
			counters_add_part(&out->parts[id], &w->parts[i]);
		}
	intern_free(names);
	n = out->nparts;
	out->nparts = 0;
	for (size_t i = 0; i < n; i++) {
		counters_set_rates(&out->parts[i], 0, 0);
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
		n = (double)v->requests * r->source->mix->items[i];
		hits += n * v->hit_rate_percent;
		all += n;
	}
	out->hit_rate_percent = all > 0 ? hits / all : NAN;
}

void
mixparts_collect(struct run *r, struct engine_result *out)
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
