#include "calltree.h"
#include "mem.h"
#include "intern.h"
#include "str.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Creates a child; there is none with this frame. */
static uint32_t
append_node(struct calltree *t, uint32_t parent, uint32_t frame)
{
	size_t *cap = &t->cap;

	if (t->n == CALLTREE_NONE - 1)
		err_die("more than %u different frames", CALLTREE_NONE - 1);
	if (t->n == *cap) {
		*cap = *cap ? *cap + *cap / 2 : 1024;
		t->frame = mem_resize(t->frame, *cap, sizeof *t->frame);
		t->parent = mem_resize(t->parent, *cap, sizeof *t->parent);
		for (size_t c = 0; c < t->columns; c++)
			t->self[c] =
			    mem_resize(t->self[c], *cap, sizeof **t->self);
	}
	t->frame[t->n] = frame;
	t->parent[t->n] = parent;
	for (size_t c = 0; c < t->columns; c++)
		t->self[c][t->n] = 0;
	return t->n++;
}

struct calltree *
calltree_new(size_t columns)
{
	struct calltree *t = mem_new(sizeof *t);

	t->columns = columns;
	t->self = mem_array(columns, sizeof *t->self);
	t->total = mem_array(columns, sizeof *t->total);
	t->names = intern_new();
	append_node(t, CALLTREE_NONE, CALLTREE_NONE);
	return t;
}

void
calltree_free(struct calltree *t)
{
	if (!t)
		return;
	for (size_t c = 0; c < t->columns; c++) {
		free(t->self[c]);
		free(t->total[c]);
	}
	free(t->self);
	free(t->total);
	free(t->frame);
	free(t->parent);
	free(t->child);
	free(t->next);
	free(t->slots);
	intern_free(t->names);
	free(t);
}

static bool
is_plain(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((signed char)s[i] < ' ' || s[i] == 0x7f)
			return false; /* bytes above 0x7f are negative */
	return true;
}

uint32_t
calltree_frame(struct calltree *t, const char *name, size_t n)
{
	struct str s = {0};
	char *copy, *nul;
	size_t id;

	if (is_plain(name, n))
		return (uint32_t)intern_idn(t->names, name, n);
	copy = mem_strn(name, n);
	while ((nul = memchr(copy, 0, n)))
		*nul = '\1';
	str_visible(&s, copy);
	free(copy);
	id = intern_idn(t->names, s.s, s.len);
	str_free(&s);
	return (uint32_t)id;
}

const char *
calltree_name(const struct calltree *t, uint32_t node)
{
	return node ? intern_text(t->names, t->frame[node]) : "";
}

static size_t
hash_node(uint32_t parent, uint32_t frame)
{
	uint64_t h = ((uint64_t)parent << 32 | frame) * 0x9e3779b97f4a7c15ULL;

	return (size_t)(h ^ h >> 29);
}

static uint64_t
pack_slot(uint32_t node, size_t h)
{
	return (uint64_t)node << 32 | (uint32_t)(h >> 32);
}

/* Makes the table of slots at least twice as large as the tree. */
static void
grow_slots(struct calltree *t)
{
	if (2 * (size_t)t->n <= t->nslots)
		return;
	t->nslots = t->nslots ? 2 * t->nslots : 1024;
	free(t->slots);
	t->slots = mem_array(t->nslots, sizeof *t->slots);
	for (uint32_t i = 1; i < t->n; i++) { /* the root has none */
		size_t h = hash_node(t->parent[i], t->frame[i]), at;

		at = h & (t->nslots - 1);
		while (t->slots[at])
			at = (at + 1) & (t->nslots - 1);
		t->slots[at] = pack_slot(i, h);
	}
}

uint32_t
calltree_child(struct calltree *t, uint32_t parent, uint32_t frame)
{
	size_t at, h = hash_node(parent, frame);
	uint32_t node;

	grow_slots(t);
	at = h & (t->nslots - 1);
	for (uint64_t s; (s = t->slots[at]); at = (at + 1) & (t->nslots - 1)) {
		node = (uint32_t)(s >> 32);
		if ((uint32_t)s == (uint32_t)(h >> 32) &&
		    t->parent[node] == parent && t->frame[node] == frame)
			return node;
	}
	node = append_node(t, parent, frame);
	t->slots[at] = pack_slot(node, h);
	return node;
}

struct ranked {
	uint32_t rank, node;
};

static int
compare_by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Links the children of each node in order of name. */
static void
link_siblings(struct calltree *t, const uint32_t *rank)
{
	struct ranked *v = NULL;
	size_t cap = 0;

	t->child = mem_array(t->n, sizeof *t->child);
	t->next = mem_array(t->n, sizeof *t->next);
	for (uint32_t i = t->n - 1; i > 0; i--) {
		t->next[i] = t->child[t->parent[i]];
		t->child[t->parent[i]] = i;
	}
	for (uint32_t p = 0; p < t->n; p++) {
		uint32_t *to = &t->child[p];
		size_t n = 0;

		if (!*to || !t->next[*to])
			continue;
		for (uint32_t i = *to; i; i = t->next[i]) {
			*MEM_ADD(v, n, cap) =
			    (struct ranked){rank[t->frame[i]], i};
		}
		qsort(v, n, sizeof *v, compare_by_rank);
		for (size_t i = 0; i < n; to = &t->next[*to])
			*to = v[i++].node;
		*to = 0;
	}
	free(v);
}

void
calltree_sum(struct calltree *t)
{
	uint32_t *rank = intern_rank(t->names);

	free(t->slots);
	t->slots = NULL;
	for (size_t c = 0; c < t->columns; c++) {
		t->total[c] = mem_array(t->n, sizeof **t->total);
		memcpy(t->total[c], t->self[c], t->n * sizeof **t->total);
		for (uint32_t i = t->n - 1; i > 0; i--)
			t->total[c][t->parent[i]] += t->total[c][i];
	}
	link_siblings(t, rank);
	free(rank);
}

size_t
calltree_path(
    const struct calltree *t, uint32_t node, uint32_t **path, size_t *cap)
{
	size_t n = 0;

	for (uint32_t i = node; i; i = t->parent[i])
		n++;
	if (n > *cap)
		*path = mem_resize(*path, *cap = 2 * n, sizeof **path);
	for (size_t k = n; k; node = t->parent[node])
		(*path)[--k] = node;
	return n;
}

uint32_t
calltree_next(const struct calltree *t, uint32_t node, int skip)
{
	if (!skip && t->child[node])
		return t->child[node];
	while (node && !t->next[node])
		node = t->parent[node];
	return node ? t->next[node] : CALLTREE_NONE;
}

static double
sum_columns(const struct calltree *t, uint32_t node)
{
	double sum = 0;

	for (size_t c = 0; c < t->columns; c++)
		sum += t->self[c][node];
	return sum;
}

struct calltree *
calltree_reverse(const struct calltree *t)
{
	struct calltree *r = calltree_new(t->columns);

	for (size_t i = 0; i < intern_count(t->names); i++)
		intern_id(r->names, intern_text(t->names, i));
	for (uint32_t i = 1; i < t->n; i++) {
		uint32_t to = 0;

		if (sum_columns(t, i) == 0)
			continue;
		for (uint32_t k = i; k; k = t->parent[k])
			to = calltree_child(r, to, t->frame[k]);
		for (size_t c = 0; c < t->columns; c++)
			r->self[c][to] += t->self[c][i];
	}
	return r;
}
