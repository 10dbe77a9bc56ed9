#include "mix.h"
#include "cmdsource.h"
#include "command.h"
#include "compile.h"
#include "draw.h"
#include "engine.h"
#include "err.h"
#include "mem.h"
#include "mixshots.h"
#include "template.h"
#include "together.h"
#include "values.h"
#include "words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELLS ((size_t)1 << MIX_BITS)
#define EACH (64 / MIX_BITS) /* cells that one random word chooses */
#define ROWS_MOST 256        /* of steps that one cell may choose */
#define BEFOREHAND                                                 \
	((size_t)256 << 20) /* bytes of rendered rows of a command \
			     */

/* Returns the part at a share from 0 to 1 of all weights. */
static size_t
find_part(const struct mix *m, double share)
{
	size_t i = 0;

	while (i + 1 < m->nparts && m->until[i] <= share)
		i++;
	return i;
}

size_t
mix_draw_part(const struct mix *m, struct rng *rng)
{
	return find_part(m, rng_unit(rng));
}

/* Sets the first steps of parts in a row, by a share of all such rows. */
static void
find_steps(const struct mix *m, double share, uint8_t steps[MIX_AT_ONCE])
{
	double before;
	size_t part;

	for (uint32_t i = 0; i < m->at_once; i++) {
		part = find_part(m, share);
		steps[i] = (uint8_t)m->firsts[part];
		before = part ? m->until[part - 1] : 0;
		share = (share - before) / (m->until[part] - before);
	}
}

/* Returns the steps that MIX_BITS of a random word choose, or further bits if
 * they are not the same for the whole cell; these are written to 'drawn'. */
static inline const uint8_t *
draw_steps(const struct mix *m, uint64_t bits, struct rng *rng,
    uint8_t drawn[MIX_AT_ONCE])
{
	size_t cell = bits % CELLS;

	if (__builtin_expect(m->cells[cell][0] != MIX_STEPS, 1))
		return m->cells[cell];
	find_steps(m, ((double)cell + rng_unit(rng)) / (double)CELLS, drawn);
	return drawn;
}

/* Draws n steps of parts that have one each. */
static void
plan_row(const struct mix *m, struct rng *from, uint8_t *to, uint32_t n)
{
	uint8_t *end = to + n, drawn[MIX_AT_ONCE] = {0};
	struct rng rng = *from;
	uint32_t each = m->at_once, k, i;
	const uint8_t *steps;
	uint64_t bits;

	while (end - to >= EACH * MIX_AT_ONCE) {
		bits = rng_next(&rng);
#pragma GCC unroll 5
		for (k = 0; k < EACH; k++, bits >>= MIX_BITS, to += each)
			memcpy(
			    to, draw_steps(m, bits, &rng, drawn), MIX_AT_ONCE);
	}
	while (to < end) {
		bits = rng_next(&rng);
		for (k = 0; k < EACH && to < end; k++, bits >>= MIX_BITS) {
			steps = draw_steps(m, bits, &rng, drawn);
			for (i = 0; i < each && to < end; i++)
				*to++ = steps[i];
		}
	}
	*from = rng;
}

/* The ring is one row or two. */
static void
plan_single(const struct mix *m, struct mix_ring *r, uint32_t n)
{
	uint32_t begin = r->at & r->mask, first = r->mask + 1 - begin;

	first = first < n ? first : n;
	plan_row(m, &r->rng, r->steps + begin, first);
	plan_row(m, &r->rng, r->steps, n - first);
	r->at += n;
}

void
mix_plan(const struct mix *m, struct mix_ring *r, uint32_t n)
{
	uint8_t last = r->fresh ? (uint8_t)(m->nsteps - 1)
				: r->steps[(r->at - 1) & r->mask];

	uint8_t drawn[MIX_AT_ONCE] = {0};

	r->fresh = false;
	if (m->single && !m->turns) {
		plan_single(m, r, n);
		return;
	}
	for (; n; n--) {
		if (!m->steps[last].last)
			last++;
		else if (m->turns)
			last = m->turns[r->turn++ % m->nturns];
		else
			last =
			    *draw_steps(m, rng_next(&r->rng), &r->rng, drawn);
		r->steps[r->at++ & r->mask] = last;
	}
}

void
mix_ring_init(struct mix_ring *r, const struct mix *m, uint32_t n,
    uint64_t seed, uint64_t turn)
{
	uint32_t size = 1;

	/* Large, since a batch that lies on the end is planned in two parts. */
	while (size < 4 * n + m->nsteps)
		size *= 2;
	*r = (struct mix_ring){.mask = size - 1, .turn = turn};
	r->steps = mem_array(size + MIX_SLACK, 1);
	memset(r->steps, (int)m->nsteps - 1, size); /* the last of a part */
	rng_seed(&r->rng, seed, 0);
}

