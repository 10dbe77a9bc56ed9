#include "ancestry.h"
#include "clock.h"
#include "json.h"
#include "mem.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

#define NONE ((size_t)-1)

struct node {
	struct json *rec;
	const char *id;    /* borrowed from it */
	char *time;        /* UTC, to be compared as text; or NULL */
	size_t parent;     /* index of the first parent; NONE: not known */
	size_t line;       /* index on the line, or NONE */
	size_t measured;   /* measured commits from here to the root */
	bool child;        /* it is the first parent of another commit */
	bool own, counted; /* it is measured; 'measured' is set */
};

struct ancestry {
	struct node *v; /* ancestry_choose sorts it by id */
	size_t n, cap;
	size_t *line; /* indexes of nodes, the root first */
	size_t length;
};

struct ancestry *
ancestry_new(void)
{
	return mem_new(sizeof(struct ancestry));
}

static void
free_node(struct node *c)
{
	json_free(c->rec);
	free(c->time);
}

void
ancestry_free(struct ancestry *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->n; i++)
		free_node(&a->v[i]);
	free(a->v);
	free(a->line);
	free(a);
}

void
ancestry_add(struct ancestry *a, struct json *rec)
{
	const char *time = json_get_str(rec, "time");
	char utc[CLOCK_ISO];

	if (time && clock_utc(utc, time) == 0)
		time = utc;
	*MEM_ADD(a->v, a->n, a->cap) = (struct node){.rec = rec,
	    .id = json_get_str(rec, "commit"),
	    .time = mem_str(time),
	    .parent = NONE,
	    .line = NONE};
}

/* The longest of several records of one commit comes first. */
static int
compare_by_id(const void *a, const void *b)
{
	const struct node *x = a, *y = b;
	int c = strcmp(x->id, y->id);
	char *s, *t;

	if (c)
		return c;
	s = json_print(x->rec);
	t = json_print(y->rec);
	c = (strlen(s) < strlen(t)) - (strlen(s) > strlen(t));
	c = c ? c : strcmp(s, t);
	free(s);
	free(t);
	return c;
}

/* Returns the index of the commit 'id'; either id may be abbreviated. NONE if
 * there is none, or several. */
static size_t
find_commit(const struct ancestry *a, const char *id)
{
	size_t lo = 0, hi = a->n, n = id ? strlen(id) : 0;

	if (n < 4)
		return NONE;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (strcmp(a->v[mid].id, id) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < a->n && strcmp(a->v[lo].id, id) == 0)
		return lo;
	if (lo < a->n && strncmp(a->v[lo].id, id, n) == 0)
		return lo + 1 < a->n && strncmp(a->v[lo + 1].id, id, n) == 0
		    ? NONE
		    : lo;
	if (lo > 0 && strlen(a->v[lo - 1].id) >= 7 &&
	    str_starts(id, a->v[lo - 1].id))
		return lo - 1;
	return NONE;
}

static void
link_parents(struct ancestry *a)
{
	size_t kept = 0;

	mem_sort(a->v, a->n, sizeof *a->v, compare_by_id);
	for (size_t i = 0; i < a->n; i++)
		if (kept && strcmp(a->v[kept - 1].id, a->v[i].id) == 0)
			free_node(&a->v[i]);
		else
			a->v[kept++] = a->v[i];
	a->n = kept;
	for (size_t i = 0; i < a->n; i++) {
		const struct json *p =
		    json_first(json_get(a->v[i].rec, "parents"));
		size_t k = find_commit(a, json_str(p));

		a->v[i].parent = k == i ? NONE : k;
		if (k != NONE && k != i)
			a->v[k].child = true;
	}
}

/* Sets 'measured' from the root to 'head', along first parents. Stops at
 * counted commits, and so in a cycle. */
static void
count_measured(struct ancestry *a, size_t head, size_t *path)
{
	size_t n = 0;

	for (size_t i = head; i != NONE && !a->v[i].counted;
	     i = a->v[i].parent) {
		a->v[i].counted = true;
		path[n++] = i;
	}
	while (n-- > 0) {
		struct node *c = &a->v[path[n]];

		c->measured = c->own;
		if (c->parent != NONE)
			c->measured += a->v[c->parent].measured;
	}
}

static bool
is_better_line(const struct node *x, const struct node *y)
{
	int c;

	if (x->measured != y->measured)
		return x->measured > y->measured;
	c = strcmp(x->time ? x->time : "", y->time ? y->time : "");
	return c ? c > 0 : strcmp(x->id, y->id) > 0;
}

void
ancestry_choose(struct ancestry *a, const char *const *measured, size_t n)
{
	size_t best = NONE, k, *path;

	link_parents(a);
	path = mem_array(a->n + 1, sizeof *path);
	for (size_t i = 0; i < n; i++)
		if ((k = find_commit(a, measured[i])) != NONE)
			a->v[k].own = true;
	for (size_t i = 0; i < a->n; i++) {
		if (a->v[i].child)
			continue;
		count_measured(a, i, path);
		if (best == NONE || is_better_line(&a->v[i], &a->v[best]))
			best = i;
	}
	free(path);
	if (best == NONE || !a->v[best].measured)
		return;
	a->line = mem_array(a->n, sizeof *a->line);
	for (k = best; k != NONE && a->v[k].line == NONE; k = a->v[k].parent)
		a->v[k].line = a->length++;
	k = best;
	for (size_t i = a->length; i-- > 0; k = a->v[k].parent) {
		a->line[i] = k;
		a->v[k].line = i;
	}
}

enum ancestry_place
ancestry_find(
    const struct ancestry *a, const char *id, const char *time, double *at)
{
	size_t i = find_commit(a, id), steps = 0;

	*at = -1;
	if (i != NONE && a->v[i].line != NONE) {
		*at = (double)a->v[i].line;
		return ANCESTRY_LINE;
	}
	if (i != NONE && a->v[i].time)
		time = a->v[i].time;
	for (; i != NONE && steps < a->n; i = a->v[i].parent, steps++)
		if (a->v[i].line != NONE)
			return ANCESTRY_SIDE;
	for (size_t k = a->length; time && k-- > 0;)
		if (a->v[a->line[k]].time &&
		    strcmp(a->v[a->line[k]].time, time) <= 0) {
			*at = (double)k + .5;
			return ANCESTRY_UNKNOWN;
		}
	if (time && a->length && a->v[a->line[0]].time)
		*at = -.5;
	return ANCESTRY_UNKNOWN;
}

size_t
ancestry_length(const struct ancestry *a)
{
	return a->length;
}

const char *
ancestry_id(const struct ancestry *a, size_t at)
{
	return a->v[a->line[at]].id;
}

const char *
ancestry_time(const struct ancestry *a, size_t at)
{
	return a->v[a->line[at]].time;
}

const char *
ancestry_title(const struct ancestry *a, const char *id)
{
	size_t k = find_commit(a, id);

	return k == NONE ? NULL : json_get_str(a->v[k].rec, "title");
}
