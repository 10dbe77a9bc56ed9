#include "folded.h"
#include "calltree.h"
#include "err.h"
#include "lines.h"
#include "mem.h"
#include "num.h"
#include "stats.h"
#include "str.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A median count this large is a period in events, not a number of samples. */
#define PERIOD 10000

/* The line before, which usually shares its first frames with the next. */
struct previous_line {
	struct str text;
	size_t *end;    /* offset of the end of each frame in 'text' */
	uint32_t *node; /* of each frame */
	size_t n, cap;
};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Parses the count at the end. Returns the length before it; 0: no count. */
static size_t
parse_count(const char *s, size_t n, double *v)
{
	size_t from, to = n, dot = 0, digits = 0;

	while (to && is_blank(s[to - 1]))
		to--;
	for (from = to; from && !is_blank(s[from - 1]); from--)
		if (s[from - 1] == '.')
			dot++;
		else if (s[from - 1] >= '0' && s[from - 1] <= '9')
			digits++;
		else
			return 0;
	if (dot > 1 || !digits || digits > 300)
		return 0;
	*v = strtod(s + from, NULL);
	while (from && is_blank(s[from - 1]))
		from--;
	return from;
}

bool
folded_is_stack(const char *line, size_t n)
{
	double v;

	return n && !is_blank(*line) && parse_count(line, n, &v) > 0;
}

/* Returns the node of a stack of n bytes. */
static uint32_t
add_stack(
    struct calltree *t, struct previous_line *last, const char *s, size_t n)
{
	size_t most = last->text.len < n ? last->text.len : n, same = 0;
	size_t depth = 0, at;

	while (same < most && last->text.s[same] == s[same])
		same++;
	while (depth < last->n && last->end[depth] < same)
		depth++;
	at = depth ? last->end[depth - 1] + 1 : 0;
	for (; at <= n; depth++) {
		const char *end = memchr(s + at, ';', n - at);
		size_t k = end ? (size_t)(end - s) : n;

		if (depth == last->cap) {
			last->cap = last->cap ? 2 * last->cap : 64;
			last->end =
			    mem_resize(last->end, last->cap, sizeof *last->end);
			last->node = mem_resize(
			    last->node, last->cap, sizeof *last->node);
		}
		last->node[depth] =
		    calltree_child(t, depth ? last->node[depth - 1] : 0,
			calltree_frame(t, s + at, k - at));
		last->end[depth] = k;
		at = k + 1;
	}
	last->n = depth;
	str_clear(&last->text);
	str_addn(&last->text, s, n);
	return last->node[depth - 1];
}

static void
estimate_samples(const struct calltree *t, const double *v, double *to)
{
	double *seen = mem_array(t->n, sizeof *seen), unit;
	size_t n = 0;

	for (uint32_t i = 1; i < t->n; i++)
		if (v[i] > 0)
			seen[n++] = v[i];
	unit = stats_middle(seen, n);
	if (!(unit >= PERIOD))
		unit = 1;
	for (uint32_t i = 1; i < t->n; i++)
		to[i] = v[i] / unit;
	free(seen);
}

int
folded_read(struct lines *l, struct calltree *t, size_t column, long to)
{
	unsigned long long bad = 0, first = 0, good = 0;
	struct previous_line last = {.n = 0};
	const char *s;
	size_t n, k;
	double v = 0;
	uint32_t node = 0;
	int rc;

	while ((rc = lines_next(l, &s, &n)) > 0) {
		size_t empty = 0;

		while (empty < n && is_blank(s[empty]))
			empty++;
		if (empty == n || (n > 1 && s[0] == '#' && s[1] == ' '))
			continue;
		k = l->torn ? 0 : parse_count(s, n, &v);
		if (!k && empty && good == 1 && !bad) {
			/* It is a frame of perf script, of the event before. */
			t->self[column][node] -= v;
			rc = err_fail("%s:%llu: not a stack followed by a "
				      "count; %s",
			    l->name, l->number, FOLDED_FIELDS);
			break;
		}
		if (!k && !bad++)
			first = l->number;
		if (!k)
			continue;
		good++;
		node = add_stack(t, &last, s, k); /* moves t->self */
		t->self[column][node] += v;
	}
	if (to >= 0)
		estimate_samples(t, t->self[column], t->self[to]);
	str_free(&last.text);
	free(last.end);
	free(last.node);
	if (bad == 1 && l->torn)
		err_say("%s:%llu: the last line has no newline and is ignored",
		    l->name, first);
	else if (bad)
		err_say("%s:%llu: not a stack followed by a count; lines "
			"ignored: %llu",
		    l->name, first, bad);
	return rc < 0 || bad ? -1 : 0;
}

void
folded_write(
    struct str *to, const struct calltree *t, const double *const *v, size_t n)
{
	uint32_t *path = NULL, i = calltree_next(t, 0, 0);
	size_t cap = 0;

	for (; i != CALLTREE_NONE; i = calltree_next(t, i, 0)) {
		size_t depth, seen = 0;

		for (size_t k = 0; k < n; k++)
			seen += v[k][i] != 0;
		if (!seen)
			continue;
		depth = calltree_path(t, i, &path, &cap);
		for (size_t d = 0; d < depth; d++) {
			if (d)
				str_addc(to, ';');
			str_add(to, calltree_name(t, path[d]));
		}
		for (size_t k = 0; k < n; k++) {
			str_addc(to, ' ');
			num_append(to, v[k][i]);
		}
		str_addc(to, '\n');
	}
	free(path);
}
