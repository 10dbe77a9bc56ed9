#include "blocks.h"
#include "chooser.h"
#include "compile.h"
#include "draw.h"

#include "prerendered.h"
#include "rowset.h"
#include "values.h"

#include <string.h>

#define AT_ONCE 64 /* numbers drawn at once */

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
	digits_12(to, draw_number(d, p), d->wide || p->kind >= PIECE_INSLOT);
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
			to = blocks_copy(to, t->bytes + p->at, p->n);
			break;
		case PIECE_FIELD:
			v = find_value(r, p->which, &n);
			to = blocks_copy(to, v, n);
			break;
		case PIECE_VALUE:
			v = rowset_value(find_value(r, p->which, &n), &n);
			to = blocks_copy(to, v, n);
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

size_t
render_pieces(const struct template *t, const struct compiled *s, size_t first,
    size_t end, uint64_t row, struct draw *d, char *to)
{
	struct rowset_row r = {0};

	if (s->uses[CMDSOURCE_ROWS])
		r = rowset_row(t->rows, row);
	return (size_t)(write_pieces(
			    t, s->pieces + first, s->pieces + end, d, &r, to) -
	    to);
}

static void
patch_command(
    const struct compiled *s, struct draw *d, char *to, const uint32_t *offsets)
{
	const struct piece *p, *end = s->patches + s->npatches;
	char *at;

	for (p = s->patches; p < end; p++) {
		at = to + (offsets ? *offsets++ : p->at);
		if (p->kind == PIECE_TAG)
			memcpy(at, d->tag, 3);
		else
			put_number(d, p, at);
	}
}

/*
 * Patches n commands that have only random numbers; each begins 'size' bytes
 * behind the one before, or by the offsets 'at'.
 */
static void
patch_random_numbers(const struct compiled *s, struct cursor *c,
    const struct keys *keys, char *buf, uint32_t n, size_t size,
    const uint64_t *at)
{
	bool ordered = c->chooser->ordered,
	     wide = draw_is_wide(c->chooser, keys->space);
	size_t each = ordered ? s->random : s->npatches;
	const struct piece *p, *end = s->patches + s->npatches;
	uint64_t v[COMPILE_DRAWS], *next, begin = at ? *at : 0;
	uint32_t most = s->npatches ? COMPILE_DRAWS / s->npatches : n, k, i;
	char *to;

	for (; n; n -= k) {
		k = n < most ? n : most;
		c->chooser->draw(c->chooser, &c->rng, c->number * each,
		    keys->space, v, k * each);
		c->number += k;
		next = v;
		for (i = 0; i < k; i++, buf += size) {
			to = at ? buf + (*at++ - begin) : buf;
			for (p = s->patches; p < end; p++) {
				next -= p->kind == PIECE_SAME && ordered;
				digits_12(to + p->at, *next++, wide);
			}
		}
	}
}

/*
 * The same for a single number, the most common case: the numbers of the most
 * common chooser are drawn where they are used.
 */
__attribute__((always_inline)) static inline void
patch_number(const struct compiled *s, struct cursor *c,
    const struct keys *keys, char *buf, uint32_t n, size_t size,
    const uint64_t *at)
{
	uint64_t space = keys->space, v[AT_ONCE];
	bool wide = draw_is_wide(c->chooser, space);
	uintptr_t to = (uintptr_t)buf + s->patches->at - (at ? *at : 0);
	struct rng rng = c->rng;
	uint32_t i, k;

	if (c->chooser == &chooser_uniform) {
		for (i = 0; i < n; i++, to += size)
			digits_12((char *)(at ? to + at[i] : to),
			    rng_below(&rng, space), wide);
		c->rng = rng;
		c->number += n;
		return;
	}
	for (; n; n -= k) {
		k = n < AT_ONCE ? n : AT_ONCE;
		c->chooser->draw(c->chooser, &c->rng, c->number, space, v, k);
		c->number += k;
		for (i = 0; i < k; i++, to += size)
			digits_12((char *)(at ? to + *at++ : to), v[i], wide);
	}
}

uint32_t
render_patched(const struct cmdsource *source, struct cursor *c,
    const struct keys *keys, char *buf, uint32_t n, size_t full, size_t *len)
{
	const struct template *t = (const struct template *)source;
	const struct compiled *s = t->commands;
	size_t size = source->len;
	struct draw d;
	uint32_t i;

	if ((n - 1) * size > full)
		n = (uint32_t)(full / size) + 1;
	*len = n * size;
	for (i = 0; !buf[*len - size] && i < n; i++) /* a new buffer */
		memcpy(buf + i * size, t->one, size);
	if (s->plain) {
		c->turn += n;
		if (s->npatches == 1)
			patch_number(s, c, keys, buf, n, size, NULL);
		else
			patch_random_numbers(s, c, keys, buf, n, size, NULL);
		return n;
	}
	draw_init(&d, t, c, keys);
	for (i = 0; i < n; i++, buf += size) {
		draw_begin(&d, s);
		patch_command(s, &d, buf, NULL);
		draw_end(c, s);
	}
	return n;
}

/* Returns how many of n rows reach 'full' bytes; at least one. */
static uint32_t
count_rows_for(
    const struct prerendered *k, uint64_t row, uint32_t n, size_t full)
{
	const uint64_t *at = k->at + row;
	uint32_t i = 1;

	if (at[n] - at[0] <= full)
		return n;
	while (at[i] - at[0] < full)
		i++;
	return i;
}

