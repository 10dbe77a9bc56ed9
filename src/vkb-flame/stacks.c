#include "stacks.h"
#include "calltree.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>

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

struct stacks *
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

void
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

void
stacks_finish(struct stacks *s)
{
	flush_stacks(s);
	free(s->frames);
	free(s->v);
	free(s->path);
	free(s);
}
