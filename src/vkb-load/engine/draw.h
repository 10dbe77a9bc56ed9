/*
 * Draws the numbers and the slot of each command of a template. Private to
 * render.c.
 */
#ifndef DRAW_H
#define DRAW_H

#include "chooser.h"
#include "compile.h"
#include "keys.h"

#define DRAW_WIDE 100000000 /* numbers above have more than eight digits */

/* The numbers and the tag of one command. */
struct draw {
	const struct keys *keys;
	struct cursor *cursor;
	uint64_t shared[COMPILE_SHARED];
	unsigned have; /* bits: which shared numbers are drawn */
	uint64_t first, at, last, member;
	bool begun;    /* 'first' is the next number */
	bool wide;     /* more than eight digits */
	uint64_t line; /* commands that share the number of {key}, or 0 */
	/* Numbers and sizes of the word; at 'nints' the next one. */
	uint64_t ints[COMPILE_INTS];
	unsigned nints;
	unsigned residue;
	const char *tag;
	struct rng *values; /* for values: 'own', if keys have an order */
	struct rng own;
	const uint32_t *sizes; /* of the next values; NULL: they are drawn */
};

#define DRAW_VALUES UINT64_C(0x73697a6573) /* seed of values in order */

void draw_slot(struct draw *, const struct compiled *);
void draw_line_key(struct draw *);
uint64_t draw_by_kind(struct draw *, const struct piece *);

/* Can numbers have more than eight digits? */
static inline bool
draw_is_wide(const struct chooser *c, uint64_t space)
{
	return space > DRAW_WIDE || c->newest;
}

static inline void
draw_init(struct draw *d, const struct template *t, struct cursor *c,
    const struct keys *keys)
{
	d->line = t->source.line ? t->source.cycle : 0;
	d->keys = keys;
	d->cursor = c;
	d->wide = draw_is_wide(c->chooser, keys->space);
	d->values = c->chooser->ordered ? &d->own : &c->rng;
	d->sizes = NULL;
}

/* Begins a command; draw_end goes on to the next. */
static inline void
draw_begin(struct draw *d, const struct compiled *s)
{
	const struct cursor *c = d->cursor;

	d->have = 0;
	d->begun = false;
	d->at = c->number * s->random;
	if (d->line && (c->in_slot || c->turn % d->line == 0))
		draw_line_key(d);
	if (s->tagged)
		draw_slot(d, s);
}

static inline void
draw_end(struct cursor *c, const struct compiled *s)
{
	c->number++;
	c->turn++;
	c->next[CMDSOURCE_SEQ] += s->uses[CMDSOURCE_SEQ];
	c->next[CMDSOURCE_ROWS] += s->uses[CMDSOURCE_ROWS];
}

/* In order, the values of a command depend on its number only. */
static inline void
draw_values(struct draw *d)
{
	if (d->values == &d->own)
		rng_seed(&d->own, DRAW_VALUES, d->cursor->number + 1);
}

/* Returns the number of a piece of the command. */
static inline uint64_t
draw_number(struct draw *d, const struct piece *p)
{
	struct cursor *c = d->cursor;

	if (p->kind == PIECE_RANDOM && !d->begun &&
	    c->chooser == &chooser_uniform) /* the most common, for speed */
		return rng_below(&c->rng, d->keys->space);
	return draw_by_kind(d, p);
}

#endif
