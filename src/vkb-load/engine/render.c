#include "pieces.h"
#include "arena.h"
#include "chooser.h"
#include "engine.h"
#include "keys.h"
#include "mem.h"
#include "mix.h"
#include "rowset.h"
#include "values.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define DRAW_WIDE 100000000 /* numbers above have more than eight digits */
#define NODE_TRIES 1000000
#define AT_ONCE 64                         /* numbers drawn at once */
#define DRAW_VALUES UINT64_C(0x73697a6573) /* seed of values in order */
#define PLACES ((size_t)1 << 20) /* bytes of places, see cmdsource.h */
#define PLACES_LEAST 16
#define PLACES_MOST 4096
#define PLACES_LONGEST ((size_t)1 << 18) /* bytes of a command */
#define PLACES_ALL ((size_t)1 << 26)     /* bytes of those of all commands */
#define PLACES_MORE ((size_t)1 << 18)    /* bytes of a batch */
#define PLACES_BATCH 1000                /* its requests */
#define FOURS 10000
#define SHORT 48           /* bytes that are copied with fewer instructions */
#define GOLDEN 0x9e3779b1u /* its multiples lie evenly, at any distance */

#define BLOCK 64
#define BLOCKS_MOST 256 /* bytes that are faster copied in blocks */

/*
 * Copies n bytes in whole blocks, up to BLOCK - 1 too many: lengths that
 * differ by row or command would cost mispredicted branches. Returns the end.
 */
static inline char *
copy_blocks(char *to, const char *from, size_t n)
{
	char *end = to + n;

	if (n > BLOCKS_MOST) {
		memcpy(to, from, n);
		return end;
	}
	do {
		memcpy(to, from, BLOCK);
		to += BLOCK;
		from += BLOCK;
	} while (to < end);
	return end;
}

static char fours[FOURS][4]; /* the digits of 0000 to 9999 */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
fill_fours(void)
{
	for (int v = 0, left, i; v < FOURS; v++)
		for (i = 4, left = v; i--; left /= 10)
			fours[v][i] = (char)('0' + left % 10);
}

/*
 * Writes 12 digits with leading zeros. If not 'wide', v is below DRAW_WIDE, and
 * the first four bytes are '0' already.
 */
static inline void
put_digits(char *to, uint64_t v, bool wide)
{
	uint32_t low, high;

	if (wide) {
		memcpy(to, fours[v / DRAW_WIDE % FOURS], 4);
		v %= DRAW_WIDE;
	}
	low = (uint32_t)v;
	high = low / FOURS;
	memcpy(to + 4, fours[high], 4);
	memcpy(to + 8, fours[low - high * FOURS], 4);
}

/* The numbers and the tag of one command. */
struct draw {
	const struct keys *keys;
	struct cursor *cursor;
	uint64_t shared[PIECES_SHARED];
	unsigned have; /* bits: which shared numbers are drawn */
	uint64_t first, at, last, member;
	bool begun;    /* 'first' is the next number */
	bool wide;     /* more than eight digits */
	uint64_t line; /* commands that share the number of {key}, or 0 */
	/* Numbers and sizes of the word; at 'nints' the next one. */
	uint64_t ints[PIECES_INTS];
	unsigned nints;
	unsigned residue;
	const char *tag;
	struct rng *values; /* for values: 'own', if keys have an order */
	struct rng own;
	const uint32_t *sizes; /* of the next values; NULL: they are drawn */
};

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
__attribute__((noinline)) static void
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
__attribute__((noinline)) static void
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

/* Like the two before, it is a function of its own to keep the common case
 * fast. */
__attribute__((noinline)) static uint64_t
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

static const char *
find_value(const struct rowset_row *r, uint32_t which, size_t *n)
{
	uint32_t from = which ? r->ends[which - 1] : 0;

	*n = r->ends[which] - from;
	return r->bytes + from;
}

static size_t
count_digits(uint64_t v)
{
	size_t n = 1;

	while ((v /= 10))
		n++;
	return n;
}

static bool
is_drawn(const struct piece *p)
{
	return p->kind == PIECE_INT || (p->kind == PIECE_DATA && !p->n);
}

/*
 * Draws the integers and sizes of the word, too: the length depends on them.
 */
