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

/* --- Sorts stacks before adding them to a call tree, so that shared frames are
 * looked up once and new ones without a search. */

#define MOST ((size_t)1 << 23) /* frames in memory */

struct stack {
	uint64_t key; /* two of its frames, the next to compare */
	size_t from;  /* index of its first frame */
	size_t n;     /* number of frames */
	double v;
};

struct stacks {
	struct calltree *t;
	size_t column;
	uint32_t *frames;
	size_t nframes, frames_cap;
	struct stack *v;
	size_t n, cap;
	uint32_t *path; /* nodes of the last stack */
	size_t path_cap;
};

/* Borrows the tree, which is complete only after stacks_finish. */
static struct stacks *
stacks_new(struct calltree *t, size_t column)
{
	struct stacks *s = mem_new(sizeof *s);

	s->t = t;
	s->column = column;
	return s;
}

/* --- sorting by frame numbers, then by arrival */

static uint64_t
make_key(const uint32_t *frames, const struct stack *s, size_t depth)
{
	uint64_t a = depth < s->n ? frames[s->from + depth] + 1 : 0;

	return a << 32 |
	    (depth + 1 < s->n ? frames[s->from + depth + 1] + 1 : 0);
}

static int
compare_by_arrival(const void *a, const void *b)
{
	const struct stack *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static void
swap_stacks(struct stack *a, struct stack *b)
{
	struct stack tmp = *a;

	*a = *b;
	*b = tmp;
}

struct part {
	struct stack *v;
	size_t n, depth; /* number of equal frames before */
};

/* Loads the next two frames of stacks that are equal so far. */
static void
load_next_keys(const uint32_t *frames, struct part *p)
{
	if ((uint32_t)p->v->key == 0) { /* all stacks are equal */
		qsort(p->v, p->n, sizeof *p->v, compare_by_arrival);
		p->n = 0;
		return;
	}
	p->depth += 2;
	for (size_t i = 0; i < p->n; i++)
		p->v[i].key = make_key(frames, &p->v[i], p->depth);
}

/*
 * Multikey quicksort (Bentley & Sedgewick, Fast algorithms for sorting and
 * searching strings, 1997), with the keys next to the pointers. Loops over the
 * largest of three parts, so that recursion is at most log2(n) deep.
 */
static void
sort_part(const uint32_t *frames, struct part p)
{
	while (p.n > 1) {
		uint64_t k = p.v[(p.n * 0x9e3779b9u >> 7) % p.n].key;
		size_t lo = 0, hi = p.n, i = 0;
		struct part part[3];

		while (i < hi)
			if (p.v[i].key < k)
				swap_stacks(&p.v[lo++], &p.v[i++]);
			else if (p.v[i].key > k)
				swap_stacks(&p.v[i], &p.v[--hi]);
			else
				i++;
		part[0] = (struct part){p.v, lo, p.depth};
		part[1] = (struct part){p.v + lo, hi - lo, p.depth};
		part[2] = (struct part){p.v + hi, p.n - hi, p.depth};
		if (hi - lo > 1)
			load_next_keys(frames, &part[1]);
		p = part[1];
		for (int j = 0; j < 3; j += 2) {
			struct part less = part[j];

			if (less.n > p.n) {
				less = p;
				p = part[j];
			}
			sort_part(frames, less);
		}
	}
}

/* --- adding to the tree */

static size_t
count_shared(
    const struct stacks *s, const struct stack *a, const struct stack *b)
{
	size_t i = 0;

	while (i < a->n && i < b->n &&
	    s->frames[a->from + i] == s->frames[b->from + i])
		i++;
	return i;
}

static void
flush_stacks(struct stacks *s)
{
	uint32_t old = s->t->n;

	for (size_t i = 0; i < s->n; i++)
		s->v[i].key = make_key(s->frames, &s->v[i], 0);
	sort_part(s->frames, (struct part){s->v, s->n, 0});
	for (size_t i = 0; i < s->n; i++) {
		const struct stack *v = &s->v[i];
		size_t k = i ? count_shared(s, v, v - 1) : 0;
		uint32_t node = k ? s->path[k - 1] : 0;

		for (; k < v->n; k++) {
			uint32_t frame = s->frames[v->from + k];

			/* All nodes below a new node are new. */
			node = node >= old || old == 1
			    ? calltree_append(s->t, node, frame)
			    : calltree_child(s->t, node, frame);
			s->path =
			    mem_grow(s->path, k, &s->path_cap, sizeof *s->path);
			s->path[k] = node;
		}
		s->t->self[s->column][node] += v->v;
	}
	s->n = s->nframes = 0;
}

static void
stacks_add(struct stacks *s, const uint32_t *frames, size_t n, double v)
{
	if (s->nframes + n > MOST)
		flush_stacks(s);
	while (s->nframes + n > s->frames_cap)
		s->frames = mem_grow(s->frames, s->frames_cap, &s->frames_cap,
		    sizeof *s->frames);
	memcpy(s->frames + s->nframes, frames, n * sizeof *frames);
	s->v = mem_grow(s->v, s->n, &s->cap, sizeof *s->v);
	s->v[s->n++] = (struct stack){.from = s->nframes, .n = n, .v = v};
	s->nframes += n;
}

static void
stacks_finish(struct stacks *s)
{
	flush_stacks(s);
	free(s->frames);
	free(s->v);
	free(s->path);
	free(s);
}

/* A median count this large is a period in events, not a number of samples. */
#define PERIOD 10000

/* The line before, which usually shares its first frames with the next. */
struct previous_line {
	struct str text;
	size_t *end; /* offset of the end of each frame in 'text' */
	uint32_t *frame;
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

static size_t
match_length(const char *a, const char *b, size_t n)
{
	size_t i = 0;
	uint64_t x, y;

	for (; i + 8 <= n; i += 8) {
		memcpy(&x, a + i, 8);
		memcpy(&y, b + i, 8);
		if (x != y)
			break;
	}
	while (i < n && a[i] == b[i])
		i++;
	return i;
}

static void
parse_stack(
    struct calltree *t, struct previous_line *last, const char *s, size_t n)
{
	size_t same = last->text.len < n ? last->text.len : n, depth = 0, at;

	same = same ? match_length(last->text.s, s, same) : 0;
	while (depth < last->n && last->end[depth] < same)
		depth++;
	at = depth ? last->end[depth - 1] + 1 : 0;
	for (last->n = depth; at <= n; depth++) {
		const char *end = memchr(s + at, ';', n - at);
		size_t k = end ? (size_t)(end - s) : n;

		if (depth == last->cap) {
			last->cap = last->cap ? 2 * last->cap : 64;
			last->end =
			    mem_resize(last->end, last->cap, sizeof *last->end);
			last->frame = mem_resize(
			    last->frame, last->cap, sizeof *last->frame);
		}
		last->frame[depth] = calltree_frame(t, s + at, k - at);
		last->end[depth] = k;
		last->n = depth + 1;
		at = k + 1;
	}
	last->text.len = 0;
	str_addn(&last->text, s, n);
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
	unsigned long long bad = 0, first = 0;
	struct stacks *stacks = stacks_new(t, column);
	struct previous_line last = {.n = 0};
	const char *s;
	size_t n, k;
	bool frame = false; /* is the first bad line one of perf script? */
	double v = 0;
	int rc;

	while ((rc = lines_next(l, &s, &n)) > 0) {
		size_t empty = 0;

		while (empty < n && is_blank(s[empty]))
			empty++;
		if (empty == n || (n > 1 && s[0] == '#' && s[1] == ' '))
			continue;
		k = lines_torn(l) ? 0 : parse_count(s, n, &v);
		if (!k && !bad++) {
			first = lines_number(l);
			frame = empty > 0;
		}
		if (!k)
			continue;
		parse_stack(t, &last, s, k);
		stacks_add(stacks, last.frame, last.n, v);
	}
	stacks_finish(stacks);
	if (to >= 0)
		estimate_samples(t, t->self[column], t->self[to]);
	str_free(&last.text);
	free(last.end);
	free(last.frame);
	if (bad == 1 && lines_torn(l))
		err_say("%s:%llu: the last line has no newline and is ignored",
		    lines_name(l), first);
	else if (bad)
		err_say("%s:%llu: not a stack followed by a count; lines "
			"ignored: %llu%s",
		    lines_name(l), first, bad,
		    frame ? "; of 'perf script' the fields -F "
			    "comm,pid,tid,time,event,ip,sym,dso are read"
			  : "");
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
