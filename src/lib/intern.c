#include "intern.h"
#include "jsonhash.h"
#include "mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct name {
	char *s;
	size_t n;
};

struct intern {
	struct name *v;
	size_t n, cap;
	size_t *slots; /* open addressing: id + 1 */
	size_t size;
	size_t last; /* id of the last look-up */
};

struct intern *
intern_new(void)
{
	return mem_new(sizeof(struct intern));
}

void
intern_free(struct intern *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++)
		free(t->v[i].s);
	free(t->v);
	free(t->slots);
	free(t);
}

const char *
intern_text(const struct intern *t, size_t id)
{
	return t->v[id].s;
}

static bool
equals_text(const struct name *have, const char *text, size_t n)
{
	return have->n == n && memcmp(have->s, text, n) == 0;
}

/* Returns the slot of a text, or the empty slot where it belongs. */
static size_t *
find_text_slot(const struct intern *t, const char *text, size_t n)
{
	size_t at = jsonhash_bytes(0, text, n) & (t->size - 1);

	while (t->slots[at] && !equals_text(&t->v[t->slots[at] - 1], text, n))
		at = (at + 1) & (t->size - 1);
	return &t->slots[at];
}

size_t
intern_id(struct intern *t, const char *text)
{
	return intern_idn(t, text, strlen(text));
}

size_t
intern_idn(struct intern *t, const char *text, size_t n)
{
	size_t *to;

	/* Most often it is that of the last look-up, or the next one. */
	for (size_t i = t->last; i < t->n && i < t->last + 2; i++)
		if (equals_text(&t->v[i], text, n))
			return t->last = i;
	if (2 * (t->n + 1) > t->size) {
		t->size = t->size ? 2 * t->size : 64;
		free(t->slots);
		t->slots = mem_array(t->size, sizeof *t->slots);
		for (size_t i = 0; i < t->n; i++)
			*find_text_slot(t, t->v[i].s, t->v[i].n) = i + 1;
	}
	to = find_text_slot(t, text, n);
	if (!*to) {
		*MEM_ADD(t->v, t->n, t->cap) =
		    (struct name){mem_strn(text, n), n};
		*to = t->n;
	}
	t->last = *to - 1;
	return t->last;
}

size_t
intern_find(const struct intern *t, const char *text, size_t n)
{
	size_t id = t->size ? *find_text_slot(t, text, n) : 0;

	return id ? id - 1 : t->n;
}

size_t
intern_pair(struct intern *t, size_t a, size_t b)
{
	const size_t pair[] = {a, b};

	return intern_idn(t, (const char *)pair, sizeof pair);
}

size_t
intern_count(const struct intern *t)
{
	return t->n;
}

static int
compare_texts_by_id(const void *a, const void *b, void *arg)
{
	const struct intern *t = arg;

	return strcmp(
	    t->v[*(const uint32_t *)a].s, t->v[*(const uint32_t *)b].s);
}

uint32_t *
intern_rank(const struct intern *t)
{
	uint32_t *at = mem_array(t->n, sizeof *at);
	uint32_t *rank = mem_array(t->n, sizeof *rank);

	for (uint32_t i = 0; i < t->n; i++)
		at[i] = i;
	qsort_r(
	    at, t->n, sizeof *at, compare_texts_by_id, (void *)(uintptr_t)t);
	for (uint32_t i = 0; i < t->n; i++)
		rank[at[i]] = i;
	free(at);
	return rank;
}