static char *
write_length(const struct template *t, char *to, const struct piece *p,
    struct draw *d, const struct rowset_row *r)
{
	const struct piece *q = p;
	const struct range *range;
	size_t sum = p->n, n, ints = 0;
	uint32_t left;

	for (left = p->which; left; left--) {
		do
			q++;
		while (q->kind != PIECE_VALUE && !is_drawn(q));
		if (q->kind == PIECE_INT) {
			range = &t->ranges[q->which];
			d->ints[ints] = range->low +
			    rng_below(&d->cursor->rng, range->count);
			sum += count_digits(d->ints[ints++]);
			d->nints = 0;
			continue;
		}
		if (q->kind == PIECE_DATA) {
			d->ints[ints] = d->sizes
			    ? *d->sizes++
			    : values_draw_size(t->data, d->values);
			sum += d->ints[ints++];
			d->nints = 0;
			continue;
		}
		rowset_value(find_value(r, q->which, &n), &n);
		sum += n;
	}
	return to + digits_line(to, '$', sum);
}

static void
put_number(struct draw *d, const struct piece *p, char *to)
{
	put_digits(to, draw_number(d, p), d->wide || p->kind >= PIECE_INSLOT);
}

static char *
write_pieces(const struct template *t, const struct piece *p,
    const struct piece *end, struct draw *d, const struct rowset_row *r,
    char *to)
{
	const char *v;
	size_t n;

	for (; p < end; p++)
		switch (p->kind) {
		case PIECE_BYTES:
			to = copy_blocks(to, t->bytes + p->at, p->n);
			break;
		case PIECE_FIELD:
			v = find_value(r, p->which, &n);
			to = copy_blocks(to, v, n);
			break;
		case PIECE_VALUE:
			v = rowset_value(find_value(r, p->which, &n), &n);
			to = copy_blocks(to, v, n);
			break;
		case PIECE_LENGTH:
			to = write_length(t, to, p, d, r);
			break;
		case PIECE_INT:
			to += digits_put(to, d->ints[d->nints++]);
			break;
		case PIECE_DATA:
			n = p->n ? p->n : (size_t)d->ints[d->nints++];
			to = values_write(t->data, to, n, d->values);
			break;
		case PIECE_TAG:
			memcpy(to, d->tag, 3);
			to += 3;
			break;
		default:
			memcpy(to, "0000", 4);
			put_number(d, p, to);
			to += DIGITS_12;
			break;
		}
	return to;
}

static size_t
write_some(const struct template *t, const struct compiled *s, size_t first,
    size_t end, uint64_t row, struct draw *d, char *to)
{
	struct rowset_row r = {0};

	if (s->uses[CMDSOURCE_ROWS])
		r = rowset_row(t->rows, row);
	return (size_t)(write_pieces(
			    t, s->pieces + first, s->pieces + end, d, &r, to) -
	    to);
}

/* Writes the numbers and tags of a request of a list, at 'to'. */
__attribute__((always_inline)) static inline void
patch_request(const struct compiled *s, struct draw *d, char *to,
    const struct cmdsource_request *r)
{
	const struct prerendered *k = s->prerendered;
	const struct piece *p = s->patches, *end = p + s->npatches;
	const uint32_t *offsets = NULL;
	/* From where the pieces have the numbers to where this request has
	 * them; it may wrap. */
	size_t later = p < end ? (size_t)r->at - p->at : 0;
	char *at;

	if (k->offsets)
		offsets = k->offsets + (size_t)(r - k->list) * s->npatches;
	for (; p < end; p++) {
		at = to + (offsets ? *offsets++ : p->at + later);
		if (p->kind == PIECE_TAG)
			memcpy(at, d->tag, 3);
		else
			put_number(d, p, at);
	}
}

/* The same for n requests of the only command, the first of which is *r. */
__attribute__((noinline)) static void
patch_one_by_one(const struct template *t, struct cursor *c,
    const struct keys *keys, const struct cmdsource_request *r, uint32_t n,
    char *to)
{
	const struct compiled *s = t->commands;
	const struct cmdsource_request *end = r + n;
	struct draw d;

	draw_init(&d, t, c, keys);
	for (; r < end; to += r++->len) {
		draw_begin(&d, s);
		patch_request(s, &d, to, r);
		draw_end(c, s);
	}
}

