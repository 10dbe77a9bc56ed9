#include "symtab.h"
#include "mem.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096

struct symbol {
	uint64_t at, end;
	char *name;
	unsigned bind;
	size_t order; /* order of insertion */
};

struct symtab {
	struct symbol *v;
	size_t n, cap;
};

struct symtab *
symtab_new(void)
{
	return mem_new(sizeof(struct symtab));
}

void
symtab_free(struct symtab *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++)
		free(t->v[i].name);
	free(t->v);
	free(t);
}

void
symtab_add(struct symtab *t, uint64_t at, uint64_t size, unsigned bind,
    const char *name, size_t n)
{
	if (size > UINT64_MAX - at)
		return;
	t->v = mem_grow(t->v, t->n, &t->cap, sizeof *t->v);
	t->v[t->n] = (struct symbol){.at = at,
	    .end = at + size,
	    .name = mem_strn(name, n),
	    .bind = bind,
	    .order = t->n};
	t->n++;
}

static int
count_underscores(const char *s)
{
	return (int)strspn(s, "_");
}

/* Returns true if perf prefers the second of two symbols at one address. */
static bool
prefers_second(const struct symbol *a, const struct symbol *b)
{
	int empty = (a->end == a->at) - (b->end == b->at);
	int weak = (a->bind == STB_WEAK) - (b->bind == STB_WEAK);
	int global = (b->bind == STB_GLOBAL) - (a->bind == STB_GLOBAL);
	int lines = count_underscores(a->name) - count_underscores(b->name);

	if (empty || weak)
		return empty ? empty > 0 : weak > 0;
	if (global || lines)
		return global ? global > 0 : lines > 0;
	return strlen(b->name) > strlen(a->name);
}

static int
compare_by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

void
symtab_sort(struct symtab *t)
{
	size_t n = 0;

	if (t->n)
		qsort(t->v, t->n, sizeof *t->v, compare_by_address);
	for (size_t i = 0; i < t->n; i++) {
		struct symbol *s = &t->v[i];

		if (s->end > s->at)
			continue;
		if (i + 1 < t->n)
			s->end = t->v[i + 1].at;
		else if (s->at < UINT64_MAX - 3 * PAGE)
			s->end = (s->at + PAGE - 1) / PAGE * PAGE + PAGE;
	}
	for (size_t i = 0; i < t->n; i++) {
		struct symbol s = t->v[i];

		if (!n || t->v[n - 1].at != s.at) {
			t->v[n++] = s;
		} else if (prefers_second(&t->v[n - 1], &s)) {
			free(t->v[n - 1].name);
			t->v[n - 1] = s;
		} else {
			free(s.name);
		}
	}
	t->n = n;
}

const char *
symtab_find(const struct symtab *t, uint64_t at)
{
	size_t lo = 0, hi = t->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->v[mid].at <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* The symbol before may lie within a longer one. */
	for (size_t k = 0; k < 8 && lo; k++, lo--)
		if (at < t->v[lo - 1].end)
			return t->v[lo - 1].name;
	return NULL;
}

uint64_t
symtab_find_address(const struct symtab *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->v[i].name, name) == 0)
			return t->v[i].at;
	return 0;
}
