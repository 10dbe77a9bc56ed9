#include "changegroup.h"
#include "changetext.h"
#include "json.h"
#include "mem.h"
#include "str.h"
#include "trends.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool
is_kind(const struct json *change, const char *kind)
{
	return strcmp(json_get_str(change, "kind"), kind) == 0;
}

static enum changegroup_state
find_state(const struct json *change)
{
	const char *way = changetext_way(change);

	if (strcmp(way, "spike") == 0)
		return CHANGEGROUP_SPIKE;
	if (strcmp(way, "regression") != 0)
		return strcmp(way, "improvement") == 0 ? CHANGEGROUP_BETTER
						       : CHANGEGROUP_OTHER;
	if (json_get(change, "waiver"))
		return CHANGEGROUP_WAIVED;
	if (strcmp(json_get_str(change, "class"), "gate") != 0)
		return CHANGEGROUP_INFO;
	return json_get_bool(change, "new", false) ? CHANGEGROUP_OPEN
						   : CHANGEGROUP_BACK;
}

static double
find_size(const struct json *change)
{
	double ratio = json_get_num(change, "ratio", 0);

	return ratio > 0 ? fabs(log(ratio)) : INFINITY;
}

static struct changegroup *
find_group(struct changegroups *all, const struct json *change)
{
	const char *key = json_get_str(change, "group");
	struct changegroup *g;

	if (!key)
		key = "";
	for (size_t i = all->n; i-- > 0;)
		if (*key && strcmp(all->v[i].key, key) == 0)
			return &all->v[i];
	g = MEM_ADD(all->v, all->n, all->cap);
	*g = (struct changegroup){.key = key,
	    .slow = is_kind(change, "trend"),
	    .state = CHANGEGROUP_SPIKE};
	return g;
}

static int
compare_sizes(const void *a, const void *b)
{
	const struct changegroup_one *x = a, *y = b;

	if (x->primary != y->primary)
		return x->primary ? -1 : 1;
	if (x->size != y->size)
		return x->size < y->size ? 1 : -1;
	if (x->kase != y->kase)
		return x->kase < y->kase ? -1 : 1;
	return strcmp(
	    json_get_str(x->rec, "metric"), json_get_str(y->rec, "metric"));
}

static int
compare_groups(const void *a, const void *b)
{
	const struct changegroup *x = a, *y = b;

	if (x->state != y->state)
		return x->state < y->state ? -1 : 1;
	if (x->slow != y->slow)
		return x->slow ? 1 : -1;
	if (x->at != y->at)
		return x->at < y->at ? 1 : -1;
	return strcmp(x->key, y->key);
}

/* Returns the commit of most changes, the first of equally many. */
static size_t
find_common_commit(const struct changegroup *g)
{
	size_t best = g->v[0].at, most = 0;

	for (size_t i = 0; i < g->n; i++) {
		size_t k = 0;

		for (size_t j = 0; j < g->n; j++)
			k += g->v[j].at == g->v[i].at;
		if (k > most || (k == most && g->v[i].at < best)) {
			best = g->v[i].at;
			most = k;
		}
	}
	return best;
}

/* Returns the last commit of a slow change or a spike that begins at 'at'. */
static size_t
find_end(const struct trends *t, const struct json *change, size_t at)
{
	double points = json_num(json_at(json_get(change, "n"), 1), 1);
	size_t last = trends_find_place(
	    t, json_num(json_at(json_get(change, "indexes"), 1), -1));

	if (at == t->n)
		return at;
	if (is_kind(change, "trend") && last < t->n)
		return last;
	return points >= 1 && points <= (double)(t->n - at)
	    ? at + (size_t)points - 1
	    : at;
}

static void
add_change(
    struct changegroup *g, const struct trends *t, const struct json *rec)
{
	enum changegroup_state state = find_state(rec);
	struct changegroup_one one = {.rec = rec,
	    .kase = trends_find_case(t, json_get(rec, "config")),
	    .at = trends_find_commit(t, json_get(rec, "subject")),
	    .size = find_size(rec)};

	one.primary = one.kase < t->ncases &&
	    strcmp(json_get_str(rec, "metric"), t->cases[one.kase].primary) ==
		0;
	one.end = g->slow || state == CHANGEGROUP_SPIKE
	    ? find_end(t, rec, one.at)
	    : one.at;
	*MEM_ADD(g->v, g->n, g->cap) = one;
	g->state = state < g->state ? state : g->state;
}

static void
complete_group(struct changegroup *g, const struct trends *t)
{
	qsort(g->v, g->n, sizeof *g->v, compare_sizes);
	g->at = find_common_commit(g);
	g->back = t->n;
	for (size_t i = 0; g->state == CHANGEGROUP_BACK && i < g->n; i++)
		if (g->back == t->n && json_get(g->v[i].rec, "reverted"))
			g->back = trends_find_commit(
			    t, json_get(g->v[i].rec, "reverted"));
}

void
changegroup_make(struct changegroups *all, const struct trends *t,
    struct json *const *records, size_t n)
{
	*all = (struct changegroups){0};
	for (size_t i = 0; i < n; i++)
		add_change(find_group(all, records[i]), t, records[i]);
	for (size_t i = 0; i < all->n; i++)
		complete_group(&all->v[i], t);
	mem_sort(all->v, all->n, sizeof *all->v, compare_groups);
}

void
changegroup_free(struct changegroups *all)
{
	for (size_t i = 0; i < all->n; i++)
		free(all->v[i].v);
	free(all->v);
}

const char *
changegroup_class(const struct changegroup *g)
{
	switch (g->state) {
	case CHANGEGROUP_OPEN:
		return "regression";
	case CHANGEGROUP_BETTER:
		return "improvement";
	case CHANGEGROUP_SPIKE:
		return "spike";
	default:
		return "same";
	}
}

void
changegroup_kind(struct str *s, const struct changegroup *g)
{
	static const char *const ends[] = {[CHANGEGROUP_BACK] = ", reverted",
	    [CHANGEGROUP_WAIVED] = ", waived",
	    [CHANGEGROUP_INFO] = ", does not count",
	    [CHANGEGROUP_SPIKE] = ""};
	const char *way = changetext_way(g->v[0].rec);

	str_add(s, g->slow ? "slow " : "");
	str_add(s, strcmp(way, "different") == 0 ? "change" : way);
	str_add(s, ends[g->state] ? ends[g->state] : "");
}

void
changegroup_percent(struct str *s, const struct json *change)
{
	const struct changetext t = changetext_read(change);

	changetext_percent(s, &t);
}

size_t
changegroup_cases(const struct changegroup *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++) {
		size_t k = 0;

		while (k < i && g->v[k].kase != g->v[i].kase)
			k++;
		n += k == i;
	}
	return n;
}