/* The same if they have only random numbers, which are drawn together. */
__attribute__((noinline)) static void
patch_random_numbers(const struct compiled *s, struct cursor *c,
    const struct keys *keys, const struct cmdsource_request *r, uint32_t n,
    char *to)
{
	bool ordered = c->chooser->ordered,
	     wide = draw_is_wide(c->chooser, keys->space);
	size_t each = ordered ? s->random : s->npatches;
	const struct piece *first = s->patches, *end = first + s->npatches, *p;
	uint64_t v[PIECES_DRAWS], *next;
	uint32_t most = s->npatches ? PIECES_DRAWS / s->npatches : n, k;
	const struct cmdsource_request *last;

	for (; n; n -= k) {
		k = n < most ? n : most;
		c->chooser->draw(c->chooser, &c->rng, c->number * each,
		    keys->space, v, k * each);
		c->number += k;
		next = v;
		for (last = r + k; s->npatches && r < last; r++) {
			put_digits(to + r->at, *next++, wide);
			for (p = first + 1; p < end; p++) {
				next -= p->kind == PIECE_SAME && ordered;
				put_digits(to + r->at + (p->at - first->at),
				    *next++, wide);
			}
			to += r->len;
		}
	}
}

/* The same for a single number of the most common chooser. */
static inline void
patch_number(struct cursor *c, const struct keys *keys,
    const struct cmdsource_request *r, uint32_t n, char *to)
{
	const struct cmdsource_request *end = r + n;
	bool wide = keys->space > DRAW_WIDE;
	struct rng rng = c->rng;

	for (; r < end; to += r++->len)
		put_digits(to + r->at, rng_below(&rng, keys->space), wide);
	c->rng = rng;
	c->number += n;
}

/* Writes the numbers and tags of n requests of the only command at 'to'. */
static void
patch_requests(const struct template *t, struct cursor *c,
    const struct keys *keys, const struct cmdsource_request *r, uint32_t n,
    char *to)
{
	const struct compiled *s = t->commands;

	if (!s->plain || s->prerendered->offsets) {
		patch_one_by_one(t, c, keys, r, n, to);
		return;
	}
	c->turn += n;
	if (s->npatches == 1 && c->chooser == &chooser_uniform)
		patch_number(c, keys, r, n, to);
	else
		patch_random_numbers(s, c, keys, r, n, to);
}

static uint32_t
get_least(uint32_t a, size_t b)
{
	return a < b ? a : (uint32_t)b;
}

/* Returns how many of n requests from r on reach 'full' bytes, at least one,
 * and their length. */
static inline uint32_t
count_requests_for(
    const struct cmdsource_request *r, uint32_t n, size_t full, size_t *len)
{
	*len = (size_t)(r[n].bytes - r->bytes);
	if (*len <= full)
		return n;
	for (n = 1; (size_t)(r[n].bytes - r->bytes) < full; n++)
		continue;
	*len = (size_t)(r[n].bytes - r->bytes);
	return n;
}

/* Renders the only command: its requests have places, see cmdsource_place. */
static uint32_t
render_placed(const struct cmdsource *source, struct cursor *c,
    const struct keys *keys, char *buf, uint32_t n, size_t full, size_t *len)
{
	const struct template *t = (const struct template *)source;
	const struct prerendered *k = t->commands->prerendered;
	size_t i = (c->place + c->turn) % k->places;
	const struct cmdsource_request *r = k->list + i;

	n = count_requests_for(r, get_least(n, k->count - i), full, len);
	if (!buf[r[n - 1].bytes - r->bytes]) /* a new buffer */
		memcpy(buf, r->bytes, *len);
	patch_requests(t, c, keys, r, n, buf);
	return n;
}

