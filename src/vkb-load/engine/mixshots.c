#include "mixshots.h"
#include "blocks.h"
#include "chooser.h"
#include "compile.h"
#include "draw.h"
#include "mem.h"
#include "mix.h"
#include "prerendered.h"

#include <stdlib.h>
#include <string.h>

#define AT_ONCE 64 /* numbers drawn at once */
#define FOURS 10000
#define SHORT 48           /* bytes that are copied with fewer instructions */
#define GOLDEN 0x9e3779b1u /* its multiples lie evenly, at any distance */

/* A request, with zeros for its number at 'at'; or 'len'. */
struct shot {
	const char *bytes;
	uint32_t len, at;
};

/* The requests of a step: one, or several with values that differ. */
struct deck {
	struct shot *shots; /* owned */
	uint32_t count;
};

struct mixshots {
	struct deck *decks; /* of each step */
	size_t ndecks;
	struct shot *firsts;  /* the first of each deck */
	bool values;          /* a deck has several */
	size_t longest;       /* request */
	char fours[FOURS][4]; /* the digits of 0000 to 9999 */
};

/* Chooses a request, each equally often. */
static inline const struct shot *
choose_shot(const struct deck *d, uint32_t turn)
{
	return d->shots + ((uint64_t)(turn * GOLDEN) * d->count >> 32);
}

/* As digits_12, but half of the instructions: four digits at once. */
static inline void
put_number(const char (*fours)[4], char *to, uint64_t v, bool wide)
{
	uint32_t high = (uint32_t)v / FOURS;

	if (wide) {
		digits_12(to, v, true);
		return;
	}
	memcpy(to + 4, fours[high], 4);
	memcpy(to + 8, fours[(uint32_t)v - high * FOURS], 4);
}

/*
 * Writes n commands with one number of v each at most, by their steps. None is
 * longer than 'block' bytes, if that is not 0; 'values': some have values that
 * differ.
 */
__attribute__((always_inline)) static inline char *
write_shots(const struct mixshots *m, const uint8_t *steps, uint32_t turn,
    const uint64_t *v, char *to, uint32_t n, bool wide, size_t block,
    bool values)
{
	const struct shot *firsts = m->firsts, *s;
	const char(*fours)[4] = m->fours;
	const struct deck *decks = m->decks;
	const uint64_t *end = v + n;

#pragma GCC unroll 4
	for (; v < end; v++, steps++) {
		s = values ? choose_shot(&decks[*steps], turn++)
			   : &firsts[*steps];
		if (block)
			memcpy(to, s->bytes, block);
		else
			blocks_copy(to, s->bytes, s->len);
		put_number(fours, to + s->at, *v, wide);
		to += s->len;
	}
	return to;
}

/* Makes n commands with one random number at most. */
static char *
make_some(const struct mixshots *m, struct cursor *c, const struct keys *keys,
    char *to, uint32_t n)
{
	const uint8_t *steps = c->ring->steps + (c->step & c->ring->mask);
	bool wide = draw_is_wide(c->chooser, keys->space);
	uint32_t turn = (uint32_t)(c->place + c->turn);
	uint64_t v[AT_ONCE];

	c->chooser->draw(c->chooser, &c->rng, c->number, keys->space, v, n);
	if (m->values)
		to = write_shots(m, steps, turn, v, to, n, wide, 0, true);
	else if (m->longest > BLOCKS_BYTES || wide)
		to = write_shots(m, steps, turn, v, to, n, wide, 0, false);
	else if (m->longest > SHORT)
		to = write_shots(
		    m, steps, turn, v, to, n, false, BLOCKS_BYTES, false);
	else
		to = write_shots(m, steps, turn, v, to, n, false, SHORT, false);
	c->number += n;
	c->turn += n;
	c->step += n;
	return to;
}

static uint32_t
get_least(uint32_t a, size_t b)
{
	return a < b ? a : (uint32_t)b;
}

uint32_t
mixshots_make(const struct cmdsource *source, struct cursor *c,
    const struct keys *keys, char *buf, uint32_t n, size_t full, size_t *len)
{
	const struct mixshots *m = source->mix->shots;
	const struct mix_ring *r = c->ring;
	size_t used;
	char *to = buf;
	uint32_t made = 0, k;

	while (made < n && (used = (size_t)(to - buf)) < full) {
		k = get_least(n - made, AT_ONCE);
		k = get_least(k, (full - used - 1) / m->longest + 1);
		/* up to the end of the ring */
		k = get_least(k, r->mask + 1 - (c->step & r->mask));
		to = make_some(m, c, keys, to, k);
		made += k;
	}
	*len = (size_t)(to - buf);
	return made;
}

/* Has a command at most one number, drawn at random? */
static bool
is_simple(const struct compiled *s)
{
	return s->plain && s->npatches <= 1 && !s->tagged &&
	    !s->uses[CMDSOURCE_SEQ];
}

/* Renders the requests of a command. Returns false if that is not possible. */
static bool
render_command_ahead(
    struct template *t, struct compiled *s, const struct engine_work *w)
{
	if (is_simple(s))
		s->prerendered = prerendered_new_values(t, s, w);
	return s->prerendered;
}

static void
forget_commands(struct template *t)
{
	for (size_t i = 0; i < t->ncommands; i++) {
		prerendered_free(t->commands[i].prerendered);
		t->commands[i].prerendered = NULL;
	}
}

/* Lists the requests of a command. */
static struct deck
list_requests(struct mixshots *m, const struct compiled *s)
{
	const struct prerendered *k = s->prerendered;
	struct deck d = {
	    mem_array(k->places, sizeof *d.shots), (uint32_t)k->places};
	struct shot *v = d.shots;

	for (size_t i = 0; i < k->places; i++, v++) {
		v->bytes = k->bytes + k->at[i];
		v->len = (uint32_t)(k->at[i + 1] - k->at[i]);
		v->at = !s->npatches ? v->len
		    : k->offsets     ? k->offsets[i]
				     : (uint32_t)s->patches->at;
		if (v->len > m->longest)
			m->longest = v->len;
	}
	m->values |= d.count > 1;
	return d;
}

struct mixshots *
mixshots_new(struct template *t, const struct engine_work *w)
{
	const struct mix *mix = t->mix;
	struct mixshots *m;

	for (size_t i = 0; i < t->ncommands; i++)
		if (!mix->single ||
		    !render_command_ahead(t, &t->commands[i], w)) {
			forget_commands(t);
			return NULL;
		}
	m = mem_new(sizeof *m);
	for (uint32_t v = 0; v < FOURS; v++) {
		char eight[8];

		digits_8(eight, v);
		memcpy(m->fours[v], eight + 4, 4);
	}
	m->ndecks = mix->nsteps;
	m->decks = mem_array(m->ndecks, sizeof *m->decks);
	m->firsts = mem_array(m->ndecks, sizeof *m->firsts);
	for (size_t i = 0; i < m->ndecks; i++) {
		m->decks[i] = list_requests(m, mix->steps[i].command);
		m->firsts[i] = m->decks[i].shots[0];
	}
	return m;
}

void
mixshots_free(struct mixshots *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->ndecks; i++)
		free(m->decks[i].shots);
	free(m->decks);
	free(m->firsts);
	free(m);
}
