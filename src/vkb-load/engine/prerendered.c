#include "prerendered.h"
#include "arena.h"
#include "compile.h"
#include "draw.h"
#include "engine.h"
#include "mem.h"
#include "rowset.h"
#include "values.h"

#include <stdlib.h>
#include <string.h>

#define PLACES ((size_t)1 << 20) /* bytes of places, see cmdsource.h */
#define PLACES_LEAST 16
#define PLACES_MOST 4096
#define PLACES_LONGEST ((size_t)1 << 18) /* bytes of a command */
#define PLACES_ALL ((size_t)1 << 26)     /* bytes of those of all commands */
#define PLACES_MORE ((size_t)1 << 18)    /* bytes of the first ones again */

/* Returns true if a patch follows what differs in length. */
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

static struct prerendered *
new_files(const struct compiled *s)
{
	struct prerendered *c = mem_new(sizeof *c);

	c->bytes_file = arena_new(0);
	c->at_file = arena_new(0);
	if (is_moving(s))
		c->offsets_file = arena_new(0);
	return c;
}

/* Writes a request; returns its length, or 0 if out of room. */
static size_t
write_request(struct prerendered *c, const struct template *t,
    const struct compiled *s, uint64_t row, struct draw *d, char *to)
{
	uint32_t place;
	size_t i, n = 0, zeros;

	for (i = 0; i < s->npieces; i++) {
		zeros = compile_patch_width(s->pieces[i].kind);
		place = (uint32_t)n;
		if (!zeros)
			n += render_pieces(t, s, i, i + 1, row, d, to + n);
		else if (c->offsets_file &&
		    arena_add(c->offsets_file, &place, sizeof place) < 0)
			return 0;
		memset(to + n, '0', zeros);
		n += zeros;
	}
	return n;
}

static int
add_request(struct prerendered *c, const struct template *t,
    const struct compiled *s, uint64_t row, struct draw *d)
{
	uint64_t at = arena_size(c->bytes_file);
	char *to;
	size_t n;

	if (arena_add(c->at_file, &at, sizeof at) < 0)
		return -1;
	to = arena_room(c->bytes_file, render_room(&t->source, 0));
	n = to ? write_request(c, t, s, row, d, to) : 0;
	if (!n)
		return -1;
	arena_keep(c->bytes_file, n);
	c->count++;
	return 0;
}

/* Ends the list of requests. */
static int
end_requests(struct prerendered *c)
{
	uint64_t at = arena_size(c->bytes_file);

	if (arena_add(c->at_file, &at, sizeof at) < 0)
		return -1;
	c->bytes = arena_bytes(c->bytes_file);
	c->at = (const uint64_t *)(const void *)arena_bytes(c->at_file);
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
	size_t extra = sizeof *c->at + s->npatches * sizeof *c->offsets;

	for (i = 0; i < rows; i++)
		if (arena_size(c->bytes_file) + (i + 1) * extra > most ||
		    add_request(c, t, s, i, NULL) < 0)
			return -1;
	return end_requests(c);
}

struct prerendered *
prerendered_new(const struct template *t, const struct compiled *s, size_t most)
{
	struct prerendered *c;

	if (!s->uses[CMDSOURCE_ROWS] || s->ints || s->data ||
	    rowset_count(t->rows) > most / (rowset_mean(t->rows) + s->len))
		return NULL;
	c = new_files(s);
	if (write_rows(c, t, s, most) == 0)
		return c;
	prerendered_free(c);
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

static int
write_places(struct prerendered *c, const struct template *t,
    const struct compiled *s, const uint32_t *sizes)
{
	size_t each = count_drawn_sizes(s), end = SIZE_MAX, i, k;
	struct draw d = {.values = &d.own};

	for (i = 0; i < c->places || arena_size(c->bytes_file) < end; i++) {
		k = i % c->places;
		if (i == c->places)
			end = arena_size(c->bytes_file) +
			    (s->data && !t->mix ? PLACES_MORE : 0);
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
	bool ordered = w->sequential || w->keys.kind == KEYSPEC_SEQUENTIAL;
	size_t n = PLACES / s->len;

	if (s->ints || s->uses[CMDSOURCE_ROWS])
		return 0;
	if (!s->data)
		return 1;
	if (render_room(&t->source, 0) > PLACES_LONGEST ||
	    (ordered && values_vary(t->data)))
		return 0;
	n = n < PLACES_LEAST ? PLACES_LEAST : n > PLACES_MOST ? PLACES_MOST : n;
	return n * s->len <= PLACES_ALL / t->ncommands ? n : 0;
}

struct prerendered *
prerendered_new_values(const struct template *t, const struct compiled *s,
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
			prerendered_free(c);
			c = NULL;
		}
	}
	free(sizes);
	return c;
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