/* Renders the only command: copies rows, as many at once as are consecutive. */
static uint32_t
render_rows(const struct cmdsource *source, struct cursor *c,
    const struct keys *keys, char *buf, uint32_t n, size_t full, size_t *len)
{
	const struct template *t = (const struct template *)source;
	const struct prerendered *k = t->commands->prerendered;
	uint64_t first = c->next[CMDSOURCE_ROWS];
	const struct cmdsource_request *r = k->list + first % k->count;
	uint32_t made, m;
	size_t used;

	*len = 0;
	for (made = 0; made < n && *len < full; made += m, r = k->list) {
		m = get_least(n - made, (size_t)(k->list + k->count - r));
		m = count_requests_for(r, m, full - *len, &used);
		memcpy(buf + *len, r->bytes, used);
		patch_requests(t, c, keys, r, m, buf + *len);
		*len += used;
	}
	c->next[CMDSOURCE_ROWS] = first + made;
	return made;
}

/* Chooses a request of a command, each equally often. */
static inline size_t
choose_place(uint32_t turn, size_t places)
{
	return (uint64_t)(turn * GOLDEN) * places >> 32;
}

/* Copies a request, that of a row or one of those with other values. */
static char *
copy_request(const struct compiled *s, struct draw *d, uint64_t row, char *to)
{
	const struct prerendered *k = s->prerendered;
	uint32_t turn = (uint32_t)(d->cursor->place + d->cursor->turn);
	size_t i = k->places ? choose_place(turn, k->places) : row;
	const struct cmdsource_request *r = k->list + i;

	copy_blocks(to, r->bytes, r->len);
	patch_request(s, d, to, r);
	return to + r->len;
}

/* Writes the next command, which is that one; returns its end. */
static inline char *
write_command(const struct template *t, const struct compiled *s,
    struct draw *d, uint64_t row, char *to)
{
	struct rowset_row r = {0};

	draw_begin(d, s);
	if (s->prerendered) {
		to = copy_request(s, d, row, to);
	} else {
		if (s->uses[CMDSOURCE_ROWS])
			r = rowset_row(t->rows, row);
		if (s->data)
			draw_values(d);
		to = write_pieces(
		    t, s->pieces, s->pieces + s->npieces, d, &r, to);
	}
	draw_end(d->cursor, s);
	return to;
}

/* Chooses the command of a step of a mix. {key} is drawn for the first one. */
static const struct compiled *
choose_step(const struct mix *m, struct draw *d)
{
	struct cursor *c = d->cursor;
	const struct mix_step *s = mix_step(m, c->ring, c->step++);

	d->line = !s->line ? 0 : s->first ? 1 : UINT64_MAX;
	c->turn += s->line && !s->first && !c->turn; /* see draw_begin */
	return s->command;
}

/* Writes commands one by one. */
static uint32_t
render_any(const struct cmdsource *source, struct cursor *c,
    const struct keys *keys, char *buf, uint32_t n, size_t full, size_t *len)
{
	const struct template *t = (const struct template *)source;
	uint64_t rows = t->rows ? rowset_count(t->rows) : 0, row = 0, turn;
	const struct compiled *s;
	char *to = buf;
	struct draw d;
	uint32_t i;

	draw_init(&d, t, c, keys);
	if (rows)
		row = c->next[CMDSOURCE_ROWS] % rows;
	turn = c->turn % source->cycle;
	for (i = 0; i < n && (size_t)(to - buf) < full; i++) {
		if (t->mix) {
			s = choose_step(t->mix, &d);
		} else {
			s = &t->commands[t->cycle[turn]];
			if (++turn == source->cycle)
				turn = 0;
		}
		to = write_command(t, s, &d, row, to);
		if (s->uses[CMDSOURCE_ROWS] && ++row == rows)
			row = 0;
	}
	*len = (size_t)(to - buf);
	return i;
}

/* A field is at most as long as a row, but may be used more than once. */
static size_t
get_longest(const struct template *t, const struct compiled *s)
{
	size_t i, fields = 0, len = s->len;

	for (i = 0; i < s->npieces; i++) {
		fields += s->pieces[i].kind == PIECE_FIELD ||
		    s->pieces[i].kind == PIECE_VALUE;
		if (s->pieces[i].kind == PIECE_INT) /* and its word's length */
			len += 2 * DIGITS_MOST + 3;
		if (s->pieces[i].kind == PIECE_DATA && !s->pieces[i].n)
			len += values_longest(t->data) + DIGITS_MOST + 3;
	}
	if (!fields || !t->rows)
		return len;
	return len + fields * (rowset_longest(t->rows) + DIGITS_MOST + 3);
}

