#include "mappings.h"
#include "intern.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>

struct process { /* a process or thread */
	char *name;
	struct mapping *v; /* by address, without overlaps */
	size_t n, cap;
};

struct mappings {
	struct intern *ids; /* the bytes of each */
	struct process *v;  /* by the numbers of their ids */
	size_t n, cap;
};

struct mappings *
mappings_new(void)
{
	struct mappings *m = mem_new(sizeof *m);

	m->ids = intern_new();
	return m;
}

void
mappings_free(struct mappings *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n; i++) {
		free(m->v[i].name);
		free(m->v[i].v);
	}
	free(m->v);
	intern_free(m->ids);
	free(m);
}

static struct process *
get_process(struct mappings *m, uint32_t id)
{
	size_t i = intern_idn(m->ids, (const char *)&id, sizeof id);

	if (i == m->n) {
		m->v = mem_grow(m->v, m->n, &m->cap, sizeof *m->v);
		m->v[m->n++] = (struct process){0};
	}
	return &m->v[i];
}

/* Returns the index of the first mapping that ends after an address. */
static size_t
find_first_ending_after(const struct process *p, uint64_t at)
{
	size_t lo = 0, hi = p->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->v[mid].end <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void
insert_mapping(struct process *p, size_t i, struct mapping m)
{
	p->v = mem_grow(p->v, p->n, &p->cap, sizeof *p->v);
	memmove(&p->v[i + 1], &p->v[i], (p->n - i) * sizeof *p->v);
	p->v[i] = m;
	p->n++;
}

/* Unmaps a range. Returns the index where a new mapping belongs. */
static size_t
cut_hole(struct process *p, uint64_t start, uint64_t end)
{
	size_t i = find_first_ending_after(p, start), k;

	if (i < p->n && p->v[i].start < start) {
		if (p->v[i].end > end) {
			struct mapping tail = p->v[i];

			tail.offset += end - tail.start;
			tail.start = end;
			insert_mapping(p, i + 1, tail);
		}
		p->v[i++].end = start;
	}
	for (k = i; k < p->n && p->v[k].end <= end;)
		k++;
	if (k < p->n && p->v[k].start < end) {
		p->v[k].offset += end - p->v[k].start;
		p->v[k].start = end;
	}
	memmove(&p->v[i], &p->v[k], (p->n - k) * sizeof *p->v);
	p->n -= k - i;
	return i;
}

void
mappings_add(struct mappings *all, uint32_t pid, struct mapping m)
{
	struct process *p = get_process(all, pid);

	if (m.start < m.end)
		insert_mapping(p, p->n ? cut_hole(p, m.start, m.end) : 0, m);
}

void
mappings_fork(struct mappings *m, uint32_t pid, uint32_t tid, uint32_t parent,
    uint32_t parent_tid)
{
	struct process from, *to;

	mappings_set_name(m, tid, mappings_get_name(m, parent_tid));
	if (pid == parent)
		return;
	from = *get_process(m, parent);
	to = get_process(m, pid);
	free(to->v);
	to->v = mem_array(from.n + 1, sizeof *to->v);
	if (from.n)
		memcpy(to->v, from.v, from.n * sizeof *to->v);
	to->n = from.n;
	to->cap = from.n + 1;
}

const struct mapping *
mappings_find(struct mappings *m, uint32_t pid, uint64_t at)
{
	const struct process *p = get_process(m, pid);
	size_t i = find_first_ending_after(p, at);

	return i < p->n && p->v[i].start <= at ? &p->v[i] : NULL;
}

void
mappings_set_name(struct mappings *m, uint32_t tid, const char *name)
{
	char *copy = mem_str(name); /* 'name' may be in the array that moves */
	struct process *p = get_process(m, tid);

	free(p->name);
	p->name = copy;
}

const char *
mappings_get_name(struct mappings *m, uint32_t tid)
{
	return get_process(m, tid)->name;
}
