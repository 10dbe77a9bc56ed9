#include "draw.h"

#define NODE_TRIES 1000000

/* Draws a number below 'space', in order the at'th. */
static uint64_t
draw_one(struct cursor *c, uint64_t at, uint64_t space)
{
	uint64_t v;

	c->chooser->draw(c->chooser, &c->rng, at, space, &v, 1);
	return v;
}

/*
 * Draws a number that is on the node; the others are dropped, so that it comes
 * as often as in the whole key space. Nodes are chosen by a number, so that
 * this one has some. If it had none of so many, as after its slots have moved,
 * the last one is used and its request redirected.
 */
static uint64_t
draw_on_node(struct cursor *c, const struct keys *k)
{
	uint64_t v = 0;

	for (int tries = 0; tries < NODE_TRIES; tries++) {
		v = draw_one(c, 0, k->space);
		if (k->owners[keys_slot(v % KEYS_SLOTS)] == k->node)
			break;
	}
	return v;
}

static uint64_t
draw_next(struct draw *d)
{
	if (d->begun) {
		d->begun = false;
		return d->first;
	}
	return draw_one(d->cursor, d->at++, d->keys->space);
}

static uint64_t
draw_shared_number(struct draw *d, unsigned which)
{
	if (d->have & 1u << which)
		return d->shared[which];
	d->have |= 1u << which;
	if (d->begun)
		return d->shared[which] = draw_next(d);
	return d->shared[which] =
		   draw_one(d->cursor, d->cursor->number, d->keys->space);
}

/* Draws a number of that residue, below the key space if one exists. */
static uint64_t
draw_in_residue(struct draw *d)
{
	uint64_t space = d->keys->space, rounds = 1;

	if (d->residue < space)
		rounds = (space - d->residue + KEYS_SLOTS - 1) / KEYS_SLOTS;
	return d->residue + KEYS_SLOTS * rng_below(&d->cursor->rng, rounds);
}

/*
 * Sets the number of a member to one of the collection: if its slot has moved,
 * the nearest of the collection's part, inside the key space if possible.
 */
static void
set_member(struct draw *d, uint64_t v, const struct collection *to)
{
	if (to && to->part != v % KEYS_COLLECTIONS) {
		v += to->part - v % KEYS_COLLECTIONS;
		if (v >= d->keys->space && v >= KEYS_COLLECTIONS)
			v -= KEYS_COLLECTIONS;
	}
	d->member = v;
}

static const struct collection *
find_collection(const struct keys *k, unsigned slot)
{
	for (uint32_t i = 0; i < k->ncollections; i++)
		if (k->collections[i].slot == slot)
			return &k->collections[i];
	return NULL;
}

/* Draws the number of {key}, in a cluster one on this node. */
void
draw_line_key(struct draw *d)
{
	const struct keys *k = d->keys;
	struct cursor *c = d->cursor;

	if (c->in_slot) {
		d->residue = keys_residue(c->slot);
		c->key = draw_in_residue(d);
	} else if (!k->cluster) {
		c->key = draw_one(c, c->number, k->space);
	} else if (c->chooser->weighted) {
		c->key = draw_on_node(c, k);
	} else {
		c->key = keys_number(
		    k, draw_one(c, c->number, k->count), &d->residue);
	}
}

/* Draws numbers for a slot that is given. */
static void
draw_for_slot(struct draw *d, const struct compiled *s, unsigned slot)
{
	const struct keys *k = d->keys;
	struct cursor *c = d->cursor;

	d->residue = keys_residue(slot);
	d->tag = k->tags[slot];
	d->begun = s->keyed;
	if (s->keyed)
		d->first = draw_in_residue(d);
	else if (s->member)
		set_member(d, draw_one(c, c->number, k->space),
		    find_collection(k, slot));
}

/* In a cluster: draws the slot, and its number. */
void
draw_slot(struct draw *d, const struct compiled *s)
{
	const struct keys *k = d->keys;
	const struct collection *to;
	struct cursor *c = d->cursor;
	uint64_t v = c->turn;

	if (c->in_slot || d->line) {
		draw_for_slot(d, s,
		    c->in_slot ? c->slot : keys_slot(c->key % KEYS_SLOTS));
		return;
	}
	if (s->keyed && c->chooser->weighted) {
		d->first = draw_on_node(c, k);
		d->residue = (unsigned)(d->first % KEYS_SLOTS);
		d->begun = true;
	} else if (s->keyed) {
		d->first = keys_number(
		    k, draw_one(c, c->number, k->count), &d->residue);
		d->begun = true;
	} else if (s->uses[CMDSOURCE_SEQ]) {
		d->residue = k->residues[c->next[CMDSOURCE_SEQ] % k->nresidues];
	} else if (s->uses[CMDSOURCE_ROWS]) {
		d->residue =
		    k->residues[c->next[CMDSOURCE_ROWS] % k->nresidues];
	} else {
		if (s->member)
			v = draw_one(c, d->at + s->random - 1, k->space);
		to = &k->collections[v % k->ncollections];
		set_member(d, v, to);
		d->tag = k->tags[to->slot];
		return;
	}
	d->tag = k->tags[keys_slot(d->residue)];
}

uint64_t
draw_by_kind(struct draw *d, const struct piece *p)
{
	switch (p->kind) {
	case PIECE_SHARED:
		return draw_shared_number(d, p->which);
	case PIECE_SEQ:
		return d->cursor->next[CMDSOURCE_SEQ] % KEYS_NUMBERS;
	case PIECE_INSLOT:
		return draw_in_residue(d);
	case PIECE_MEMBER:
		return d->member;
	case PIECE_KEY:
		return d->cursor->key;
	case PIECE_SAME:
		if (d->cursor->chooser->ordered)
			return d->last;
		/* fall through */
	default:
		return d->last = draw_next(d);
	}
}