static size_t
get_room(const struct cmdsource *source, size_t bytes)
{
	const struct template *t = (const struct template *)source;
	size_t most = 0, i;

	for (i = 0; i < t->ncommands; i++)
		if (get_longest(t, &t->commands[i]) > most)
			most = get_longest(t, &t->commands[i]);
	return bytes + most + CMDSOURCE_SLACK;
}

/* Returns true if one of several patches follows what differs in length. */
static bool
is_moving(const struct compiled *s)
{
	bool behind = false, moving = false;

	for (size_t i = 0; i < s->npieces && s->npatches > 1; i++)
		if (pieces_patch_width(s->pieces[i].kind))
			moving |= behind;
		else
			behind |= s->pieces[i].kind != PIECE_BYTES;
	return moving;
}

static struct prerendered *
new_files(const struct compiled *s)
{
	struct prerendered *c = mem_new(sizeof *c);

	c->bytes_file = arena_new(0);
	c->list_file = arena_new(0);
	if (is_moving(s))
		c->offsets_file = arena_new(0);
	return c;
}

static void
free_prerendered(struct prerendered *c)
{
	if (!c)
		return;
	arena_free(c->bytes_file);
	arena_free(c->list_file);
	arena_free(c->offsets_file);
	free(c);
}

/* Writes a request, and its length and first patch to *r. Returns 0, or -1 if
 * out of room. */
static int
write_request(struct prerendered *c, const struct template *t,
    const struct compiled *s, uint64_t row, struct draw *d, char *to,
    struct cmdsource_request *r)
{
	uint32_t place;
	size_t i, n = 0, zeros;
	bool patched = false;

	for (i = 0; i < s->npieces; i++) {
		zeros = pieces_patch_width(s->pieces[i].kind);
		place = (uint32_t)n;
		if (!zeros) {
			n += write_some(t, s, i, i + 1, row, d, to + n);
			continue;
		}
		if (c->offsets_file &&
		    arena_add(c->offsets_file, &place, sizeof place) < 0)
			return -1;
		if (!patched)
			r->at = place;
		patched = true;
		memset(to + n, '0', zeros);
		n += zeros;
	}
	r->len = (uint32_t)n;
	if (!patched)
		r->at = r->len;
	return 0;
}

static int
add_request(struct prerendered *c, const struct template *t,
    const struct compiled *s, uint64_t row, struct draw *d)
{
	struct cmdsource_request r = {0};
	char *to = arena_room(c->bytes_file, get_room(&t->source, 0));

	if (!to || write_request(c, t, s, row, d, to, &r) < 0 ||
	    arena_add(c->list_file, &r, sizeof r) < 0)
		return -1;
	arena_keep(c->bytes_file, r.len);
	c->count++;
	return 0;
}

/* Ends the list of requests, whose bytes do not move any more. */
static int
end_requests(struct prerendered *c)
{
	struct cmdsource_request end = {0}, *list;
	const char *bytes = arena_bytes(c->bytes_file);

	if (arena_add(c->list_file, &end, sizeof end) < 0)
		return -1;
	list = (struct cmdsource_request *)(void *)arena_bytes(c->list_file);
	c->list = list;
	for (size_t i = 0; i <= c->count; i++) {
		list[i].bytes = bytes;
		bytes += list[i].len;
	}
	if (c->offsets_file)
		c->offsets = (const uint32_t *)(const void *)arena_bytes(
		    c->offsets_file);
	return 0;
}

static int
write_rows(struct prerendered *c, const struct template *t,
    const struct compiled *s, size_t most)
{
	uint64_t rows = rowset_count(t->rows), i;
	size_t extra = sizeof *c->list + s->npatches * sizeof *c->offsets;

	for (i = 0; i < rows; i++)
		if (arena_size(c->bytes_file) + (i + 1) * extra > most ||
		    add_request(c, t, s, i, NULL) < 0)
			return -1;
	return end_requests(c);
}

static struct prerendered *
prerender_rows(const struct template *t, const struct compiled *s, size_t most)
{
	struct prerendered *c;

	if (s->ints || s->data ||
	    rowset_count(t->rows) > most / (rowset_mean(t->rows) + s->len))
		return NULL;
	c = new_files(s);
	if (write_rows(c, t, s, most) == 0)
		return c;
	free_prerendered(c);
	return NULL;
}

