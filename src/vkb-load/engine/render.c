#include "prerendered.h"
#include "digits.h"
#include "keys.h"
#include "rowset.h"
#include "compile.h"

#include <string.h>

#define BLOCK 64
#define SHORT 256 /* bytes that are faster copied in blocks */

/* The numbers and the tag of one command. */
struct draw {
	const struct keys *keys;
	struct cursor *course;
	uint64_t shared[COMPILE_SHARED];
	unsigned have; /* bits: which shared numbers are drawn */
	uint64_t first, number;
	bool begun; /* 'first' is the next number */
	bool wide;  /* more than eight digits */
	const char *tag;
};

/*
 * Copies n bytes in whole blocks, up to BLOCK - 1 too many: lengths that differ
 * by row would cost mispredicted branches.
 */
static inline char *
copy_blocks(char *to, const char *from, size_t n)
{
	char *end = to + n;

	if (n > SHORT) {
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

static uint64_t
draw_number(struct draw *d)
{
	const struct keys *k = d->keys;

	if (d->begun) {
		d->begun = false;
		return d->first;
	}
	return d->course->sequential ? d->number++ % k->space
				     : rng_below(&d->course->rng, k->space);
}

static uint64_t
draw_shared_number(struct draw *d, unsigned which)
{
	struct cursor *c = d->course;

	if (d->have & 1u << which)
		return d->shared[which];
	d->have |= 1u << which;
	if (c->sequential && !d->begun)
		return d->shared[which] = c->number % d->keys->space;
	return d->shared[which] = draw_number(d);
}

/* In a cluster: draws the slot, and its number. */
static void
draw_slot(struct draw *d, const struct compiled *s)
{
	const struct keys *k = d->keys;
	struct cursor *c = d->course;
	unsigned residue;
	uint64_t i;

	if (s->keyed) {
		i = c->sequential ? c->number % k->count
				  : rng_below(&c->rng, k->count);
		d->first = keys_number(k, i, &residue);
		d->begun = true;
	} else if (s->uses[TEMPLATE_SEQ]) {
		residue = k->residues[c->next[TEMPLATE_SEQ] % k->nresidues];
	} else if (s->uses[TEMPLATE_ROWS]) {
		residue = k->residues[c->next[TEMPLATE_ROWS] % k->nresidues];
	} else {
		i = c->turn % k->ncollections;
		d->tag = k->tags[k->collections[i].slot];
		return;
	}
	d->tag = k->tags[keys_slot(residue)];
}

static void
begin_command(struct draw *d, const struct compiled *s)
{
	const struct cursor *c = d->course;

	d->have = 0;
	d->begun = false;
	d->number = c->number * s->random;
	if (s->tagged)
		draw_slot(d, s);
}

static void
end_command(struct cursor *c, const struct compiled *s)
{
	c->number++;
	c->turn++;
	c->next[TEMPLATE_SEQ] += s->uses[TEMPLATE_SEQ];
	c->next[TEMPLATE_ROWS] += s->uses[TEMPLATE_ROWS];
}

static uint64_t
get_number(struct draw *d, const struct piece *p)
{
	if (p->kind == PIECE_RANDOM)
		return draw_number(d);
	if (p->kind == PIECE_SHARED)
		return draw_shared_number(d, p->which);
	return d->course->next[TEMPLATE_SEQ] % KEYS_NUMBERS;
}

static const char *
find_value(const struct rowset_row *r, uint32_t which, size_t *n)
{
	uint32_t from = which ? r->ends[which - 1] : 0;

	*n = r->ends[which] - from;
	return r->bytes + from;
}

static char *
write_length(char *to, const struct piece *p, const struct rowset_row *r)
{
	const struct piece *q = p;
	size_t sum = p->n, n;
	uint32_t left;

	for (left = p->which; left; left--) {
		do
			q++;
		while (q->kind != PIECE_VALUE);
		rowset_value(find_value(r, q->which, &n), &n);
		sum += n;
	}
	*to++ = '$';
	to += digits_put(to, sum);
	*to++ = '\r';
	*to++ = '\n';
	return to;
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
			to = write_length(to, p, r);
			break;
		case PIECE_TAG:
			memcpy(to, d->tag, 3);
			to += 3;
			break;
		case PIECE_RANDOM:
		case PIECE_SHARED:
		case PIECE_SEQ:
			memcpy(to, "0000", 4);
			digits_12(to, get_number(d, p),
			    p->kind == PIECE_SEQ || d->wide);
			to += DIGITS_12;
			break;
		}
	return to;
}

size_t
compile_render(const struct template *t, const struct compiled *s, size_t first,
    size_t end, uint64_t row, char *to)
{
	struct rowset_row r = rowset_row(t->rows, row);

	return (size_t)(write_pieces(t, s->pieces + first, s->pieces + end,
			    NULL, &r, to) -
	    to);
}

static void
patch_command(
    const struct compiled *s, struct draw *d, char *to, const uint32_t *places)
{
	const struct piece *p, *end = s->pieces + s->npieces;
	char *at;

	for (p = s->pieces; p < end; p++) {
		if (!compile_is_patched(p))
			continue;
		at = to + (places ? *places++ : p->at);
		if (p->kind == PIECE_TAG)
			memcpy(at, d->tag, 3);
		else
			digits_12(at, get_number(d, p),
			    d->wide || p->kind == PIECE_SEQ);
	}
}

/* Returns true if only random numbers are patched. */
static bool
is_random_only(const struct compiled *s, const struct draw *d)
{
	return !s->tagged && !s->shared && !s->uses[TEMPLATE_SEQ] &&
	    !d->course->sequential;
}

static void
patch_random_numbers(const struct compiled *s, struct draw *d, char *buf,
    uint32_t n, size_t size)
{
	const struct piece *p, *end = s->pieces + s->npieces;
	struct rng rng = d->course->rng;
	uint64_t space = d->keys->space;
	bool wide = d->wide;
	uint32_t i;
	char *to;

	for (p = s->pieces; p < end && s->random == 1; p++)
		if (p->kind == PIECE_RANDOM)
			buf += p->at;
	for (i = 0, to = buf; i < n; i++, to += size) {
		if (s->random == 1) {
			digits_12(to, rng_below(&rng, space), wide);
			continue;
		}
		for (p = s->pieces; p < end; p++)
			if (p->kind == PIECE_RANDOM)
				digits_12(
				    to + p->at, rng_below(&rng, space), wide);
	}
	d->course->rng = rng;
	d->course->number += n;
	d->course->turn += n;
}

static uint32_t
make_constant_rows(const struct template *t, struct draw *d, char *buf,
    uint32_t n, size_t full, size_t *len)
{
	const struct compiled *s = &t->shapes[0];
	size_t size = t->command.len, most = full / size + 1;
	char *p = buf;
	uint32_t i;

	if (n > most)
		n = (uint32_t)most;
	*len = n * size;
	for (i = 0; i < n; i++, p += size)
		if (!*p)
			memcpy(p, t->command.bytes, size);
	if (is_random_only(s, d)) {
		patch_random_numbers(s, d, buf, n, size);
		return n;
	}
	for (i = 0, p = buf; i < n; i++, p += size) {
		begin_command(d, s);
		patch_command(s, d, p, NULL);
		end_command(d->course, s);
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

static void
patch_rows(const struct compiled *s, struct draw *d, uint64_t row, uint32_t n,
    char *buf)
{
	const struct prerendered *k = s->prerendered;
	const uint64_t *at = k->at + row;
	const uint32_t *places = NULL;
	struct cursor *c = d->course;
	uint64_t space = d->keys->space;
	const struct piece *p = s->pieces;
	struct rng rng = c->rng;
	bool wide = d->wide;
	uint32_t i;

	if (!is_random_only(s, d) || k->places || k->npatches > 1) {
		for (i = 0; i < n; i++) {
			begin_command(d, s);
			if (k->places)
				places = k->places + (row + i) * k->npatches;
			patch_command(s, d, buf + (at[i] - at[0]), places);
			end_command(c, s);
		}
		return;
	}
	if (k->npatches) {
		while (p->kind != PIECE_RANDOM)
			p++;
		for (i = 0; i < n; i++)
			digits_12(buf + p->at + (at[i] - at[0]),
			    rng_below(&rng, space), wide);
	}
	c->rng = rng;
	c->number += n;
	c->turn += n;
	c->next[TEMPLATE_ROWS] += n;
}

/* Copies rendered rows, as many at once as are consecutive. */
static uint32_t
copy_rows(const struct template *t, struct draw *d, char *buf, uint32_t n,
    size_t full, size_t *len)
{
	const struct compiled *s = &t->shapes[0];
	const struct prerendered *k = s->prerendered;
	uint64_t rows = rowset_count(t->rows), row;
	uint32_t made = 0, m;
	char *to = buf;
	size_t bytes;

	row = d->course->next[TEMPLATE_ROWS] % rows;
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

	copy_blocks(to, k->bytes + k->at[row], n);
	patch_command(
	    s, d, to, k->places ? k->places + row * k->npatches : NULL);
	return to + n;
}

uint32_t
template_make(const struct template *t, struct cursor *c,
    const struct keys *keys, char *buf, uint32_t n, size_t full, size_t *len)
{
	struct draw d = {
	    .keys = keys, .course = c, .wide = keys->space > 100000000};
	uint64_t row = 0, rows = t->rows ? rowset_count(t->rows) : 0;
	struct rowset_row r = {0};
	const struct compiled *s;
	char *to = buf;
	uint64_t turn;
	uint32_t i;

	if (t->alike)
		return make_constant_rows(t, &d, buf, n, full, len);
	if (t->nshapes == 1 && t->shapes[0].prerendered)
		return copy_rows(t, &d, buf, n, full, len);
	if (rows)
		row = c->next[TEMPLATE_ROWS] % rows;
	turn = c->turn % t->ncycle;
	for (i = 0; i < n && (size_t)(to - buf) < full; i++) {
		s = &t->shapes[t->cycle[turn]];
		if (++turn == t->ncycle)
			turn = 0;
		begin_command(&d, s);
		if (s->prerendered) {
			to = copy_row(s, &d, row, to);
		} else {
			if (s->uses[TEMPLATE_ROWS])
				r = rowset_row(t->rows, row);
			to = write_pieces(
			    t, s->pieces, s->pieces + s->npieces, &d, &r, to);
		}
		if (s->uses[TEMPLATE_ROWS] && ++row == rows)
			row = 0;
		end_command(c, s);
	}
	*len = (size_t)(to - buf);
	return i;
}

/* A field is at most as long as a row, but may be used more than once. */
static size_t
get_longest(const struct template *t, const struct compiled *s)
{
	size_t i, fields = 0;

	for (i = 0; t->rows && i < s->npieces; i++)
		fields += s->pieces[i].kind == PIECE_FIELD ||
		    s->pieces[i].kind == PIECE_VALUE;
	if (!fields)
		return s->len;
	return s->len + fields * (rowset_longest(t->rows) + DIGITS_MOST + 3);
}

size_t
template_room(const struct template *t, size_t bytes)
{
	size_t most = 0, i;

	for (i = 0; i < t->nshapes; i++)
		if (get_longest(t, &t->shapes[i]) > most)
			most = get_longest(t, &t->shapes[i]);
	return bytes + most + TEMPLATE_SLACK;
}
