#include "cooked.h"
#include "dataset.h"
#include "mem.h"
#include "shape.h"
#include "swapfile.h"

#include <stdlib.h>

#define MOST ((size_t)256 << 20) /* bytes */

static bool
of_row(enum piece_kind k)
{
	return k == PIECE_FIELD || k == PIECE_VALUE || k == PIECE_LENGTH;
}

/* The run of pieces with most fields, and constants else. */
static bool
find(const struct shape *s, size_t *first, size_t *end)
{
	size_t i, from = 0, fields = 0, best = 1;

	for (i = 0; i < s->npieces; i++) {
		if (of_row(s->pieces[i].kind)) {
			if (++fields > best) {
				best = fields;
				*first = from;
				*end = i + 1;
			}
		} else if (s->pieces[i].kind != PIECE_BYTES) {
			from = i + 1;
			fields = 0;
		}
	}
	return best > 1;
}

static int
write_all(struct cooked *c, const struct template *t, const struct shape *s)
{
	uint64_t rows = dataset_rows(t->rows), i, at;
	char *to;

	for (i = 0; i <= rows; i++) {
		at = swapfile_size(c->bytes_file);
		if (at + (i + 1) * sizeof at > MOST ||
		    swapfile_add(c->at_file, &at, sizeof at) < 0)
			return -1;
		if (i == rows)
			break;
		to = swapfile_room(c->bytes_file, template_room(t, 0));
		if (!to)
			return -1;
		swapfile_keep(
		    c->bytes_file, shape_write(t, s, c->first, c->end, i, to));
	}
	c->bytes = swapfile_bytes(c->bytes_file);
	c->at = (const uint64_t *)(const void *)swapfile_bytes(c->at_file);
	return 0;
}

struct cooked *
cooked_new(const struct template *t, const struct shape *s)
{
	struct cooked *c;
	size_t first, end, i;

	if (!find(s, &first, &end) ||
	    dataset_rows(t->rows) > MOST / dataset_mean(t->rows))
		return NULL;
	c = mem_new(sizeof *c);
	c->first = first;
	c->end = end;
	for (i = 0; i < s->npieces; i++)
		if (i < first || i >= end)
			c->others |= of_row(s->pieces[i].kind);
	c->bytes_file = swapfile_new(0);
	c->at_file = swapfile_new(0);
	if (write_all(c, t, s) == 0)
		return c;
	cooked_free(c);
	return NULL;
}

void
cooked_free(struct cooked *c)
{
	if (!c)
		return;
	swapfile_free(c->bytes_file);
	swapfile_free(c->at_file);
	free(c);
}