static uint32_t
make_any(const struct cmdsource *source, struct cursor *c,
    const struct keys *keys, char *buf, uint32_t n, size_t full, size_t *len)
{
	const struct template *t = (const struct template *)source;
	const struct mix_step *s;
	char *to = buf;
	struct draw d;
	uint32_t i;

	draw_init(&d, t, c, keys);
	for (i = 0; i < n && (size_t)(to - buf) < full; i++) {
		s = mix_step(source->mix, c->ring, c->step++);
		/* {key} is drawn for the first step, see draw_begin. */
		d.line = !s->line ? 0 : s->first ? 1 : UINT64_MAX;
		c->turn += s->line && !s->first && !c->turn;
		to = render_command(t, s->command, &d, to);
	}
	*len = (size_t)(to - buf);
	return i;
}

static uint64_t
count_taken(const struct cmdsource *source, enum cmdsource_counter kind,
    const struct cursor *c, uint64_t n)
{
	uint64_t taken = 0;

	for (uint32_t i = 0; i < n; i++)
		taken += mix_step(source->mix, c->ring, c->step + i)
			     ->command->uses[kind];
	return taken;
}

static void
free_source(struct cmdsource *source)
{
	template_free((struct template *)source);
}

/* Marks the steps of parts with a transaction. */
static void
mark_transactions(struct mix *m, const struct template *t)
{
	bool *whole = mem_array(m->nparts, sizeof *whole);
	size_t i;

	for (i = 0; i < m->nsteps; i++)
		whole[m->steps[i].part] |=
		    together_begins(t, m->steps[i].command);
	for (i = 0; i < m->nsteps; i++)
		m->steps[i].whole = whole[m->steps[i].part];
	free(whole);
}

static const struct cmdsource_ops ops_simple = {
    render_room, mixshots_make, count_taken, free_source};
static const struct cmdsource_ops ops_any = {
    render_room, make_any, count_taken, free_source};

/* Lists the steps of all parts. Returns why they are too many, or NULL. */
static char *
list_steps(
    struct mix *m, const struct template *t, const struct compile_text *texts)
{
	const struct compiled *s;
	size_t i, k, all = 0;

	for (i = 0; i < t->ncommands; i++)
		all += t->commands[i].times < MIX_STEPS + 1
		    ? (size_t)t->commands[i].times
		    : MIX_STEPS + 1;
	if (all > MIX_STEPS)
		return mem_printf("its commands have more than %d commands "
				  "together",
		    MIX_STEPS);
	m->steps = mem_array(all, sizeof *m->steps);
	m->firsts = mem_array(m->nparts, sizeof *m->firsts);
	m->items = mem_array(m->nparts, sizeof *m->items);
	m->zero_misses = mem_array(m->nparts, sizeof *m->zero_misses);
	for (i = 0; i < m->nparts; i++) {
		m->firsts[i] = m->nsteps;
		for (k = texts[i].first; k < texts[i].end; k++) {
			s = &t->commands[k];
			for (uint64_t j = 0; j < s->times; j++)
				m->steps[m->nsteps++] =
				    (struct mix_step){.command = s,
					.part = i,
					.line = texts[i].line};
		}
		m->steps[m->firsts[i]].first = true;
		m->steps[m->nsteps - 1].last = true;
		if (m->nsteps - m->firsts[i] > 1)
			continue;
		m->items[i] = m->steps[m->firsts[i]].command->items;
		m->zero_misses[i] = m->steps[m->firsts[i]].command->zero_miss;
	}
	m->single = m->nsteps == m->nparts;
	return NULL;
}

/* Returns how many steps a cell has: 1, or a power of 2 up to MIX_AT_ONCE with
 * which there are at most ROWS_MOST possible rows. */
static uint32_t
count_at_once(const struct mix *m)
{
	uint32_t n = 1;
	size_t rows = m->nparts;

	while (m->single && n < MIX_AT_ONCE && rows * rows <= ROWS_MOST) {
		rows *= rows;
		n *= 2;
	}
	return n;
}

/* Sets which steps each cell of random bits means. */
static void
fill_cells(struct mix *m, const struct engine_part *parts)
{
	uint8_t last[MIX_AT_ONCE] = {0};
	double sum = 0, all = 0;
	size_t i;

	m->until = mem_array(m->nparts, sizeof *m->until);
	for (i = 0; i < m->nparts; i++)
		all += parts[i].weight;
	for (i = 0; i < m->nparts; i++)
		m->until[i] = (sum += parts[i].weight) / all;
	m->at_once = count_at_once(m);
	for (i = 0; i < CELLS; i++) {
		find_steps(m, (double)i / (double)CELLS, m->cells[i]);
		find_steps(
		    m, nextafter((double)(i + 1) / (double)CELLS, 0), last);
		if (memcmp(m->cells[i], last, m->at_once) != 0)
			m->cells[i][0] = MIX_STEPS;
	}
}

