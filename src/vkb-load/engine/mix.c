#include "mix.h"
#include "engine.h"
#include "mem.h"
#include "pieces.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MIX_ROUND 10000 /* most units in turn, until they repeat */

#define MIX_SLACK 8 /* bytes behind a ring that may be read */

#define CELLS ((size_t)1 << MIX_BITS)
#define EACH (64 / MIX_BITS) /* cells that one random word chooses */
#define ROWS_MOST 256        /* of steps that one cell may choose */

/* Returns the part at a share from 0 to 1 of all weights. */
static size_t
find_part(const struct mix *m, double share)
{
	size_t i = 0;

	while (i + 1 < m->nparts && m->parts[i].until <= share)
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
		steps[i] = (uint8_t)m->parts[part].first;
		before = part ? m->parts[part - 1].until : 0;
		share = (share - before) / (m->parts[part].until - before);
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

uint64_t
mix_count_taken(const struct mix *m, enum cmdsource_counter kind,
    const struct cursor *c, uint64_t n)
{
	uint64_t taken = 0;

	for (uint32_t i = 0; i < n; i++)
		taken += mix_step(m, c->ring, c->step + i)->command->uses[kind];
	return taken;
}

void
mix_free(struct mix *m)
{
	if (!m)
		return;
	free(m->steps);
	free(m->parts);
	free(m->turns);
	free(m);
}

/* Does a command begin with that word? */
static bool
is_command(const struct template *t, const struct compiled *s, const char *name)
{
	const struct piece *first = &s->pieces[0];
	const char *p = t->bytes + first->at, *end = p + first->n;
	char head[DIGITS_MOST + 8];
	size_t n = digits_line(head, '$', strlen(name)), len = strlen(name);

	while (p < end && *p != '$')
		p++;
	return (size_t)(end - p) >= n + len + 2 && memcmp(p, head, n) == 0 &&
	    strncasecmp(p + n, name, len) == 0;
}

/* Is a command of a template MULTI? */
static bool
begins_transaction(const struct template *t, const struct compiled *s)
{
	return is_command(t, s, "MULTI");
}

/* Marks the steps of parts with a transaction. */
static void
mark_transactions(struct mix *m, const struct template *t)
{
	bool *whole = mem_array(m->nparts, sizeof *whole);
	size_t i;

	for (i = 0; i < m->nsteps; i++)
		whole[m->steps[i].part] |=
		    begins_transaction(t, m->steps[i].command);
	for (i = 0; i < m->nsteps; i++)
		m->steps[i].whole = whole[m->steps[i].part];
	free(whole);
}

/* Lists the steps of all parts. Returns why they are too many, or NULL. */
static char *
list_steps(
    struct mix *m, const struct template *t, const struct piece_text *texts)
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
	m->parts = mem_array(m->nparts, sizeof *m->parts);
	for (i = 0; i < m->nparts; i++) {
		m->parts[i].first = m->nsteps;
		for (k = texts[i].first; k < texts[i].end; k++) {
			s = &t->commands[k];
			for (uint64_t j = 0; j < s->times; j++)
				m->steps[m->nsteps++] =
				    (struct mix_step){.command = s,
					.part = i,
					.line = texts[i].line};
		}
		m->steps[m->parts[i].first].first = true;
		m->steps[m->nsteps - 1].last = true;
		if (m->nsteps - m->parts[i].first > 1)
			continue;
		s = m->steps[m->parts[i].first].command;
		m->parts[i].items = s->items;
		m->parts[i].zero_miss = s->zero_miss;
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
fill_cells(struct mix *m, const struct mixspec_part *parts)
{
	uint8_t last[MIX_AT_ONCE] = {0};
	double sum = 0, all = 0;
	size_t i;

	for (i = 0; i < m->nparts; i++)
		all += parts[i].weight;
	for (i = 0; i < m->nparts; i++)
		m->parts[i].until = (sum += parts[i].weight) / all;
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
list_turns(struct mix *m, const struct mixspec_part *parts)
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
		m->turns[k] = (uint8_t)m->parts[next].first;
	}
	free(due);
	return NULL;
}

char *
mix_fill(struct template *t, const struct piece_text *texts,
    const struct engine_work *w, bool cluster)
{
	struct mix *m = t->mix = mem_new(sizeof *m);
	char *why;

	m->nparts = w->nmix;
	t->values = 0; /* named tests are like others here */
	why = list_steps(m, t, texts);
	if (why)
		return why;
	mark_transactions(m, t);
	if (w->in_order)
		why = list_turns(m, w->mix);
	for (size_t i = 0; i < m->nsteps && !why; i++)
		if (engine_is_ordered(w) && m->steps[i].line &&
		    !m->steps[i].last)
			why = mem_str(PIECES_LINE_ORDER);
		else if (cluster && m->steps[i].whole)
			why = mem_str("a transaction in a mix cannot be sent "
				      "to a cluster");
	if (!why)
		fill_cells(m, w->mix);
	return why;
}

/* Returns why MULTI and EXEC do not belong together, or NULL; static. */
static const char *
find_mistake(struct template *t, bool *any)
{
	const struct compiled *s;
	bool open = false, exec;

	for (uint64_t i = 0; i < t->source.cycle; i++) {
		s = &t->commands[t->cycle[i]];
		exec = is_command(t, s, "EXEC");
		if (begins_transaction(t, s)) {
			if (open)
				return "MULTI comes again before EXEC";
			open = *any = true;
		} else if (exec || is_command(t, s, "DISCARD")) {
			if (!open)
				return "EXEC or DISCARD comes without MULTI";
			open = false;
		}
		t->execs[i] = exec;
	}
	return open ? "EXEC is missing after MULTI" : NULL;
}

char *
mix_find_transactions(
    struct template *t, const struct engine_work *w, bool cluster)
{
	struct cmdsource *o = &t->source;
	const char *why;
	bool any = false;

	o->together = 1;
	if (!t->bytes || *t->bytes != '*') /* PING_INLINE */
		return NULL;
	t->execs = mem_array(o->cycle, sizeof *t->execs);
	why = find_mistake(t, &any);
	if (!any)
		return why ? mem_str(why) : NULL;
	if (!why && cluster && !o->line)
		why = "in a cluster a transaction needs '{key}', and '{tag}' "
		      "in its other keys, so that all are in one slot";
	if (!why && cluster && engine_is_ordered(w))
		why = "in a cluster a transaction cannot use keys in sequence";
	o->together = (uint32_t)o->cycle;
	o->execs = t->execs;
	return why ? mem_str(why) : NULL;
}

bool
mix_is_exec(const struct worker *w, const struct conn *c, uint32_t nth)
{
	const struct cmdsource *s = w->run->source;
	uint64_t next = c->cursor.turn + c->todo - (c->awaited - c->refills);

	return s->execs && s->execs[(next + nth) % s->cycle];
}

bool
mix_is_whole(const struct worker *w, const struct conn *c, uint32_t nth)
{
	const struct mix *m = w->run->source->mix;

	return w->run->together > 1 ||
	    (m && mix_step(m, &c->ring, c->ring.at - c->awaited + nth)->whole);
}

uint32_t
mix_complete(const struct worker *w, struct conn *c, uint32_t n)
{
	const struct mix *m = w->run->source->mix;
	uint32_t whole = w->run->together, more;

	more =
	    m ? mix_count_begun(m, &c->ring, n) : (whole - n % whole) % whole;
	c->ring.fresh = false; /* its last part continues */
	c->repeats += more;
	return more;
}

uint32_t
mix_count_new(struct conn *c, uint32_t n)
{
	uint32_t old = c->repeats < n ? c->repeats : n;

	c->repeats -= old;
	return n - old;
}
