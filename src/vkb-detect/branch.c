#include "branch.h"
#include "ancestry.h"
#include "casename.h"
#include "column.h"
#include "err.h"
#include "reading.h"
#include "json.h"
#include "kinds.h"
#include "listing.h"
#include "machines.h"
#include "mem.h"
#include "intern.h"
#include "record.h"
#include "stats.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool
is_dirty(const struct point *p)
{
	return p->commit && str_ends(p->commit, BRANCH_DIRTY);
}

/* Names a point by its commit rather than by a label, which all may share. */
static char *
make_point_name(const struct point *p)
{
	const char *suffix = is_dirty(p) ? BRANCH_DIRTY : "";
	char *commit, *brief, *name;

	if (!p->commit)
		return record_subject_name(p->subject);
	commit = mem_strn(p->commit, strlen(p->commit) - strlen(suffix));
	brief = record_commit_brief(commit, 8);
	name = mem_printf("%s%s", brief, suffix);
	free(commit);
	free(brief);
	return name;
}

struct turn {
	struct point point;
	size_t was;
};

/* Points with equal times stay in the order of the input. */
static int
compare_by_time(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;
	int c = strcmp(x->point.time, y->point.time);

	c = c ? c : is_dirty(&x->point) - is_dirty(&y->point);
	return c ? c : (x->was > y->was) - (x->was < y->was);
}

/* Lost points come last; equal places stay in the order of the input. */
static int
compare_by_place(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;
	int c = x->point.lost - y->point.lost;

	c = c ? c : (x->point.at > y->point.at) - (x->point.at < y->point.at);
	if (!c && x->point.time && y->point.time && x->point.at >= 0 &&
	    x->point.at != floor(x->point.at))
		c = strcmp(x->point.time, y->point.time);
	return c ? c : (x->was > y->was) - (x->was < y->was);
}

static void
place_points(struct branch *h)
{
	struct ancestry *a = h->reading->ancestry;
	const char **ids = mem_array(h->npoints + 1, sizeof *ids);
	enum ancestry_place where;

	for (size_t i = 0; i < h->npoints; i++)
		ids[i] = h->points[i].commit;
	ancestry_choose(a, ids, h->npoints);
	free(ids);
	h->timed = h->npoints && !ancestry_length(a);
	for (size_t i = 0; i < h->npoints; i++)
		h->timed &= h->points[i].time != NULL;
	for (size_t i = 0; i < h->npoints && ancestry_length(a); i++) {
		struct point *p = &h->points[i];

		where = ancestry_find(a, p->commit, p->time, &p->at);
		p->lost = p->at == -1;
		if (where == ANCESTRY_LINE && is_dirty(p))
			p->at += .5; /* after its commit */
		h->by_time += where == ANCESTRY_UNKNOWN && !p->lost;
	}
}

/* Sorts and names the points. */
static void
order_points(struct branch *h)
{
	struct turn *t = mem_array(h->npoints + 1, sizeof *t);
	size_t all = h->npoints;

	place_points(h);
	h->places = mem_array(all + 1, sizeof *h->places);
	for (size_t i = 0; i < all; i++)
		t[i] = (struct turn){h->points[i], i};
	if (all)
		qsort(t, all, sizeof *t,
		    h->timed ? compare_by_time : compare_by_place);
	for (size_t i = 0; i < all; i++) {
		h->points[i] = t[i].point;
		h->places[t[i].was] = i;
		h->nlost += t[i].point.lost;
		h->points[i].name = make_point_name(&h->points[i]);
	}
	h->npoints -= h->nlost;
	free(t);
}

void
branch_begin(struct branch *h, const char *dir)
{
	*h = (struct branch){
	    .reading = reading_new(dir), .column = column_new()};
}

void
branch_end(struct branch *h, size_t least)
{
	order_points(h);
	machines_make(h->reading->machines, least);
	h->machines = machines_count(h->reading->machines);
	listing_make(h);
	if (h->npoints && ancestry_length(h->reading->ancestry))
		h->length = branch_count_suspects(h, 0, h->npoints - 1);
}

void
branch_free(struct branch *h)
{
	for (size_t i = 0; i < h->npoints + h->nlost; i++) {
		free(h->points[i].name);
		free(h->points[i].commit);
		free(h->points[i].time);
		json_free(h->points[i].subject);
	}
	free(h->points);
	free(h->places);
	free(h->series);
	free(h->losses);
	casename_free(h->names);
	reading_free(h->reading);
	column_free(h->column);
	*h = (struct branch){0};
}

/* Keeps the number of the text that is last by strcmp. */
static void
keep_last_text(const struct intern *in, uint32_t *kept, uint32_t new)
{
	if (strcmp(intern_text(in, *kept), intern_text(in, new)) < 0)
		*kept = new;
}