/* Patches n rendered requests from 'row' on, which have only random numbers. */
static inline void
patch_plain_rows(const struct compiled *s, struct cursor *c,
    const struct keys *keys, uint64_t row, uint32_t n, char *buf)
{
	const uint64_t *at = s->prerendered->at + row;

	if (s->npatches == 1)
		patch_number(s, c, keys, buf, n, 0, at);
	else
		patch_random_numbers(s, c, keys, buf, n, 0, at);
	c->turn += n;
	c->next[CMDSOURCE_ROWS] += s->uses[CMDSOURCE_ROWS] ? n : 0;
}

static void
patch_rows(const struct compiled *s, struct draw *d, uint64_t row, uint32_t n,
    char *buf)
{
	const struct prerendered *k = s->prerendered;
	const uint64_t *at = k->at + row;
	const uint32_t *offsets = NULL;
	uint32_t i;

	if (s->plain && !k->offsets) {
		patch_plain_rows(s, d->cursor, d->keys, row, n, buf);
		return;
	}
	for (i = 0; i < n; i++) {
		draw_begin(d, s);
		if (k->offsets)
			offsets = k->offsets + (row + i) * s->npatches;
		patch_command(s, d, buf + (at[i] - at[0]), offsets);
		draw_end(d->cursor, s);
	}
}

uint32_t
render_placed(const struct cmdsource *source, struct cursor *c,
    const struct keys *keys, char *buf, uint32_t n, size_t full, size_t *len)
{
	const struct template *t = (const struct template *)source;
	const struct compiled *s = t->commands;
	const struct prerendered *k = s->prerendered;
	size_t place = (c->place + c->turn) % source->places;
	const uint64_t *at = k->at + place;
	struct draw d;

	if (n > k->count - place)
		n = (uint32_t)(k->count - place);
	n = count_rows_for(k, place, n, full);
	*len = at[n] - at[0];
	if (!buf[at[n - 1] - at[0]]) /* a new buffer */
		memcpy(buf, k->bytes + at[0], *len);
	if (s->plain && !k->offsets) {
		patch_plain_rows(s, c, keys, place, n, buf);
		return n;
	}
	draw_init(&d, t, c, keys);
	patch_rows(s, &d, place, n, buf);
	return n;
}

/* Copies rendered rows, as many at once as are consecutive. */
static uint32_t
copy_rows(const struct template *t, struct draw *d, char *buf, uint32_t n,
    size_t full, size_t *len)
{
	const struct compiled *s = &t->commands[0];
	const struct prerendered *k = s->prerendered;
	uint64_t rows = rowset_count(t->rows), row;
	uint32_t made = 0, m;
	char *to = buf;
	size_t bytes;

	row = d->cursor->next[CMDSOURCE_ROWS] % rows;
	while (made < n && (size_t)(to - buf) < full) {
		m = n - made < rows - row ? n - made : (uint32_t)(rows - row);
		m = count_rows_for(k, row, m, full - (size_t)(to - buf));
		bytes = k->at[row + m] - k->at[row];
		memcpy(to, k->bytes + k->at[row], bytes);
		patch_rows(s, d, row, m, to);
		to += bytes;
		made += m;
		row = row + m == rows ? 0 : row + m;
	}
	*len = (size_t)(to - buf);
	return made;
}

static char *
copy_row(const struct compiled *s, struct draw *d, uint64_t row, char *to)
{
	const struct prerendered *k = s->prerendered;
	size_t n = k->at[row + 1] - k->at[row];

	blocks_copy(to, k->bytes + k->at[row], n);
	patch_command(
	    s, d, to, k->offsets ? k->offsets + row * s->npatches : NULL);
	return to + n;
}

uint32_t
render_commands(const struct cmdsource *source, struct cursor *c,
    const struct keys *keys, char *buf, uint32_t n, size_t full, size_t *len)
{
	const struct template *t = (const struct template *)source;
	uint64_t rows = t->rows ? rowset_count(t->rows) : 0, row = 0, turn;
	struct rowset_row r = {0};
	const struct compiled *s;
	char *to = buf;
	struct draw d;
	uint32_t i;

	draw_init(&d, t, c, keys);
	if (t->ncommands == 1 && t->commands[0].prerendered)
		return copy_rows(t, &d, buf, n, full, len);
	if (rows)
		row = c->next[CMDSOURCE_ROWS] % rows;
	turn = c->turn % source->cycle;
	for (i = 0; i < n && (size_t)(to - buf) < full; i++) {
		s = &t->commands[t->cycle[turn]];
		draw_begin(&d, s);
		if (++turn == source->cycle)
			turn = 0;
		if (s->prerendered) {
			to = copy_row(s, &d, row, to);
		} else {
			if (s->uses[CMDSOURCE_ROWS])
				r = rowset_row(t->rows, row);
			if (s->data)
				draw_values(&d);
			to = write_pieces(
			    t, s->pieces, s->pieces + s->npieces, &d, &r, to);
		}
		if (s->uses[CMDSOURCE_ROWS] && ++row == rows)
			row = 0;
		draw_end(c, s);
	}
	*len = (size_t)(to - buf);
	return i;
}

char *
render_command(const struct template *t, const struct compiled *s,
    struct draw *d, char *to)
{
	struct rowset_row r = {0};
	uint64_t row = 0;

	draw_begin(d, s);
	if (s->uses[CMDSOURCE_ROWS])
		row = d->cursor->next[CMDSOURCE_ROWS] % rowset_count(t->rows);
	if (s->prerendered) {
		to = copy_row(s, d, row, to);
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

size_t
render_room(const struct cmdsource *source, size_t bytes)
{
	const struct template *t = (const struct template *)source;
	size_t most = 0, i;

	for (i = 0; i < t->ncommands; i++)
		if (get_longest(t, &t->commands[i]) > most)
			most = get_longest(t, &t->commands[i]);
	return bytes + most + CMDSOURCE_SLACK;
}
