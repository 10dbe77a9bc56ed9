#include "joining.h"
#include "branch.h"
#include "finding.h"
#include "grouping.h"
#include "mem.h"
#include "spike.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The series of one case and metric: v[first..last-1] of the branch. */
struct bundle {
	const struct branch *b;
	const struct finding_rules *r;
	size_t first, last;
	struct branch_values *values; /* by series; NULL: not read yet */
	int rc;
};

static bool
is_same_metric(const struct series *a, const struct series *b)
{
	return a->kase == b->kase && a->column == b->column;
}

static struct bundle
find_bundle(const struct branch *b, const struct series *s,
    const struct finding_rules *r)
{
	struct bundle u = {.b = b, .r = r, .first = (size_t)(s - b->series)};

	while (u.first > 0 && is_same_metric(s, &b->series[u.first - 1]))
		u.first--;
	u.last = u.first;
	while (u.last < b->nseries && is_same_metric(s, &b->series[u.last]))
		u.last++;
	return u;
}

static void
read_bundle(struct bundle *u)
{
	if (u->values)
		return;
	u->values = mem_array(u->last - u->first, sizeof *u->values);
	for (size_t i = u->first; i < u->last; i++)
		if (branch_read_values(
			u->b, &u->b->series[i], &u->values[i - u->first]) < 0)
			u->rc = -1;
}

static void
free_bundle(struct bundle *u)
{
	for (size_t i = 0; u->values && i < u->last - u->first; i++)
		branch_free_values(&u->values[i]);
	free(u->values);
}

/* Has the series enough points on both sides of the finding to show it? */
static bool
could_show(const struct bundle *u, const struct branch_values *v,
    const struct finding *f)
{
	size_t before = 0, after = 0;
	size_t least =
	    u->r->latest || strcmp(f->method, "exact") == 0 ? 1 : SPIKE_POINTS;

	for (size_t i = 0; i < u->b->npoints && v->v; i++) {
		before += i < f->lo && !isnan(v->v[i]);
		after += i >= f->hi && !isnan(v->v[i]);
	}
	return before >= least && after >= least;
}

static bool
has_part(const struct finding *f, size_t machine)
{
	for (size_t i = 0; i < f->nparts; i++)
		if (f->parts[i].machine == machine)
			return true;
	return false;
}

static void
find_machines_without(struct finding *f, struct bundle *u)
{
	read_bundle(u);
	f->without = mem_array(u->last - u->first, sizeof *f->without);
	for (size_t i = u->first; i < u->last; i++) {
		size_t machine = u->b->series[i].machine;

		if (!has_part(f, machine) &&
		    could_show(u, &u->values[i - u->first], f))
			f->without[f->nwithout++] = machine;
	}
}

static struct finding_part
make_part(const struct finding *f)
{
	return (struct finding_part){.machine = f->series->machine,
	    .n = {f->n[0], f->n[1]},
	    .median = {f->facts.median[0], f->facts.median[1]},
	    .ratio = f->facts.ratio,
	    .lo95 = f->facts.lo95,
	    .hi95 = f->facts.hi95};
}

/* Is 'a' the one to show, rather than 'b'? */
static bool
is_better(const struct finding *a, const struct finding *b)
{
	bool counts = finding_is_counted(a);

	if (counts != finding_is_counted(b))
		return counts;
	return a->evidence > b->evidence; /* not if one is NAN */
}

/* Makes one finding of n, which it takes, of different machines. */
static struct finding
join_findings(struct finding *const *v, size_t n, struct bundle *u)
{
	size_t best = 0;
	struct finding f;

	for (size_t i = 1; i < n; i++)
		if (is_better(v[i], v[best]))
			best = i;
	f = *v[best];
	f.parts = mem_array(n, sizeof *f.parts);
	f.parts[f.nparts++] = make_part(&f);
	for (size_t i = 0; i < n; i++) {
		if (i == best)
			continue;
		f.parts[f.nparts++] = make_part(v[i]);
		finding_drop(v[i]);
		if (f.kind == FINDING_TREND)
			continue;
		f.lo = v[i]->lo > f.lo ? v[i]->lo : f.lo;
		f.hi = v[i]->hi < f.hi ? v[i]->hi : f.hi;
		f.fresh &= v[i]->fresh;
	}
	f.at = f.at < f.lo ? f.lo : f.at > f.hi ? f.hi : f.at;
	find_machines_without(&f, u);
	return f;
}

/* Returns how many of the findings v[0..n-1], ordered by their end, are of one
 * change: none of the same machine. */
static size_t
count_joined(struct finding *const *v, size_t n)
{
	size_t k = 1;

	for (; k < n && v[k]->kind == v[0]->kind &&
	     finding_direction(v[k]) == finding_direction(v[0]) &&
	     v[k]->lo <= v[0]->hi;
	     k++)
		for (size_t i = 0; i < k; i++)
			if (v[i]->series == v[k]->series)
				return k;
	return k;
}

/* Joins the n findings of a bundle to 'out'. Returns their new number. */
static size_t
join_bundle(struct finding **v, size_t n, struct bundle *u, struct finding *out)
{
	size_t kept = 0;

	qsort(v, n, sizeof *v, grouping_compare_ends);
	for (size_t i = 0, k; i < n; i += k) {
		k = count_joined(v + i, n - i);
		out[kept] = join_findings(v + i, k, u);
		for (size_t j = 0; j < kept; j++)
			out[kept].twin |= out[j].at == out[kept].at &&
			    (out[j].kind == FINDING_TREND) ==
				(out[kept].kind == FINDING_TREND);
		kept++;
	}
	return kept;
}

/* Sets v[0..] to the findings of the case and metric of all->v[i]. Returns
 * their number. */
static size_t
collect_bundle(struct findings *all, size_t i, struct finding **v)
{
	size_t n = 0;

	for (; i + n < all->n &&
	     is_same_metric(all->v[i].series, all->v[i + n].series);
	     n++)
		v[n] = &all->v[i + n];
	return n;
}

void
joining_match(struct findings *all)
{
	struct finding **v = mem_array(all->n + 1, sizeof(struct finding *));

	for (size_t i = 0, n; i < all->n; i += n) {
		n = collect_bundle(all, i, v);
		qsort(v, n, sizeof *v, grouping_compare_ends);
		for (size_t j = 0, k; j < n; j += k) {
			k = count_joined(v + j, n - j);
			for (size_t l = j; l < j + k; l++)
				v[l]->joint = (size_t)(v[j] - all->v);
		}
	}
	free(v);
}

int
joining_make(
    struct findings *all, const struct branch *b, const struct finding_rules *r)
{
	struct finding **v, *out;
	size_t kept = 0;
	int rc = 0;

	if (b->machines < 2)
		return 0;
	v = mem_array(all->n + 1, sizeof(struct finding *));
	out = mem_array(all->n + 1, sizeof *out);
	for (size_t i = 0, n; i < all->n; i += n) {
		struct bundle u = find_bundle(b, all->v[i].series, r);

		n = collect_bundle(all, i, v);
		kept += join_bundle(v, n, &u, out + kept);
		rc |= u.rc;
		free_bundle(&u);
	}
	free(v);
	free(all->v);
	all->v = out;
	all->n = kept;
	all->cap = kept;
	return rc;
}