static size_t
count_drawn_sizes(const struct compiled *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->npieces; i++)
		n += s->pieces[i].kind == PIECE_DATA && !s->pieces[i].n;
	return n;
}

/*
 * Writes requests with the values of all places; behind them, if it is the only
 * command, the first ones again, so that a batch can begin anywhere.
 */
static int
write_places(struct prerendered *c, const struct template *t,
    const struct compiled *s, const uint32_t *sizes)
{
	size_t each = count_drawn_sizes(s), last = 0, i, k;
	struct draw d = {.values = &d.own};

	for (i = 0; i < c->places ||
	     (!t->mix && i < c->places + PLACES_BATCH &&
		 arena_size(c->bytes_file) - last < PLACES_MORE);
	     i++) {
		k = i % c->places;
		if (i == c->places - 1)
			last = arena_size(c->bytes_file);
		d.sizes = sizes + k * each;
		rng_seed(&d.own, DRAW_VALUES, k + 1);
		if (add_request(c, t, s, 0, &d) < 0)
			return -1;
	}
	return end_requests(c);
}

/* Returns how many places a command has, or 0 if its values are written for
 * each request. */
static size_t
count_places(const struct template *t, const struct compiled *s,
    const struct engine_work *w)
{
	size_t n = PLACES / s->len;

	if (s->ints || s->uses[CMDSOURCE_ROWS])
		return 0;
	if (!s->data)
		return 1;
	if (get_room(&t->source, 0) > PLACES_LONGEST ||
	    (engine_is_ordered(w) && values_vary(t->data)))
		return 0;
	n = n < PLACES_LEAST ? PLACES_LEAST : n > PLACES_MOST ? PLACES_MOST : n;
	return n * s->len <= PLACES_ALL / t->ncommands ? n : 0;
}

static struct prerendered *
prerender_values(const struct template *t, const struct compiled *s,
    const struct engine_work *w)
{
	size_t places = count_places(t, s, w);
	size_t n = places * count_drawn_sizes(s);
	struct prerendered *c = NULL;
	struct rng rng;
	uint32_t *sizes;

	if (!places)
		return NULL;
	sizes = mem_array(n + 1, sizeof *sizes);
	rng_seed(&rng, DRAW_VALUES, 0);
	if (!n || values_spread(t->data, &rng, sizes, n)) {
		c = new_files(s);
		c->places = places;
		if (write_places(c, t, s, sizes) < 0) {
			free_prerendered(c);
			c = NULL;
		}
	}
	free(sizes);
	return c;
}

/* The requests of a step: one, or several with values that differ. */
struct deck {
	const struct cmdsource_request *list;
	size_t count;
};

struct shots {
	struct deck *decks;               /* of each step */
	struct cmdsource_request *firsts; /* the first of each deck */
	bool values;                      /* a deck has several */
	size_t longest;                   /* request */
};

/*
 * Writes n commands with one number of v each at most, by their steps. None is
 * longer than 'block' bytes, if that is not 0; 'values': some have values that
 * differ.
 */
__attribute__((always_inline)) static inline char *
write_shots(const struct shots *m, const uint8_t *steps, uint32_t turn,
    const uint64_t *v, char *to, uint32_t n, bool wide, size_t block,
    bool values)
{
	const struct cmdsource_request *firsts = m->firsts, *s;
	const struct deck *k;
	const uint64_t *end = v + n;

#pragma GCC unroll 4
	for (; v < end; v++, steps++) {
		k = &m->decks[*steps];
		s = values ? k->list + choose_place(turn++, k->count)
			   : &firsts[*steps];
		if (block)
			memcpy(to, s->bytes, block);
		else
			copy_blocks(to, s->bytes, s->len);
		put_digits(to + s->at, *v, wide);
		to += s->len;
	}
	return to;
}