/* Groups values by point; drops those of lost points. */
static void
group_values(const struct branch *h, const struct rows_run *runs,
    const double *v, size_t n, struct branch_values *to)
{
	const struct reading *in = h->reading;
	size_t *first = mem_array(h->npoints + 2, sizeof *first);

	for (size_t i = 0; i < n; i++)
		if (runs[i].session < h->npoints && !isnan(v[i]))
			first[runs[i].session + 2]++;
	for (size_t i = 2; i < h->npoints + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; i < n; i++)
		if (runs[i].session < h->npoints && !isnan(v[i])) {
			struct branch_setup *s = &to->setups[runs[i].session];
			size_t *at = &first[runs[i].session + 1];

			if (*at == *(at - 1))
				*s = (struct branch_setup){
				    runs[i].index, runs[i].order};
			keep_last_text(in->servers, &s->server, runs[i].index);
			keep_last_text(
			    in->settings, &s->settings, runs[i].order);
			to->all[(*at)++] = v[i];
		}
	to->first = first;
	for (size_t i = 0; i < h->npoints; i++) {
		size_t k = first[i + 1] - first[i];

		double *sorted = stats_sorted(to->all + first[i], k);

		to->v[i] = stats_median(sorted, k);
		free(sorted);
		to->n += k > 0;
	}
}

int
branch_read_values(
    const struct branch *h, const struct series *s, struct branch_values *to)
{
	struct column_part c;
	double *v;

	*to = (struct branch_values){0};
	if (column_read(h, s, &c) < 0)
		return -1;
	v = mem_array(c.n + 1, sizeof *v);
	for (size_t i = 0; i < c.n; i++)
		v[i] = c.values[i];
	kinds_keep_one(&c, h->npoints, v, to);
	to->v = mem_array(h->npoints + 1, sizeof *to->v);
	to->all = mem_array(c.n + 1, sizeof *to->all);
	to->setups = mem_array(h->npoints + 1, sizeof *to->setups);
	group_values(h, c.runs, v, c.n, to);
	free(v);
	return 0;
}

void
branch_free_values(struct branch_values *v)
{
	free(v->v);
	free(v->all);
	free(v->setups);
	free(v->first);
	*v = (struct branch_values){0};
}

/* Is it "2026-03-02", or this and a time? */
static bool
is_date(const char *s)
{
	static const char shape[] = "dddd-dd-dd";

	for (size_t i = 0; shape[i]; i++)
		if (shape[i] == 'd' ? s[i] < '0' || s[i] > '9'
				    : s[i] != shape[i])
			return false;
	return s[10] == '\0' || s[10] == 'T';
}

static bool
matches_name(const struct point *p, const char *name)
{
	const char *label = json_get_str(p->subject, "label");
	const char *ref = json_get_str(p->subject, "ref");

	return (label && strcmp(label, name) == 0) ||
	    (ref && strcmp(ref, name) == 0) ||
	    (p->commit && strlen(name) >= 4 && str_starts(p->commit, name));
}

/* Returns the time of the commit by its runs, or by its record; or NULL. */
static const char *
get_point_time(const struct branch *h, const struct point *p)
{
	const struct ancestry *a = h->reading->ancestry;

	if (p->time || !ancestry_length(a) || !(p->at >= 0))
		return p->time;
	return ancestry_time(a, (size_t)p->at);
}

long
branch_find_since(const struct branch *h, const char *since)
{
	const struct ancestry *a = h->reading->ancestry;
	bool date = is_date(since), any = false;
	double at = -1;

	for (size_t i = 0; i < h->npoints; i++) {
		const struct point *p = &h->points[i];
		const char *time = get_point_time(h, p);

		if (date ? time && strcmp(time, since) >= 0
			 : matches_name(p, since))
			return (long)i;
		any |= time != NULL;
	}
	if (date && any)
		return (long)h->npoints;
	if (date)
		return err_fail("option '--since': no commit has a time");
	/* a commit of the line that was not measured */
	if (ancestry_length(a) &&
	    ancestry_find(a, since, NULL, &at) == ANCESTRY_LINE) {
		for (size_t i = 0; i < h->npoints; i++)
			if (h->points[i].at >= at)
				return (long)i;
		return (long)h->npoints;
	}
	return err_fail(
	    "option '--since': '%s' is neither a commit of this history nor a "
	    "date",
	    since);
}

/* Sets *from to the index, on the line, of the first commit after point lo - 1.
 * Returns false if there is no such place. */
static bool
find_span(const struct branch *h, size_t lo, double *from)
{
	if (!ancestry_length(h->reading->ancestry))
		return false;
	*from = lo ? floor(h->points[lo - 1].at) + 1 : h->points[0].at;
	return *from >= 0;
}

const char *
branch_first_suspect(const struct branch *h, size_t lo)
{
	double from;

	if (!find_span(h, lo, &from) || from > h->points[lo].at)
		return h->points[lo].commit;
	return ancestry_id(h->reading->ancestry, (size_t)from);
}

size_t
branch_count_suspects(const struct branch *h, size_t lo, size_t hi)
{
	double from;

	if (!find_span(h, lo, &from) || from > h->points[hi].at)
		return hi - lo + 1;
	return (size_t)(h->points[hi].at - from) + 1;
}