/*
 * Lists the parts in turn, each as evenly spread over the round as it goes: the
 * one that is furthest behind its share comes next. Returns why they cannot be
 * listed, or NULL.
 */
static char *
list_turns(struct mix *m, const struct engine_part *parts)
{
	double all = 0, *due;
	size_t i, k, next;

	for (i = 0; i < m->nparts; i++) {
		all += parts[i].weight;
		if (parts[i].weight != floor(parts[i].weight))
			return mem_str("weights must be whole numbers for "
				       "commands in turn");
	}
	if (all > MIX_ROUND)
		return mem_printf("the weights of commands in turn add up to "
				  "more than %d",
		    MIX_ROUND);
	m->nturns = (size_t)all;
	m->turns = mem_array(m->nturns, 1);
	due = mem_array(m->nparts, sizeof *due);
	for (k = 0; k < m->nturns; k++) {
		for (i = next = 0; i < m->nparts; i++) {
			due[i] += parts[i].weight;
			next = due[i] > due[next] ? i : next;
		}
		due[next] -= all;
		m->turns[k] = (uint8_t)m->firsts[next];
	}
	free(due);
	return NULL;
}

static void
set_source(struct template *t, const struct mix *m)
{
	struct cmdsource *o = &t->source;
	size_t i, k;

	o->ops = m->shots ? &ops_simple : &ops_any;
	o->mix = m;
	o->cycle = o->items = o->values = o->together = 1;
	for (i = 0; i < t->ncommands; i++) {
		const struct compiled *s = &t->commands[i];

		o->tagged |= s->tagged;
		o->keyed |= s->keyed || (o->line && s->tagged);
		o->zero_miss |= s->zero_miss;
		for (k = 0; k < CMDSOURCE_COUNTERS; k++)
			o->counted[k] |= s->uses[k];
	}
	for (i = 0; i < m->nsteps; i++)
		o->len += m->steps[i].command->len;
	o->len = o->len / m->nsteps + 1;
	o->constant = o->len;
}

/* Returns the texts of the parts; the caller frees each and the list. */
static char **
list_texts(const struct engine_target *target, const struct engine_work *w,
    struct compile_text *texts)
{
	struct command_style style = {target->cluster, target->prefix,
	    TEMPLATE_SAME, w->ttl_low, w->ttl_high};
	char **v = mem_array(w->nmix, sizeof *v);
	const struct engine_part *p;

	for (size_t i = 0; i < w->nmix; i++) {
		p = &w->mix[i];
		v[i] = p->text ? words_expand_prefix(p->text, target->prefix)
			       : command_text(p->command, &style);
		texts[i] = (struct compile_text){
		    .text = v[i], .values = p->text ? 0 : 1};
	}
	return v;
}

/* Returns why the work cannot be this mix, or NULL. */
static char *
fill_mix(struct template *t, const struct engine_work *w,
    struct compile_text *texts, bool cluster)
{
	struct mix *m = t->mix;
	char *why;

	t->data = values_new(w);
	t->fields = mem_array(1, sizeof *t->fields);
	why = compile_template(t, texts, w->nmix, cluster);
	t->values = 0;
	if (!why)
		why = list_steps(m, t, texts);
	if (!why)
		mark_transactions(m, t);
	if (!why && w->in_order)
		why = list_turns(m, w->mix);
	for (size_t i = 0; i < m->nsteps && !why; i++)
		if (w->sequential && m->steps[i].line && !m->steps[i].last)
			why = mem_str(TEMPLATE_LINE_ORDER);
		else if (cluster && m->steps[i].whole)
			why = mem_str("a transaction in a mix cannot be sent "
				      "to a cluster");
	if (why)
		return why;
	fill_cells(m, w->mix);
	m->shots = mixshots_new(t, w);
	set_source(t, m);
	return NULL;
}

struct template *
mix_new(
    const struct engine_target *target, const struct engine_work *w, char **why)
{
	struct compile_text *texts = mem_array(w->nmix, sizeof *texts);
	char **text = list_texts(target, w, texts);
	struct template *t = mem_new(sizeof *t);

	t->mix = mem_new(sizeof *t->mix);
	t->mix->nparts = w->nmix;
	*why = fill_mix(t, w, texts, target->cluster);
	for (size_t i = 0; i < w->nmix; i++)
		free(text[i]);
	free(text);
	free(texts);
	if (!*why)
		return t;
	template_free(t);
	return NULL;
}

struct cmdsource *
mix_open(const struct engine_target *target, const struct engine_work *w)
{
	char *why;
	struct template *t = mix_new(target, w, &why);

	if (!t) {
		err_say("'%s': %s", w->command, why);
		free(why);
		return NULL;
	}
	if (!*template_fields(t))
		return template_source(t);
	if (w->rows) {
		template_bind(t, w->rows, BEFOREHAND);
		return template_source(t);
	}
	err_say("'%s' uses a field, but the case has no dataset", w->command);
	template_free(t);
	return NULL;
}
