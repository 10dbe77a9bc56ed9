#include "merged.h"
#include "hist.h"
#include "mem.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

void
merged_free(struct merged *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free(m->v[i].name);
		hist_free(m->v[i].h);
	}
	free(m->v);
	*m = (struct merged){0};
}

static bool
has_layout(const struct hist *a, const struct hist *b)
{
	return hist_lowest(a) == hist_lowest(b) &&
	    hist_highest(a) == hist_highest(b) &&
	    hist_digits(a) == hist_digits(b);
}

void
merged_add(struct merged *m, const char *name, struct hist *h)
{
	for (size_t i = 0; i < m->n; i++)
		if (has_layout(m->v[i].h, h) &&
		    strcmp(m->v[i].name, name) == 0) {
			hist_merge(m->v[i].h, h);
			hist_free(h);
			return;
		}
	m->v = mem_resize(m->v, ++m->n, sizeof *m->v);
	m->v[m->n - 1] = (struct merged_one){mem_str(name), h};
}

bool
merged_next(struct merged *m, size_t *i, const char **name, struct hist **h)
{
	struct merged_one *v;
	int64_t lowest = INT64_MAX, highest = 0, one;
	size_t n = 0;
	int digits = 0;

	if (!*i && m->n)
		qsort(m->v, m->n, sizeof *m->v, str_compare);
	if (*i == m->n)
		return false;
	v = m->v + *i;
	for (; *i + n < m->n && strcmp(v[n].name, v->name) == 0; n++) {
		one = hist_lowest(v[n].h);
		lowest = one < lowest ? one : lowest;
		one = hist_highest(v[n].h);
		highest = one > highest ? one : highest;
		if (hist_digits(v[n].h) > digits)
			digits = hist_digits(v[n].h);
	}
	*i += n;
	*name = v->name;
	*h = hist_new(lowest, highest, digits);
	for (size_t k = 0; k < n; k++)
		hist_merge(*h, v[k].h);
	return true;
}