/* Makes n commands with one random number at most. */
static char *
make_some(const struct shots *m, struct cursor *c, const struct keys *keys,
    char *to, uint32_t n)
{
	const uint8_t *steps = c->ring->steps + (c->step & c->ring->mask);
	bool wide = draw_is_wide(c->chooser, keys->space);
	uint32_t turn = (uint32_t)(c->place + c->turn);
	uint64_t v[AT_ONCE];

	c->chooser->draw(c->chooser, &c->rng, c->number, keys->space, v, n);
	if (m->values)
		to = write_shots(m, steps, turn, v, to, n, wide, 0, true);
	else if (m->longest > BLOCK || wide)
		to = write_shots(m, steps, turn, v, to, n, wide, 0, false);
	else if (m->longest > SHORT)
		to = write_shots(m, steps, turn, v, to, n, false, BLOCK, false);
	else
		to = write_shots(m, steps, turn, v, to, n, false, SHORT, false);
	c->number += n;
	c->turn += n;
	c->step += n;
	return to;
}

static uint32_t
render_shots(const struct cmdsource *source, struct cursor *c,
    const struct keys *keys, char *buf, uint32_t n, size_t full, size_t *len)
{
	const struct shots *m = ((const struct template *)source)->shots;
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

/* Has a command requests in advance, and at most one number, drawn at random?
 */
static bool
is_simple(const struct compiled *s)
{
	return s->prerendered && s->plain && s->npatches <= 1 && !s->tagged &&
	    !s->uses[CMDSOURCE_SEQ];
}

/* Lists the requests of a mix whose commands are simple. Returns NULL if they
 * have to be written one by one. */
static struct shots *
new_shots(const struct template *t)
{
	const struct mix *mix = t->mix;
	const struct prerendered *k;
	struct shots *m;
	size_t i, j;

	for (i = 0; i < t->ncommands; i++)
		if (!mix->single || !is_simple(&t->commands[i]))
			return NULL;
	m = mem_new(sizeof *m);
	m->decks = mem_array(mix->nsteps, sizeof *m->decks);
	m->firsts = mem_array(mix->nsteps, sizeof *m->firsts);
	for (i = 0; i < mix->nsteps; i++) {
		k = mix->steps[i].command->prerendered;
		m->decks[i] = (struct deck){k->list, k->count};
		m->firsts[i] = k->list[0];
		m->values |= k->count > 1;
		for (j = 0; j < k->count; j++)
			if (k->list[j].len > m->longest)
				m->longest = k->list[j].len;
	}
	return m;
}

static void
free_shots(struct shots *m)
{
	if (!m)
		return;
	free(m->decks);
	free(m->firsts);
	free(m);
}

/* One command whose requests are rendered in advance, without rows. */
static void
prepare_only(struct template *t)
{
	const struct compiled *s = t->commands;
	const struct prerendered *k = s->prerendered;
	struct cmdsource *o = &t->source;
	const struct piece *last;

	t->ops.make = render_placed;
	if (s->data) {
		o->places = k->places;
		o->requests = k->list;
		o->nrequests = k->count;
		return;
	}
	o->len = s->len;
	o->end = k->list[1].bytes;
	o->constant = 0;
	if (s->npatches) {
		last = &s->patches[s->npatches - 1];
		o->constant = last->at + pieces_patch_width(last->kind);
	}
}

void
render_prepare(struct template *t, const struct engine_work *w)
{
	pthread_once(&once, fill_fours);
	t->ops.room = get_room;
	t->ops.make = render_any;
	if (!t->mix && t->ncommands > 1)
		return;
	for (size_t i = 0; i < t->ncommands; i++)
		t->commands[i].prerendered =
		    prerender_values(t, &t->commands[i], w);
	if (t->mix && (t->shots = new_shots(t)))
		t->ops.make = render_shots;
	else if (!t->mix && t->commands->prerendered)
		prepare_only(t);
}

void
render_bind(struct template *t, size_t most)
{
	for (size_t i = 0; t->rows && i < t->ncommands; i++)
		if (t->commands[i].uses[CMDSOURCE_ROWS])
			t->commands[i].prerendered =
			    prerender_rows(t, &t->commands[i], most);
	if (!t->mix && t->ncommands == 1 && t->rows && t->commands->prerendered)
		t->ops.make = render_rows;
}

void
render_free(struct template *t)
{
	for (size_t i = 0; i < t->ncommands; i++)
		free_prerendered(t->commands[i].prerendered);
	free_shots(t->shots);
}
