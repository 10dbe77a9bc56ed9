#include "calltree.h"
#include "mem.h"
#include "names.h"
#include "str.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct calltree_index {
	uint64_t *slots; /* a node, and half of its hash; 0: empty */
	size_t size;
	size_t cap; /* of the arrays by node */
};

struct calltree *
calltree_new(size_t columns)
{
	struct calltree *t = mem_new(sizeof *t);

	t->columns = columns;
	t->self = mem_array(columns, sizeof *t->self);
	t->total = mem_array(columns, sizeof *t->total);
	t->names = names_new();
	t->index = mem_new(sizeof *t->index);
	t->index->size = 1024;
	t->index->slots = mem_array(1024, sizeof *t->index->slots);
	calltree_child(t, CALLTREE_NONE, CALLTREE_NONE);
	return t;
}

static void
drop_index(struct calltree *t)
{
	if (t->index)
		free(t->index->slots);
	free(t->index);
	t->index = NULL;
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
	drop_index(t);
	names_free(t->names);
	free(t);
}

static bool
is_plain(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((signed char)s[i] < ' ' || s[i] == 0x7f)
			return false; /* other than ASCII is below 0 */
	return true;
}

uint32_t
calltree_frame(struct calltree *t, const char *name, size_t n)
{
	struct str s = {0};
	char *copy, *nul;
	size_t id;

	if (is_plain(name, n))
		return (uint32_t)names_idn(t->names, name, n);
	copy = mem_strn(name, n);
	while ((nul = memchr(copy, 0, n)))
		*nul = '\1';
	str_visible(&s, copy);
	free(copy);
	id = names_idn(t->names, s.s, s.len);
	str_free(&s);
	return (uint32_t)id;
}

const char *
calltree_name(const struct calltree *t, uint32_t node)
{
	return node ? names_text(t->names, t->frame[node]) : "";
}

static size_t
hash(uint32_t parent, uint32_t frame)
{
	uint64_t h = ((uint64_t)parent << 32 | frame) * 0x9e3779b97f4a7c15ULL;

	return (size_t)(h ^ h >> 29);
}

static uint64_t
slot(uint32_t node, size_t h)
{
	return (uint64_t)node << 32 | (uint32_t)(h >> 32);
}

static void
more_slots(struct calltree *t)
{
	struct calltree_index *x = t->index;
	size_t mask = 2 * x->size - 1;

	free(x->slots);
	x->size *= 2;
	x->slots = mem_array(x->size, sizeof *x->slots);
	for (uint32_t i = 1; i < t->n; i++) {
		size_t h = hash(t->parent[i], t->frame[i]), at = h & mask;

		while (x->slots[at])
			at = (at + 1) & mask;
		x->slots[at] = slot(i, h);
	}
}

static uint32_t
new_node(struct calltree *t, uint32_t parent, uint32_t frame)
{
	size_t *cap = &t->index->cap;

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

uint32_t
calltree_child(struct calltree *t, uint32_t parent, uint32_t frame)
{
	struct calltree_index *x = t->index;
	size_t at, h = hash(parent, frame);
	uint32_t node;

	if (!t->n)
		return new_node(t, parent, frame);
	if (2 * (size_t)t->n > x->size)
		more_slots(t);
	at = h & (x->size - 1);
	for (uint64_t s; (s = x->slots[at]); at = (at + 1) & (x->size - 1)) {
		node = (uint32_t)(s >> 32);
		if ((uint32_t)s == (uint32_t)(h >> 32) &&
		    t->parent[node] == parent && t->frame[node] == frame)
			return node;
	}
	node = new_node(t, parent, frame);
	x->slots[at] = slot(node, h);
	return node;
}

/* Nodes by name: what is put to the front of its siblings last is first. */
static void
link_siblings(struct calltree *t, const uint32_t *rank, size_t names)
{
	uint32_t *start = mem_array(names + 1, sizeof *start);
	uint32_t *order = mem_array(t->n, sizeof *order);

	for (uint32_t i = 1; i < t->n; i++)
		start[rank[t->frame[i]]]++;
	for (size_t r = 0, sum = 0; r < names; r++) {
		size_t k = start[r];

		start[r] = (uint32_t)sum;
		sum += k;
	}
	for (uint32_t i = 1; i < t->n; i++)
		order[start[rank[t->frame[i]]]++] = i;
	t->child = mem_array(t->n, sizeof *t->child);
	t->next = mem_array(t->n, sizeof *t->next);
	for (uint32_t k = t->n - 1; k > 0; k--) {
		uint32_t i = order[k - 1], p = t->parent[i];

		t->next[i] = t->child[p];
		t->child[p] = i;
	}
	free(order);
	free(start);
}

void
calltree_sum(struct calltree *t)
{
	uint32_t *rank = names_rank(t->names);

	drop_index(t);
	for (size_t c = 0; c < t->columns; c++) {
		t->total[c] = mem_array(t->n, sizeof **t->total);
		memcpy(t->total[c], t->self[c], t->n * sizeof **t->total);
		for (uint32_t i = t->n - 1; i > 0; i--)
			t->total[c][t->parent[i]] += t->total[c][i];
	}
	link_siblings(t, rank, names_count(t->names));
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
calltree_after(const struct calltree *t, uint32_t node, int skip)
{
	if (!skip && t->child[node])
		return t->child[node];
	while (node && !t->next[node])
		node = t->parent[node];
	return node ? t->next[node] : CALLTREE_NONE;
}

static double
any(const struct calltree *t, uint32_t node)
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

	for (uint32_t i = 1; i < t->n; i++) {
		uint32_t to = 0;

		if (any(t, i) == 0)
			continue;
		for (uint32_t k = i; k; k = t->parent[k]) {
			const char *name = calltree_name(t, k);

			to = calltree_child(
			    r, to, calltree_frame(r, name, strlen(name)));
		}
		for (size_t c = 0; c < t->columns; c++)
			r->self[c][to] += t->self[c][i];
	}
	return r;
}
