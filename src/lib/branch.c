#include "branch.h"
#include "ancestry.h"
#include "casename.h"
#include "caseset.h"
#include "clock.h"
#include "counted.h"
#include "err.h"
#include "intern.h"
#include "json.h"
#include "machines.h"
#include "mem.h"
#include "metric.h"
#include "reading.h"
#include "record.h"
#include "rows.h"
#include "stats.h"
#include "str.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Joins series of ratios to several reference servers. */

/* A column of ratios to one reference, with those of one machine. */
struct ratios {
	size_t column, metric;   /* the length of the name of the metric */
	const char *name, *hash; /* of the column; of its reference */
	bool joined;             /* has no values of the machine any more */
};

struct chain {
	struct reading_case *k;
	struct ratios *v;
	size_t n;
	size_t *rows, nrows;   /* of the machine */
	size_t *links, nlinks; /* those of a server that is a reference, too */
};

/* For qsort: by name, so that the order of the input does not count. */
static int
compare_ratios(const void *a, const void *b)
{
	const struct ratios *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void
list_ratios(struct chain *x)
{
	const struct rows *r = &x->k->rows;

	x->v = mem_array(r->ncols + 1, sizeof *x->v);
	for (size_t i = 0; i < r->ncols; i++) {
		const char *name = r->cols[i].name, *end = strchr(name, '\n');

		if (end)
			x->v[x->n++] = (struct ratios){.column = i,
			    .metric = (size_t)(end - name),
			    .name = name,
			    .hash = end + 1};
	}
	mem_sort(x->v, x->n, sizeof *x->v, compare_ratios);
}

static bool
is_reference(const struct chain *x, const char *binary)
{
	for (size_t i = 0; i < x->n && binary; i++)
		if (strcmp(x->v[i].hash, binary) == 0)
			return true;
	return false;
}

static void
list_rows(struct chain *x, const struct machines *machines, size_t machine)
{
	const struct rows *r = &x->k->rows;

	x->nrows = x->nlinks = 0;
	for (size_t i = 0; i < r->n; i++) {
		if (machines_find(machines, r->runs[i].block) != machine)
			continue;
		x->rows[x->nrows++] = i;
		if (is_reference(x, x->k->binaries[i]))
			x->links[x->nlinks++] = i;
	}
	for (size_t i = 0; i < x->n; i++)
		x->v[i].joined = false;
}

static bool
are_same_metric(const struct ratios *a, const struct ratios *b)
{
	return a->metric == b->metric &&
	    strncmp(a->name, b->name, a->metric) == 0;
}

/* Returns the median ratio of one reference where the machine measured it
 * beside the other, or NAN. */
static double
measure_link(
    const struct chain *x, const struct ratios *from, const struct ratios *to)
{
	double *v = mem_array(x->nlinks + 1, sizeof *v), ratio;
	size_t n = 0;

	for (size_t i = 0; i < x->nlinks; i++) {
		ratio = *rows_value(&x->k->rows, x->links[i], to->column);
		if (ratio > 0 &&
		    strcmp(x->k->binaries[x->links[i]], from->hash) == 0)
			v[n++] = ratio;
	}
	stats_sort(v, n);
	ratio = stats_median(v, n);
	free(v);
	return ratio;
}

/* Moves the ratios of the machine to the column of another reference. */
static void
move_ratios(struct chain *x, struct ratios *from, const struct ratios *to,
    double factor)
{
	for (size_t i = 0; i < x->nrows; i++) {
		double *v = rows_value(&x->k->rows, x->rows[i], from->column);

		if (isnan(*v))
			continue;
		*rows_value(&x->k->rows, x->rows[i], to->column) = factor * *v;
		*v = NAN;
	}
	from->joined = true;
}

/* Joins the first pair of columns. Returns false if there is none. */
static bool
join_first(struct chain *x)
{
	for (size_t i = 0; i < x->n && x->nlinks; i++)
		for (size_t j = 0; j < x->n; j++) {
			struct ratios *from = &x->v[i], *to = &x->v[j];
			double ratio;

			if (i == j || from->joined || to->joined ||
			    !are_same_metric(from, to))
				continue;
			ratio = measure_link(x, from, to);
			if (isnan(ratio))
				continue;
			move_ratios(x, from, to, ratio);
			return true;
		}
	return false;
}

/*
 * Where one reference was measured beside another, the column of its ratios is
 * multiplied by that ratio and becomes a part of the column of the other one:
 * for each machine by its own ratio, since servers differ by more on one
 * machine than on another. A column is named by the metric, '\n' and the hash
 * of the reference. Called after all is read and the machines are made.
 */
static void
join_references(struct reading_case *k, const struct machines *machines)
{
	struct chain x = {.k = k};

	list_ratios(&x);
	x.rows = mem_array(k->rows.n + 1, sizeof *x.rows);
	x.links = mem_array(k->rows.n + 1, sizeof *x.links);
	for (size_t m = 0; m < machines_count(machines) && x.n > 1; m++) {
		list_rows(&x, machines, m);
		while (join_first(&x))
			;
	}
	rows_drop_empty(&k->rows);
	free(x.links);
	free(x.rows);
	free(x.v);
}

/* The values of a series, in the order of the input. */
struct part {
	size_t n;
	struct rows_run *runs; /* .session: the index of the point */
	double *v;
	double *counts; /* NAN: measured; NULL: the metric is not counted */
};

/* Takes the values that are of the machine of the series. */
static struct part
take_part(const struct branch *h, const struct branch_series *s)
{
	const struct rows *r = &s->kase->rows;
	const struct metric m = metric_guess(s->metric);
	size_t at =
	    counted_may_be(&m) ? rows_find(r, COUNTED_METRIC) : r->ncols;
	struct part p = {.runs = mem_array(r->n + 1, sizeof *p.runs),
	    .v = mem_array(r->n + 1, sizeof *p.v)};

	rows_values(r, s->column, p.v);
	if (at < r->ncols) {
		p.counts = mem_array(r->n + 1, sizeof *p.counts);
		rows_values(r, at, p.counts);
	}
	for (size_t i = 0; i < r->n; i++) {
		if (machines_find(h->reading->machines, r->runs[i].block) !=
		    s->machine)
			continue;
		p.runs[p.n] = r->runs[i];
		p.runs[p.n].session = (uint32_t)h->places[r->runs[i].session];
		p.v[p.n] = p.v[i];
		if (p.counts)
			p.counts[p.n] = p.counts[i];
		p.n++;
	}
	return p;
}

/* Lists the series of a history and the cases with failed runs. */

struct rank {
	const char *text;
	size_t was;
};

static int
compare_by_version(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	int c = strverscmp(x->text, y->text); /* 64 before 4096 */

	return c ? c : strcmp(x->text, y->text);
}

/* Returns which machines have rows of the case. Caller frees. */
static bool *
find_machines(const struct branch *h, const struct reading_case *k)
{
	const struct machines *m = h->reading->machines;
	bool *has = mem_array(machines_count(m), sizeof *has);

	has[0] = machines_count(m) == 1;
	for (size_t i = 0; i < k->rows.n; i++)
		has[machines_find(m, k->rows.runs[i].block)] = true;
	return has;
}

/* Returns the metric of a column, without the reference. */
static const char *
get_metric(const struct reading *in, const char *column)
{
	size_t n = strcspn(column, "\n");

	return column[n]
	    ? intern_text(in->names, intern_idn(in->names, column, n))
	    : column;
}

/* Adds a series for each metric and machine of a case. */
static void
add_series(struct branch *h, const struct reading_case *k, size_t *cap)
{
	struct rank *r = mem_array(k->rows.ncols + 1, sizeof *r);
	size_t machines = machines_count(h->reading->machines);
	bool *has = find_machines(h, k);

	for (size_t i = 0; i < k->rows.ncols; i++)
		r[i] = (struct rank){k->rows.cols[i].name, i};
	mem_sort(r, k->rows.ncols, sizeof *r, compare_by_version);
	for (size_t i = 0; i < k->rows.ncols; i++)
		for (size_t j = 0; j < machines; j++) {
			if (!has[j])
				continue;
			*MEM_ADD(h->series, h->nseries, *cap) =
			    (struct branch_series){k, k->config,
				get_metric(h->reading, r[i].text), r[i].was, j};
		}
	free(has);
	free(r);
}

/* Lists the series by case. Cases without values do not affect the names. */
static void
list_series(struct branch *h)
{
	const struct reading *in = h->reading;
	struct rank *r = mem_array(in->n + 1, sizeof *r);
	const struct json **ok = mem_array(in->n + 1, sizeof *ok);
	size_t cap = 0, nok = 0;

	for (size_t i = 0; i < in->n; i++) {
		r[i] = (struct rank){caseset_text(in->configs, i), i};
		if (in->v[i].rows.n)
			ok[nok++] = in->v[i].config;
	}
	mem_sort(r, in->n, sizeof *r, compare_by_version);
	for (size_t i = 0; i < in->n; i++)
		add_series(h, &in->v[r[i].was], &cap);
	h->names = casename_new(ok, nok);
	for (size_t i = 0; i < in->n; i++)
		if (!in->v[i].rows.n)
			casename_differs(h->names, in->v[i].config);
	free(ok);
	free(r);
}

static int
compare_errors(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int
compare_failures(const void *a, const void *b, void *arg)
{
	const struct reading_failure *x = a, *y = b;
	const struct reading *in = arg;
	int c = strverscmp(caseset_text(in->configs, x->kase),
	    caseset_text(in->configs, y->kase));

	c = c ? c : (x->kase > y->kase) - (x->kase < y->kase);
	c = c ? c : (x->point > y->point) - (x->point < y->point);
	return c ? c : compare_errors(x->error, y->error);
}

/* Sums the failed runs of each case. */
static void
collect_losses(struct branch *h)
{
	struct reading *in = h->reading;
	struct reading_failure *f = in->failures;
	size_t most = 0;

	if (!in->nfailures)
		return;
	qsort_r(f, in->nfailures, sizeof *f, compare_failures, in);
	h->losses = mem_array(in->nfailures, sizeof *h->losses);
	for (size_t i = 0, n; i < in->nfailures; i += n) {
		struct branch_loss *l;
		size_t sum = 0; /* at one commit */

		for (n = 0; i + n < in->nfailures &&
		     f[i + n].kase == f[i].kase && f[i + n].point == f[i].point;
		     n++)
			sum += f[i + n].failed;
		if (!i || f[i].kase != f[i - 1].kase) {
			h->losses[h->nlosses++] = (struct branch_loss){
			    .config = in->v[f[i].kase].config};
			most = 0;
		}
		l = &h->losses[h->nlosses - 1];
		l->failed += sum;
		l->commits++;
		if (sum > most ||
		    (sum == most && compare_errors(f[i].error, l->error) < 0))
			l->error = f[i].error;
		most = sum > most ? sum : most;
	}
}

/* Were runs counted at the newest point with values? */
static bool
is_newest_counted(const struct part *c, size_t npoints)
{
	size_t newest = 0;
	bool counted = false;

	for (size_t i = 0; i < c->n; i++) {
		size_t at = c->runs[i].session;

		if (isnan(c->v[i]) || at >= npoints || at < newest)
			continue;
		counted = (at == newest && counted) || !isnan(c->counts[i]);
		newest = at;
	}
	return counted;
}

static bool
is_dirty(const struct branch_point *p)
{
	return p->commit && str_ends(p->commit, BRANCH_DIRTY);
}

/* Names a point by its commit rather than by a label, which all may share. */
static char *
make_point_name(const struct branch_point *p)
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
	struct branch_point point;
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
		struct branch_point *p = &h->points[i];

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
	mem_sort(
	    t, all, sizeof *t, h->timed ? compare_by_time : compare_by_place);
	for (size_t i = 0; i < all; i++) {
		h->points[i] = t[i].point;
		h->places[t[i].was] = i;
		h->nlost += t[i].point.lost;
		h->points[i].name = make_point_name(&h->points[i]);
		if (!is_dirty(&h->points[i]))
			h->points[i].title = ancestry_title(
			    h->reading->ancestry, h->points[i].commit);
	}
	h->npoints -= h->nlost;
	free(t);
}

void
branch_begin(struct branch *h)
{
	*h = (struct branch){.reading = reading_new()};
}

void
branch_end(struct branch *h, size_t least)
{
	order_points(h);
	machines_make(h->reading->machines, least);
	for (size_t i = 0; i < h->reading->n; i++)
		join_references(&h->reading->v[i], h->reading->machines);
	h->machines = machines_count(h->reading->machines);
	list_series(h);
	collect_losses(h);
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
	*h = (struct branch){0};
}

size_t
branch_find_point(const struct branch *h, const struct json *subject)
{
	size_t n = h->npoints + h->nlost;
	size_t id = reading_find_point(h->reading, subject);

	return id < n ? h->places[id] : n;
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
group_values(
    const struct branch *h, const struct part *c, struct branch_values *to)
{
	const struct rows_run *runs = c->runs;
	const double *v = c->v;
	size_t n = c->n;
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

void
branch_read_values(const struct branch *h, const struct branch_series *s,
    struct branch_values *to)
{
	struct part c = take_part(h, s);

	*to = (struct branch_values){0};
	if (c.counts) {
		to->counted = is_newest_counted(&c, h->npoints);
		to->others = counted_keep(to->counted, c.v, c.counts, c.n);
	}
	to->v = mem_array(h->npoints + 1, sizeof *to->v);
	to->all = mem_array(c.n + 1, sizeof *to->all);
	to->setups = mem_array(h->npoints + 1, sizeof *to->setups);
	group_values(h, &c, to);
	free(c.runs);
	free(c.v);
	free(c.counts);
}

struct placed { /* a value of a point */
	uint32_t place;
	double v;
};

/* By point, then by value. */
static int
compare_placed(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return (x->v > y->v) - (x->v < y->v);
}

void
branch_read_medians(
    const struct branch *h, const struct branch_series *s, double *to)
{
	struct part c = take_part(h, s);
	struct placed *all = mem_array(c.n + 1, sizeof *all);
	double *v = mem_array(c.n + 1, sizeof *v);
	size_t n = 0;

	if (c.counts)
		counted_keep(
		    is_newest_counted(&c, h->npoints), c.v, c.counts, c.n);
	for (size_t i = 0; i < c.n; i++)
		if (!isnan(c.v[i]))
			all[n++] = (struct placed){c.runs[i].session, c.v[i]};
	mem_sort(all, n, sizeof *all, compare_placed);
	for (size_t i = 0; i < h->npoints + h->nlost; i++)
		to[i] = NAN;
	for (size_t i = 0, k; i < n; i += k) {
		for (k = 0; i + k < n && all[i + k].place == all[i].place; k++)
			v[k] = all[i + k].v;
		to[all[i].place] = stats_median(v, k);
	}
	free(all);
	free(v);
	free(c.runs);
	free(c.v);
	free(c.counts);
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

/* Makes of a date the text that no later time of a commit is less than. Returns
 * false if it is not a date. */
static bool
make_earliest_time(char buf[CLOCK_ISO], const char *date)
{
	struct clock_parts p;

	if (clock_parse(&p, date) < 0)
		return false;
	if (p.precision == CLOCK_DAY)
		snprintf(buf, CLOCK_ISO, "%s", date);
	else if (clock_utc_of(buf, &p) < 0)
		return false;
	buf[strcspn(buf, "Z")] = '\0'; /* a part of the second is less */
	return true;
}

static bool
matches_name(const struct branch_point *p, const char *name)
{
	const char *label = json_get_str(p->subject, "label");
	const char *ref = json_get_str(p->subject, "ref");

	return (label && strcmp(label, name) == 0) ||
	    (ref && strcmp(ref, name) == 0) ||
	    (p->commit && strlen(name) >= 4 && str_starts(p->commit, name));
}

/* Returns the time of the commit by its runs, or by its record; or NULL. */
static const char *
get_point_time(const struct branch *h, const struct branch_point *p)
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
	char earliest[CLOCK_ISO];
	bool date = make_earliest_time(earliest, since), any = false;
	double at = -1;

	for (size_t i = 0; i < h->npoints; i++) {
		const struct branch_point *p = &h->points[i];
		const char *time = get_point_time(h, p);

		if (date ? time && strcmp(time, earliest) >= 0
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

void
branch_add_point(struct str *s, const struct branch_point *p)
{
	if (p->commit)
		str_add(s, p->commit);
	else
		json_canonical(s, p->subject);
}

unsigned long long
branch_find_mark(const struct branch *h, size_t lo, unsigned every)
{
	const struct ancestry *a = h->reading->ancestry;
	struct str s = {0};
	unsigned long long mark;
	double from;
	bool line = find_span(h, lo, &from);
	size_t i = line ? (size_t)fmin(from, h->points[lo].at) : lo;

	for (mark = 1; i > 0 && mark % every != 0; i--) {
		str_clear(&s);
		if (line)
			str_add(&s, ancestry_id(a, i));
		else
			branch_add_point(&s, &h->points[i]);
		mark = str_hash(STR_HASH, s.s, s.len);
	}
	str_free(&s);
	return mark % every ? 0 : mark;
}
