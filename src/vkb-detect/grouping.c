#include "grouping.h"
#include "finding.h"
#include "json.h"
#include "machines.h"
#include "mem.h"
#include "reading.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARKS 8 /* one point of so many is a mark */

int
grouping_compare_ends(const void *a, const void *b)
{
	const struct finding *x = *(const struct finding *const *)a;
	const struct finding *y = *(const struct finding *const *)b;
	int c = (x->kind > y->kind) - (x->kind < y->kind);

	c = c ? c : (int)finding_direction(x) - (int)finding_direction(y);
	c = c ? c : (x->hi > y->hi) - (x->hi < y->hi);
	c = c ? c : (x->lo > y->lo) - (x->lo < y->lo);
	return c ? c : (x > y) - (x < y);
}

/* Returns the point where most changes are, the first of equally many. */
static size_t
find_common_place(struct finding *const *v, size_t n)
{
	size_t best = v[0]->at, most = 0;

	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		for (size_t j = 0; j < n; j++)
			k += v[j]->at == v[i]->at;
		if (k > most || (k == most && v[i]->at < best)) {
			best = v[i]->at;
			most = k;
		}
	}
	return best;
}

static int
compare_groups(const void *a, const void *b)
{
	const struct finding_group *x = a, *y = b;
	int c = y->counts - x->counts;

	c = c ? c : (x->kind == FINDING_SPIKE) - (y->kind == FINDING_SPIKE);
	c = c ? c : (x->at < y->at) - (x->at > y->at);
	c = c ? c : (int)x->kind - (int)y->kind;
	return c ? c : (int)x->way - (int)y->way;
}

static void
add_point_name(struct str *s, const struct point *p)
{
	if (p->commit)
		str_add(s, p->commit);
	else
		json_canonical(s, p->subject);
}

static unsigned long long
hash_point(const struct point *p)
{
	struct str s = {0};
	unsigned long long h;

	add_point_name(&s, p);
	h = str_hash(STR_HASH, s.s, s.len);
	str_free(&s);
	return h;
}

static void
set_group_keys(struct findings *all, const struct branch *b, bool latest)
{
	struct finding_group *g = all->groups, *other;

	for (size_t i = 0; i < all->ngroups; i++) {
		g[i].mark = g[i].at;
		while (!latest && g[i].mark > 0 &&
		    hash_point(&b->points[g[i].mark]) % MARKS != 0)
			g[i].mark--;
	}
	for (size_t i = 0; i < all->ngroups; i++) {
		struct str s = {0};
		size_t before = 0;

		for (other = g; other < g + all->ngroups; other++)
			before += other->kind == g[i].kind &&
			    other->way == g[i].way &&
			    other->mark == g[i].mark && other->at < g[i].at;
		str_printf(&s, "%s\n%s%zu\n", finding_name_kind(g[i].kind),
		    g[i].kind == FINDING_TREND ? finding_name_kind(g[i].way)
					       : "",
		    before);
		if (g[i].mark > 0 || latest)
			str_printf(
			    &s, "%llx", hash_point(&b->points[g[i].mark]));
		snprintf(g[i].key, sizeof g[i].key, "%016llx",
		    str_hash(STR_HASH, s.s, s.len));
		str_free(&s);
	}
}

/*
 * Groups changes of one kind with overlapping ranges: each group takes all
 * changes whose range contains the earliest end of a range, so that they have a
 * common point.
 */
static void
group_findings(struct findings *all)
{
	struct finding **v = mem_array(all->n + 1, sizeof(struct finding *));
	size_t *now = mem_array(all->n + 1, sizeof *now);

	for (size_t i = 0; i < all->n; i++)
		v[i] = &all->v[i];
	if (all->n)
		qsort(
		    v, all->n, sizeof(struct finding *), grouping_compare_ends);
	all->groups = mem_array(all->n + 1, sizeof *all->groups);
	for (size_t i = 0, k; i < all->n; i += k) {
		struct finding_group *g = &all->groups[all->ngroups];

		*g = (struct finding_group){.kind = v[i]->kind,
		    .way = finding_direction(v[i]),
		    .hi = v[i]->hi,
		    .lo = v[i]->lo};
		for (k = 0; i + k < all->n && v[i + k]->kind == g->kind &&
		     finding_direction(v[i + k]) == g->way &&
		     v[i + k]->lo <= g->hi;
		     k++) {
			g->counts |= finding_is_counted(v[i + k]);
			if (v[i + k]->lo > g->lo)
				g->lo = v[i + k]->lo;
			v[i + k]->group = all->ngroups;
		}
		g->n = k;
		g->at = find_common_place(v + i, k);
		g->at = g->at < g->lo ? g->lo : g->at;
		g->at = g->at > g->hi ? g->hi : g->at;
		all->ngroups++;
	}
	for (size_t i = 0; i < all->ngroups; i++)
		all->groups[i].was = i;
	if (all->ngroups)
		qsort(all->groups, all->ngroups, sizeof *all->groups,
		    compare_groups);
	for (size_t i = 0; i < all->ngroups; i++)
		now[all->groups[i].was] = i;
	for (size_t i = 0; i < all->n; i++)
		all->v[i].group = now[all->v[i].group];
	free(now);
	free(v);
}

/* Does the finding, at the place of the other and of the same case, outweigh
 * it? */
static bool
is_outweighing(const struct finding *f, const struct finding *other)
{
	return f->series->kase == other->series->kase && f->gate &&
	    (f->kind == FINDING_IMPROVEMENT ||
		f->kind == FINDING_LIKELY_IMPROVEMENT) &&
	    verdict_outweighs(f->metric.name, &f->facts,
		metric_primary(f->series->config), other->metric.name,
		&other->facts) &&
	    f->lo <= other->hi && other->lo <= f->hi;
}

/* More allocations or system calls are not a regression of a case that takes
 * less. */
static void
outweigh_findings(struct findings *all, bool latest)
{
	for (size_t i = 0; i < all->n; i++) {
		struct finding *f = &all->v[i];
		bool less = false;

		if (f->kind != FINDING_REGRESSION)
			continue;
		for (size_t k = 0; k < all->n; k++)
			less |= is_outweighing(&all->v[k], f);
		if (!less)
			continue;
		f->kind = FINDING_DIFFERENT;
		all->verdicts[VERDICT_REGRESSION] -= latest && f->gate;
		all->verdicts[VERDICT_DIFFERENT] += latest && f->gate;
	}
}

void
grouping_make(struct findings *all, const struct branch *b, bool latest)
{
	outweigh_findings(all, latest);
	group_findings(all);
	set_group_keys(all, b, latest);
}

char *
finding_make_key(const struct finding *f, const struct branch *b)
{
	struct str s = {0};
	char *key;

	str_add(&s, f->metric.name);
	str_addc(&s, '\n');
	json_canonical(&s, f->series->config);
	str_addc(&s, '\n');
	add_point_name(&s, &b->points[f->at]);
	if (f->kind == FINDING_TREND)
		str_add(&s, "\ntrend");
	if (f->twin)
		str_printf(&s, "\n%s",
		    machines_name(b->reading->machines, f->series->machine));
	key = mem_printf("%016llx", str_hash(STR_HASH, s.s, s.len));
	str_free(&s);
	return key;
}
