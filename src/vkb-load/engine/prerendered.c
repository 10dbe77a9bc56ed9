#include "prerendered.h"
#include "arena.h"
#include "mem.h"
#include "rowset.h"
#include "compile.h"

#include <stdlib.h>
#include <string.h>

/* Returns true if a patch follows a field: its offset differs by row. */
static bool
is_moving(const struct compiled *s)
{
	bool behind = false, moving = false;

	for (size_t i = 0; i < s->npieces; i++)
		if (compile_patch_width(s->pieces[i].kind))
			moving |= behind;
		else
			behind |= s->pieces[i].kind != PIECE_BYTES;
	return moving;
}

/* Writes the request of a row; returns its length, or 0 if out of room. */
static size_t
write_row(struct prerendered *c, const struct template *t,
    const struct compiled *s, uint64_t row, char *to)
{
	uint32_t place;
	size_t i, n = 0, zeros;

	for (i = 0; i < s->npieces; i++) {
		zeros = compile_patch_width(s->pieces[i].kind);
		place = (uint32_t)n;
		if (!zeros)
			n += render_pieces(t, s, i, i + 1, row, to + n);
		else if (c->offsets_file &&
		    arena_add(c->offsets_file, &place, sizeof place) < 0)
			return 0;
		memset(to + n, '0', zeros);
		n += zeros;
	}
	return n;
}

static int
write_rows(struct prerendered *c, const struct template *t,
    const struct compiled *s, size_t most)
{
	uint64_t rows = rowset_count(t->rows), i, at;
	size_t extra = sizeof at + s->npatches * sizeof *c->offsets, n;
	char *to;

	for (i = 0; i <= rows; i++) {
		at = arena_size(c->bytes_file);
		if (at + (i + 1) * extra > most ||
		    arena_add(c->at_file, &at, sizeof at) < 0)
			return -1;
		if (i == rows)
			break;
		to = arena_room(c->bytes_file, render_room(&t->source, 0));
		n = to ? write_row(c, t, s, i, to) : 0;
		if (!n)
			return -1;
		arena_keep(c->bytes_file, n);
	}
	c->bytes = arena_bytes(c->bytes_file);
	c->at = (const uint64_t *)(const void *)arena_bytes(c->at_file);
	if (c->offsets_file)
		c->offsets = (const uint32_t *)(const void *)arena_bytes(
		    c->offsets_file);
	return 0;
}

struct prerendered *
prerendered_new(const struct template *t, const struct compiled *s, size_t most)
{
	struct prerendered *c;

	if (!s->uses[CMDSOURCE_ROWS] || s->ints || s->data ||
	    rowset_count(t->rows) > most / (rowset_mean(t->rows) + s->len))
		return NULL;
	c = mem_new(sizeof *c);
	c->bytes_file = arena_new(0);
	c->at_file = arena_new(0);
	if (is_moving(s))
		c->offsets_file = arena_new(0);
	if (write_rows(c, t, s, most) == 0)
		return c;
	prerendered_free(c);
	return NULL;
}

void
prerendered_free(struct prerendered *c)
{
	if (!c)
		return;
	arena_free(c->bytes_file);
	arena_free(c->at_file);
	arena_free(c->offsets_file);
	free(c);
}
