#include "merged.h"
#include "hist.h"
#include "mem.h"
#include "scratch.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

struct piece {
	off_t at;
	size_t n; /* struct hist_tally */
};

struct merged_one {
	char *name;
	int64_t lowest, highest;
	int digits;
	struct hist *h; /* counts in memory, or NULL */
	struct piece *pieces;
	size_t npieces, cap;
};

void
merged_free(struct merged *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free(m->v[i].name);
		hist_free(m->v[i].h);
		free(m->v[i].pieces);
	}
	free(m->v);
	*m = (struct merged){0};
}

static int
has_name_and_layout(
    const struct merged_one *m, const char *name, const struct hist *h)
{
	return m->lowest == hist_lowest(h) && m->highest == hist_highest(h) &&
	    m->digits == hist_digits(h) && strcmp(m->name, name) == 0;
}

void
merged_add(struct merged *m, const char *name, struct hist *h)
{
	size_t i = 0;

	while (i < m->n && !has_name_and_layout(&m->v[i], name, h))
		i++;
	if (i == m->n) {
		m->v = mem_resize(m->v, ++m->n, sizeof *m->v);
		m->v[i] = (struct merged_one){.name = mem_str(name),
		    .lowest = hist_lowest(h),
		    .highest = hist_highest(h),
		    .digits = hist_digits(h)};
	}
	if (m->v[i].h) {
		hist_merge(m->v[i].h, h);
		hist_free(h);
	} else {
		m->v[i].h = h;
	}
}

size_t
merged_bytes(const struct merged *m)
{
	size_t sum = 0;

	for (size_t i = 0; i < m->n; i++)
		sum += m->v[i].h ? hist_bytes(m->v[i].h) : 0;
	return sum;
}

static int
spill_histogram(struct merged_one *m, struct scratch *s)
{
	struct piece p = {0};
	struct hist_tally *cells = NULL;
	size_t i = 0, cap = 0;
	int64_t low, high;
	uint64_t count;

	while (hist_cell(m->h, &i, &low, &high, &count)) {
		cells = mem_grow(cells, p.n, &cap, sizeof *cells);
		cells[p.n++] = (struct hist_tally){i - 1, count};
	}
	if (p.n) {
		p.at = scratch_add(s, cells, p.n * sizeof *cells);
		m->pieces = mem_grow(m->pieces, m->npieces, &m->cap, sizeof p);
		m->pieces[m->npieces] = p;
		m->npieces += p.at >= 0;
	}
	free(cells);
	if (p.at < 0)
		return -1;
	hist_free(m->h);
	m->h = NULL;
	return 0;
}

int
merged_spill(struct merged *m, struct scratch *s)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->v[i].h && spill_histogram(&m->v[i], s) < 0)
			return -1;
	return 0;
}

/* Adds a piece from the file to 'h', which has the layout of the piece. */
static int
read_piece(struct hist *h, struct piece p, struct scratch *s)
{
	struct hist_tally *c = mem_array(p.n, sizeof *c);
	int rc = scratch_read(s, p.at, c, p.n * sizeof *c);

	if (rc == 0)
		hist_put(h, c, p.n);
	free(c);
	return rc;
}

/* Merges the pieces in the file and the counts in memory into 'all'. */
static int
merge_pieces(struct hist *all, const struct merged_one *m, struct scratch *s)
{
	struct hist *h = hist_new(m->lowest, m->highest, m->digits);
	int rc = 0;

	for (size_t i = 0; i < m->npieces && rc == 0; i++)
		rc = read_piece(h, m->pieces[i], s);
	hist_merge(all, h);
	hist_free(h);
	if (m->h)
		hist_merge(all, m->h);
	return rc;
}

int
merged_next(struct merged *m, struct scratch *s, size_t *i, const char **name,
    struct hist **h)
{
	struct merged_one *v;
	int64_t lowest = INT64_MAX, highest = 0;
	size_t n = 0;
	int digits = 0;

	if (!*i && m->n)
		qsort(m->v, m->n, sizeof *m->v, str_compare);
	if (*i == m->n)
		return 0;
	v = m->v + *i;
	for (; *i + n < m->n && strcmp(v[n].name, v->name) == 0; n++) {
		lowest = v[n].lowest < lowest ? v[n].lowest : lowest;
		highest = v[n].highest > highest ? v[n].highest : highest;
		digits = v[n].digits > digits ? v[n].digits : digits;
	}
	*i += n;
	*name = v->name;
	*h = hist_new(lowest, highest, digits);
	for (size_t k = 0; k < n; k++) {
		if (merge_pieces(*h, &v[k], s) < 0) {
			hist_free(*h);
			return -1;
		}
	}
	return 1;
}
