#include "site.h"
#include "archive.h"
#include "asset.h"
#include "branch.h"
#include "casename.h"
#include "caseset.h"
#include "changepoint.h"
#include "changetext.h"
#include "clock.h"
#include "err.h"
#include "folder.h"
#include "html.h"
#include "inputs.h"
#include "intern.h"
#include "json.h"
#include "jsonl.h"
#include "machines.h"
#include "markup.h"
#include "mem.h"
#include "metric.h"
#include "num.h"
#include "opt.h"
#include "plot.h"
#include "proc.h"
#include "reading.h"
#include "record.h"
#include "stacks.h"
#include "stats.h"
#include "str.h"
#include "tempfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * What the charts of a history show: of the series that vkb-detect judges,
 * those by which cases are judged, at the commits of the branch of the newest
 * commit that is judged.
 */

struct trend_series {
	size_t kase;        /* of 'cases' */
	const char *metric; /* borrowed from the branch */
	size_t machine;
	double *v; /* by commit; NAN: not measured */
};

struct trend_case {
	const struct reading_case *of;
	char *name;
	const char *primary; /* name of the case's primary metric */
};

struct trends {
	struct branch branch;                 /* all commits of the archive */
	const struct archive_entry **commits; /* in the order of the branch */
	const char **days;                    /* of the commits */
	size_t *places; /* the commit of each point of the branch, or n */
	size_t n;
	const struct archive_entry *newest; /* that is judged; NULL: none */
	struct trend_case *cases;           /* in the order of the branch */
	size_t ncases;
	struct trend_series *v;
	size_t nseries; /* in the order of cases, metrics, machines */
	const struct machines *machines;
	char *common; /* what all cases have in common, for people */
};

/*
 * Returns the ref of an entry; NULL if it has none, or if that is the id of the
 * commit. Borrowed.
 */
static const char *
get_branch(const struct archive_entry *e)
{
	const char *ref = json_get_str(e->subject, "ref"),
		   *commit = record_subject_commit(e->subject);

	return ref && commit && str_starts(commit, ref) ? NULL : ref;
}

/* Are both entries of one branch, as far as it is known? */
static bool
is_same_branch(const struct archive_entry *a, const struct archive_entry *b)
{
	const char *x = get_branch(a), *y = get_branch(b);

	return !x || !y || strcmp(x, y) == 0;
}

static int
read_branch(struct branch *b, const struct archive *a)
{
	size_t n;
	const char **paths = archive_list(a, &n);
	struct jsonl *in;
	int rc = 0;

	branch_begin(b);
	if (n) {
		in = jsonl_open(paths, n);
		rc = reading_add(b->reading, b, in);
		jsonl_close(in);
	}
	branch_end(b, CHANGEPOINT_LEAST);
	free(paths);
	return rc;
}

/* Chooses the commits of one branch: that of the newest commit of all would
 * leave none if it is not on the line of commits. */
static void
choose_commits(struct trends *t, const struct archive *a)
{
	size_t n = t->branch.npoints;
	const struct archive_entry **at = mem_array(n + 1, sizeof *at);

	for (size_t i = a->n; i-- > 0 && !t->newest;)
		if (branch_find_point(&t->branch, a->v[i].subject) < n)
			t->newest = &a->v[i];
	for (size_t i = 0; i < a->n; i++) {
		size_t p = branch_find_point(&t->branch, a->v[i].subject);

		if (p < n && !at[p] && is_same_branch(&a->v[i], t->newest))
			at[p] = &a->v[i];
	}
	t->commits = mem_array(n + 1, sizeof *at);
	t->days = mem_array(n + 1, sizeof *t->days);
	t->places = mem_array(n + 1, sizeof *t->places);
	for (size_t i = 0; i < n; i++) {
		t->places[i] = at[i] ? t->n : n;
		if (!at[i])
			continue;
		t->days[t->n] = at[i]->day;
		t->commits[t->n++] = at[i];
	}
	free(at);
}

/* Adds the values of a series of the last case, unless none is of these
 * commits. */
static void
add_series(struct trends *t, const struct branch_series *s, size_t *cap)
{
	struct branch_values all;
	double *v = mem_array(t->n + 1, sizeof *v);
	bool any = false;

	branch_read_values(&t->branch, s, &all);
	for (size_t i = 0; i < t->branch.npoints; i++)
		if (t->places[i] < t->n) {
			v[t->places[i]] = all.v[i];
			any |= !isnan(all.v[i]);
		}
	branch_free_values(&all);
	if (!any) {
		free(v);
		return;
	}
	*MEM_ADD(t->v, t->nseries, *cap) =
	    (struct trend_series){t->ncases - 1, s->metric, s->machine, v};
}

/* Is it a series by which cases are judged? */
static bool
is_judged(const struct branch_series *s)
{
	const struct metric m = metric_guess(s->metric);

	return m.gate || m.closed ||
	    strcmp(s->metric, metric_primary(s->config)) == 0;
}

/*
 * Reads all records of the archive, which is borrowed, as vkb-detect does.
 * Returns -1, after reporting it, if some could not be read; the others are
 * there. Free with free_trends in any case.
 */
static int
read_trends(struct trends *t, const struct archive *a)
{
	const struct branch *b = &t->branch;
	size_t cap = 0;
	int rc;

	*t = (struct trends){0};
	rc = read_branch(&t->branch, a);
	t->machines = b->reading->machines;
	t->common = casename_common(b->names);
	choose_commits(t, a);
	t->cases = mem_array(b->nseries + 1, sizeof *t->cases);
	for (size_t i = 0; i < b->nseries; i++) {
		const struct branch_series *s = &b->series[i];

		if (!i || s->kase != s[-1].kase)
			t->cases[t->ncases++] = (struct trend_case){s->kase,
			    casename_of(b->names, s->config),
			    metric_primary(s->config)};
		if (is_judged(s))
			add_series(t, s, &cap);
	}
	return rc;
}

static void
free_trends(struct trends *t)
{
	for (size_t i = 0; i < t->ncases; i++)
		free(t->cases[i].name);
	for (size_t i = 0; i < t->nseries; i++)
		free(t->v[i].v);
	branch_free(&t->branch);
	free(t->commits);
	free(t->days);
	free(t->places);
	free(t->cases);
	free(t->v);
	free(t->common);
}

/* Returns the number of the case with this configuration, or ncases. */
static size_t
find_case(const struct trends *t, const struct json *config)
{
	const struct reading *in = t->branch.reading;
	size_t id = caseset_find(in->configs, config), i = 0;

	while (i < t->ncases && (size_t)(t->cases[i].of - in->v) != id)
		i++;
	return i;
}

static size_t
find_point_place(const struct trends *t, double point)
{
	size_t place = point >= 0 && point < (double)t->branch.npoints
	    ? t->places[(size_t)point]
	    : t->n;

	return place < t->n ? place : t->n;
}

/* Returns the place of the commit of a subject, or of a point of the branch, or
 * n. */
static size_t
find_commit_place(const struct trends *t, const struct json *subject)
{
	return find_point_place(
	    t, (double)branch_find_point(&t->branch, subject));
}

/*
 * The changes of a history in groups: what vkb-detect found to be one change of
 * several series.
 */

/* What became of a change; in the order in which they are shown. */
enum changegroup_state {
	CHANGEGROUP_OPEN, /* a regression that counts */
	CHANGEGROUP_BACK, /* one that was reverted */
	CHANGEGROUP_WAIVED,
	CHANGEGROUP_INFO, /* worse, in a metric that does not count */
	CHANGEGROUP_BETTER,
	CHANGEGROUP_OTHER, /* neither better nor worse */
	CHANGEGROUP_SPIKE
};

struct changegroup_one {
	const struct json *rec; /* borrowed */
	size_t kase;            /* of the trends, or their ncases */
	size_t at;              /* its commit, or the trends' n */
	size_t end;             /* the last commit of a slow change or a spike,
				 * else 'at' */
	double size;            /* |log ratio|; INFINITY from or to 0 */
	bool primary;           /* the metric by which its case is judged */
};

struct changegroup {
	struct changegroup_one
	    *v; /* primary metrics, then the largest, first */
	size_t n, cap;
	const char *key; /* borrowed; stays the same when commits are added */
	bool slow;
	enum changegroup_state state;
	size_t at;   /* the commit of most of them, or the trends' n */
	size_t end;  /* the first at which one of them ends, or n */
	size_t back; /* CHANGEGROUP_BACK: the commit that reverted it, or n */
};

struct changegroups {
	struct changegroup *v; /* by state, the newest first */
	size_t n, cap;
};

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
	size_t last = find_point_place(
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
	    .kase = find_case(t, json_get(rec, "config")),
	    .at = find_commit_place(t, json_get(rec, "subject")),
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
	g->end = t->n;
	for (size_t i = 0; i < g->n; i++)
		g->end = g->v[i].end < g->end ? g->v[i].end : g->end;
	g->back = t->n;
	for (size_t i = 0; g->state == CHANGEGROUP_BACK && i < g->n; i++)
		if (g->back == t->n && json_get(g->v[i].rec, "reverted"))
			g->back = find_commit_place(
			    t, json_get(g->v[i].rec, "reverted"));
}

/* Groups the n change records, which are borrowed. Free with free_groups.
 */
static void
make_groups(struct changegroups *all, const struct trends *t,
    struct json *const *records, size_t n)
{
	*all = (struct changegroups){0};
	for (size_t i = 0; i < n; i++)
		add_change(find_group(all, records[i]), t, records[i]);
	for (size_t i = 0; i < all->n; i++)
		complete_group(&all->v[i], t);
	mem_sort(all->v, all->n, sizeof *all->v, compare_groups);
}

static void
free_groups(struct changegroups *all)
{
	for (size_t i = 0; i < all->n; i++)
		free(all->v[i].v);
	free(all->v);
}

/* Returns the class of its badge: "regression" if it is open, "improvement",
 * "spike", or "same" for all others. */
static const char *
get_class(const struct changegroup *g)
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

/* Writes "slow regression", "regression, reverted", "improvement", "spike". */
static void
write_change_kind(struct str *s, const struct changegroup *g)
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

/* Writes "-7.2%" or "up from 0". */
static void
write_percent(struct str *s, const struct json *change)
{
	const struct changetext t = changetext_read(change);

	changetext_percent(s, &t);
}

/* Returns the number of different cases. */
static size_t
count_group_cases(const struct changegroup *g)
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

/*
 * The first page of a site: the open regressions, the other changes, a chart of
 * each case, and all commits with what became of them.
 */

#define INDEX_PAGES "commit" /* the folder of the pages of commits */

#define INDEX_TEXT "changes.txt" /* the text report of vkb-detect */

struct site {
	const char *out;
	const char *url; /* of commits, before their ids; or NULL */
	struct archive archive;
	struct trends trends;
	struct json **records; /* of changes */
	size_t nrecords;
	struct changegroups changes;
	bool unknown;          /* the changes could not be found */
	char today[CLOCK_ISO]; /* when the page is made */
	struct json *was, *is; /* manifests */
	char *work, *pages;    /* folders: of temporary files; of pages */
	size_t made, kept, gone;
	int rc;
};

/*
 * Draws a series of a history: its commits, evenly spaced, with dates below;
 * its levels, and how much each change was. The chart is as wide as its place,
 * and needs "columns", the titles of the commits, once in the page.
 */

#define SPAN .04 /* the axis shows at least this part of a value */
#define HEIGHT 126

struct mark { /* a change of the series */
	const struct changegroup *group;
	const struct changegroup_one *one;
};

struct chart {
	struct plot p;
	const struct trends *t;
	const struct trend_series *s;
	struct mark *v; /* the oldest first */
	size_t n;
	bool *outside; /* by commit: of a spike */
};

static int
compare_marks(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	return (x->one->at > y->one->at) - (x->one->at < y->one->at);
}

/* Was the change seen on the machine of the series? */
static bool
is_shown(const struct chart *c, const struct json *rec)
{
	const char *own = machines_name(c->t->machines, c->s->machine);
	const struct json *all = json_get(rec, "machines"), *j;

	for (j = json_first(all); j; j = json_next(j)) {
		const char *one = json_get_str(j, "machine");

		if (one && strcmp(one, own) == 0)
			return true;
	}
	return !all;
}

static void
collect_marks(struct chart *c, const struct changegroups *all)
{
	size_t cap = 0;

	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 0; k < all->v[i].n; k++) {
			const struct changegroup_one *one = &all->v[i].v[k];

			if (one->kase != c->s->kase || one->at >= c->t->n ||
			    strcmp(json_get_str(one->rec, "metric"),
				c->s->metric) != 0 ||
			    !is_shown(c, one->rec))
				continue;
			*MEM_ADD(c->v, c->n, cap) =
			    (struct mark){&all->v[i], one};
		}
	mem_sort(c->v, c->n, sizeof *c->v, compare_marks);
	for (size_t i = 0; i < c->n; i++)
		for (size_t k = c->v[i].one->at; k <= c->v[i].one->end; k++)
			c->outside[k] |=
			    c->v[i].group->state == CHANGEGROUP_SPIKE;
}

/* Fits the axis to all values but spikes, unless there is nothing else. */
static void
fit_axis(struct chart *c)
{
	struct axis *y = &c->p.y;
	double middle, room;

	*y = AXIS(AXIS_LINEAR, NULL);
	for (int all = 0; all < 2 && y->lo > y->hi; all++)
		for (size_t i = 0; i < c->t->n; i++)
			if (all || !c->outside[i])
				axis_fit(y, c->s->v[i]);
	middle = (y->lo + y->hi) / 2;
	room = fabs(middle) * SPAN / 2;
	axis_fit(y, middle - room);
	axis_fit(y, middle + room);
}

static void
draw_values(struct chart *c)
{
	double *x = mem_array(2 * c->t->n + 1, sizeof *x), *y = x + c->t->n;
	size_t n = 0;

	for (size_t i = 0; i < c->t->n; i++)
		if (!isnan(c->s->v[i])) {
			x[n] = (double)i;
			y[n++] = c->s->v[i];
		}
	plot_line(&c->p, x, y, n, 0, "thin");
	plot_dots(&c->p, x, y, n, 0);
	free(x);
}

/* Draws the median of the commits from..to-1, if there is one. */
static void
draw_level(struct chart *c, size_t from, size_t to)
{
	double *v = mem_array(c->t->n + 1, sizeof *v), y;
	size_t n = 0;

	for (size_t i = from; i < to; i++)
		if (!isnan(c->s->v[i]) && !c->outside[i])
			v[n++] = c->s->v[i];
	if (n) {
		y = stats_middle(v, n);
		plot_line(&c->p, (double[]){(double)from - .5, (double)to - .5},
		    (double[]){y, y}, 2, PLOT_LOOKS, "line");
	}
	free(v);
}

static void
draw_slope(struct chart *c, const struct mark *m)
{
	const struct json *ends = json_get(m->one->rec, "median");
	char class[32];

	snprintf(class, sizeof class, "line %s", get_class(m->group));
	plot_line(&c->p, (double[]){(double)m->one->at, (double)m->one->end},
	    (double[]){json_num(json_at(ends, 0), NAN),
		json_num(json_at(ends, 1), NAN)},
	    2, PLOT_LOOKS, class);
}

/* Draws the levels between the changes, and each change with its size. */
static void
draw_changes(struct chart *c)
{
	size_t from = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct mark *m = &c->v[i];
		const char *class = get_class(m->group);
		double at = (double)m->one->at;
		char change[32];
		struct str s = {0};

		if (m->group->state == CHANGEGROUP_SPIKE)
			continue;
		draw_level(c, from, m->one->at);
		from = m->group->slow ? m->one->end + 1 : m->one->at;
		snprintf(change, sizeof change, "change %s", class);
		if (m->group->slow)
			draw_slope(c, m);
		else
			plot_vertical(&c->p, at - .5, change, NULL);
		write_percent(&s, m->one->rec);
		plot_label(&c->p,
		    m->group->slow ? (at + (double)m->one->end) / 2 : at - .5,
		    class, s.s);
		str_free(&s);
	}
	draw_level(c, from, c->t->n);
}

/* The script shows a value with the commit under the pointer. */
static void
write_texts(struct str *to, const struct chart *c)
{
	char buf[NUM_BUF];

	markup_printf(to, "data-unit=\"%s\" data-values=\"",
	    metric_guess(c->s->metric).unit);
	for (size_t i = 0; i < c->t->n; i++)
		str_printf(to, "%s%s", i ? " " : "",
		    isnan(c->s->v[i]) ? "-" : num_human(buf, c->s->v[i]));
	str_addc(to, '"');
}

/* Returns the last value that is not NAN, or NAN. */
static double
find_last(const struct trends *t, const struct trend_series *s)
{
	for (size_t i = t->n; i-- > 0;)
		if (!isnan(s->v[i]))
			return s->v[i];
	return NAN;
}

static void
write_summary(struct str *to, const struct chart *c)
{
	const struct metric m = metric_guess(c->s->metric);
	char buf[NUM_BUF];

	metric_write_label(to, c->s->metric);
	str_printf(to, " of %s at %zu commits, now %s %s",
	    c->t->cases[c->s->kase].name, c->t->n,
	    num_human(buf, find_last(c->t, c->s)), m.unit);
	for (size_t i = 0; i < c->n; i++) {
		str_add(to, ", ");
		write_percent(to, c->v[i].one->rec);
		str_printf(to, " at commit %zu", c->v[i].one->at + 1);
	}
}

static void
draw_chart(struct str *to, const struct trends *t, const struct trend_series *s,
    const struct changegroups *all)
{
	struct chart c = {.t = t, .s = s};
	struct str summary = {0}, texts = {0};

	c.outside = mem_array(t->n + 1, sizeof *c.outside);
	collect_marks(&c, all);
	write_summary(&summary, &c);
	write_texts(&texts, &c);
	c.p = (struct plot){.to = to,
	    .label = summary.s,
	    .attributes = texts.s,
	    .height = HEIGHT,
	    .xnames = t->days,
	    .nxnames = t->n,
	    .labels = true};
	fit_axis(&c);
	plot_open(&c.p);
	draw_values(&c);
	draw_changes(&c);
	str_printf(to,
	    "<svg x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
	    "viewBox=\"0 0 %zu 1\" preserveAspectRatio=\"none\">"
	    "<use href=\"#columns\"/></svg>",
	    c.p.left, c.p.top, c.p.right - c.p.left, c.p.bottom - c.p.top,
	    t->n);
	plot_close(&c.p);
	str_addc(to, '\n');
	str_free(&summary);
	str_free(&texts);
	free(c.v);
	free(c.outside);
}

/* Writes the element with a transparent column for each commit, which shows the
 * title of the commit on hover. */
static void
write_columns(struct str *s, const struct trends *t)
{
	str_add(s,
	    "<svg class=\"columns\" aria-hidden=\"true\"><defs>"
	    "<g id=\"columns\">\n");
	for (size_t i = 0; i < t->n; i++) {
		struct str label = {0};

		archive_entry_label(&label, t->commits[i]);
		markup_printf(s,
		    "<rect x=\"%zu\" width=\"1\" height=\"1\" "
		    "data-page=\"%s\"><title>%s</title></rect>\n",
		    i, t->commits[i]->key, label.s);
		str_free(&label);
	}
	str_add(s, "</g></defs></svg>\n");
}

/* --- The charts of all cases on the index, those that became worse first. */

enum { CASES = 100 }; /* that are shown; the others are folded */

struct item { /* a case to show */
	size_t kase;
	const struct trend_series *first; /* NULL if nothing was measured */
	enum changegroup_state state;     /* of its worst change */
	const char *name;
};

static int
compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->state != y->state)
		return x->state < y->state ? -1 : 1;
	return strcmp(x->name, y->name);
}

static enum changegroup_state
find_worst(const struct site *x, size_t kase)
{
	enum changegroup_state worst = CHANGEGROUP_SPIKE;

	for (size_t i = 0; i < x->changes.n; i++) {
		const struct changegroup *g = &x->changes.v[i];

		for (size_t k = 0; k < g->n && g->state < worst; k++)
			if (g->v[k].kase == kase)
				worst = g->state;
	}
	return worst;
}

/* Returns the series of the primary metric, or if that was not measured, that
 * of the counted instructions or the first of the case; NULL if there is none.
 */
static const struct trend_series *
find_first(const struct trends *t, size_t kase)
{
	const struct trend_series *first = NULL;

	for (size_t i = 0; i < t->nseries; i++) {
		const struct trend_series *s = &t->v[i];

		if (s->kase != kase)
			continue;
		if (strcmp(s->metric, t->cases[kase].primary) == 0)
			return s;
		if (!first || strcmp(s->metric, "instructions_per_req") == 0)
			first = s;
	}
	return first;
}

static void
write_chart(struct str *s, const struct site *x,
    const struct trend_series *series, const char *name)
{
	const struct metric m = metric_guess(series->metric);
	struct str metric = {0};
	char buf[NUM_BUF];

	metric_write_label(&metric, series->metric);
	if (name)
		html_tag(s, "b", NULL, name);
	markup_printf(s, " <span class=\"quiet\">%s %s %s", metric.s,
	    num_human(buf, find_last(&x->trends, series)), m.unit);
	if (machines_count(x->trends.machines) > 1)
		markup_printf(s, " on %s",
		    machines_name(x->trends.machines, series->machine));
	str_add(s, "</span>");
	str_free(&metric);
}

static void
write_next_chart(
    struct str *s, const struct site *x, const struct trend_series *series)
{
	str_add(s, "<p>");
	write_chart(s, x, series, NULL);
	str_add(s, "</p>\n");
	draw_chart(s, &x->trends, series, &x->changes);
}

/* Are both of one case and metric, of different machines? */
static bool
is_same_metric(const struct trend_series *a, const struct trend_series *b)
{
	return a->kase == b->kase && strcmp(a->metric, b->metric) == 0;
}

/* The chart of the first metric of each machine, then the others, folded. */
static void
write_case(struct str *s, const struct site *x, const struct item *item)
{
	const struct trends *t = &x->trends;
	bool folded = false;

	str_printf(s, "<figure id=\"case-%zu\"><figcaption>", item->kase + 1);
	write_chart(s, x, item->first, item->name);
	str_add(s, "</figcaption>\n");
	draw_chart(s, t, item->first, &x->changes);
	for (size_t i = 0; i < t->nseries; i++) {
		const struct trend_series *o = &t->v[i];

		if (o != item->first && is_same_metric(o, item->first))
			write_next_chart(s, x, o);
	}
	for (size_t i = 0; i < t->nseries; i++) {
		const struct trend_series *o = &t->v[i];

		if (o->kase != item->kase || is_same_metric(o, item->first))
			continue;
		if (!folded)
			str_add(
			    s, "<details><summary>other metrics</summary>\n");
		folded = true;
		write_next_chart(s, x, o);
	}
	str_add(s, folded ? "</details></figure>\n" : "</figure>\n");
}

/* Writes nothing if no case was measured. */
static void
write_case_charts(struct str *s, const struct site *x)
{
	const struct trends *t = &x->trends;
	struct item *v = mem_array(t->ncases + 1, sizeof *v);
	size_t n = 0;

	for (size_t i = 0; i < t->ncases; i++) {
		v[n] = (struct item){
		    i, find_first(t, i), find_worst(x, i), t->cases[i].name};
		n += v[n].first != NULL;
	}
	if (n) {
		qsort(v, n, sizeof *v, compare_items);
		str_add(s,
		    "<h2>Cases</h2>\n<div class=\"controls\" role=\"search\" "
		    "aria-label=\"Cases\" hidden><label>Case <input "
		    "type=\"search\" "
		    "id=\"find-case\" autocomplete=\"off\" "
		    "spellcheck=\"false\"></label> <output "
		    "id=\"found-cases\"></output></div>\n");
		write_columns(s, t);
		str_add(s, "<div class=\"cases\">\n");
	}
	for (size_t i = 0; i < n; i++) {
		if (i == CASES)
			str_printf(s,
			    "</div><details><summary>%zu more cases"
			    "</summary><div class=\"cases\">\n",
			    n - CASES);
		write_case(s, x, &v[i]);
	}
	if (n)
		str_add(s, n > CASES ? "</div></details>\n" : "</div>\n");
	free(v);
}

enum {
	SHOWN = 4,    /* changed series in a row; the others are folded */
	COMMITS = 100 /* rows of commits that are shown at once */
};

extern const char site_style[], site_script[];
ASSET(site_style, "src/vkb-history/site.css");
ASSET(site_script, "src/vkb-history/site.js");

/* --- changes */

static void
write_commit(struct str *s, const struct site *x, size_t at)
{
	const struct archive_entry *e = x->trends.commits[at];

	archive_entry_link(s, e, INDEX_PAGES "/");
	str_printf(s, " <span class=\"quiet\">%s</span>", e->day);
}

static void
write_one(
    struct str *s, const struct site *x, const struct changegroup_one *one)
{
	const struct trends *t = &x->trends;
	struct str text = {0};

	write_percent(&text, one->rec);
	str_addc(&text, ' ');
	metric_write_label(&text, json_get_str(one->rec, "metric"));
	str_add(s, "<li>");
	if (one->kase < t->ncases)
		markup_printf(s, "<a href=\"#case-%zu\">%s</a> ", one->kase + 1,
		    t->cases[one->kase].name);
	markup_xml(s, text.s);
	str_clear(&text);
	if (json_get_str(one->rec, "setup"))
		str_printf(&text, "%s ", json_get_str(one->rec, "setup"));
	if (json_get_str(one->rec, "seen"))
		str_add(&text, json_get_str(one->rec, "seen"));
	if (text.len) {
		str_addc(s, ' ');
		html_tag(s, "span", "quiet", text.s);
	}
	str_add(s, "</li>\n");
	str_free(&text);
}

static void
write_series(struct str *s, const struct site *x, const struct changegroup *g)
{
	str_add(s, "<ul class=\"series\">\n");
	for (size_t i = 0; i < g->n; i++) {
		if (i == SHOWN && g->n > SHOWN + 1)
			str_printf(s,
			    "</ul><details><summary>%zu "
			    "more</summary><ul class=\"series\">\n",
			    g->n - SHOWN);
		write_one(s, x, &g->v[i]);
	}
	str_add(s, "</ul>");
	if (g->n > SHOWN + 1)
		str_add(s, "</details>");
}

/* Writes the commits at which the change may be, if these are several. */
static void
write_range(struct str *s, const struct changegroup *g)
{
	struct str range = {0};

	changetext_range(&range, g->v[0].rec);
	if (range.len)
		markup_printf(s,
		    "<br><span class=\"quiet\">or another one from %s</span>",
		    range.s);
	str_free(&range);
}

static void
write_place(struct str *s, const struct site *x, const struct changegroup *g)
{
	const char *commit = json_get_str(g->v[0].rec, "commit");
	size_t n = x->trends.n;

	if (g->slow)
		str_add(s, "from ");
	if (g->at < n)
		write_commit(s, x, g->at);
	else
		markup_xml(s, commit ? commit : "?");
	if (g->slow && g->end < n) {
		str_add(s, "<br>to ");
		write_commit(s, x, g->end);
	} else if (!g->slow)
		write_range(s, g);
	if (g->state == CHANGEGROUP_BACK && g->back < n) {
		str_add(s, "<br>reverted by ");
		write_commit(s, x, g->back);
	}
}

/* Writes the largest change, of how many cases, and how fast a slow one is. */
static void
write_size(struct str *s, const struct changegroup *g)
{
	const struct json *rec = g->v[0].rec;
	double pace = json_num(json_path(rec, "trend.per_point"), NAN);
	size_t cases = count_group_cases(g);
	struct str size = {0}, metric = {0};

	write_percent(&size, rec);
	metric_write_label(&metric, json_get_str(rec, "metric"));
	markup_printf(s,
	    "<span class=\"size %s\">%s</span> %s<br><span class=\"quiet\">",
	    get_class(g), size.s, metric.s);
	if (!isnan(pace))
		str_printf(s, "%+.2g%% every 10 commits, ", 1000 * pace);
	str_printf(s, "%zu case%s</span>", cases, num_plural((double)cases));
	str_free(&size);
	str_free(&metric);
}

static void
write_kind(struct str *s, const struct changegroup *g)
{
	struct str kind = {0};

	write_change_kind(&kind, g);
	markup_printf(
	    s, "<br><span class=\"badge %s\">%s</span>", get_class(g), kind.s);
	if (g->state == CHANGEGROUP_WAIVED)
		markup_printf(s, "<br><span class=\"quiet\">%s</span>",
		    json_get_str(json_get(g->v[0].rec, "waiver"), "reason"));
	str_free(&kind);
}

static void
write_group(struct str *s, const struct site *x, const struct changegroup *g)
{
	markup_printf(s, "<tr id=\"change-%s\"><td>", g->key);
	write_size(s, g);
	if (g->state != CHANGEGROUP_OPEN)
		write_kind(s, g);
	str_add(s, "</td><td>");
	write_series(s, x, g);
	str_add(s, "</td><td>");
	write_place(s, x, g);
	str_add(s, "</td></tr>\n");
}

/* The tables of changes, in this order. */
enum part { PART_OPEN, PART_SLOW, PART_REST, PARTS };

static enum part
find_part(const struct changegroup *g)
{
	return g->state != CHANGEGROUP_OPEN ? PART_REST
	    : g->slow                       ? PART_SLOW
					    : PART_OPEN;
}

static size_t
count_part(const struct changegroups *all, enum part part)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		n += find_part(&all->v[i]) == part;
	return n;
}

static void
write_part(struct str *s, const struct site *x, enum part part)
{
	static const char *const titles[] = {
	    "Open regressions", "Slow regressions", "Other changes"};
	const struct changegroups *all = &x->changes;
	size_t n = count_part(all, part);

	if (!n)
		return;
	if (part == PART_REST)
		str_printf(s,
		    "<details id=\"others\"><summary><h2>%zu other "
		    "change%s</h2></summary>\n",
		    n, num_plural((double)n));
	else
		markup_printf(s, "<h2>%s</h2>\n", titles[part]);
	str_add(s, "<div class=\"changes\">\n");
	html_table(s, titles[part], NULL, "Change|Cases|Commit", NULL, 0);
	for (size_t i = 0; i < all->n; i++)
		if (find_part(&all->v[i]) == part)
			write_group(s, x, &all->v[i]);
	html_table_end(s);
	str_add(s, part == PART_REST ? "</div></details>\n" : "</div>\n");
}

/* --- the sentence at the top */

static void
add_count(struct str *s, size_t n, const char *one, const char *more)
{
	if (n)
		str_printf(
		    s, "%s%zu %s", s->len ? ", " : "", n, n == 1 ? one : more);
}

static void
write_lead(struct str *s, const struct site *x)
{
	const struct changegroups *all = &x->changes;
	size_t open = count_part(all, PART_OPEN),
	       slow = count_part(all, PART_SLOW), count[CHANGEGROUP_SPIKE + 1];
	struct str text = {0};

	memset(count, 0, sizeof count);
	for (size_t i = 0; i < all->n; i++)
		count[all->v[i].state]++;
	add_count(&text, open, "open regression", "open regressions");
	add_count(&text, slow, "slow regression", "slow regressions");
	if (!open && !slow)
		str_add(&text,
		    x->unknown ? "the changes could not be found"
			       : "no open regression");
	add_count(&text, count[CHANGEGROUP_BACK], "reverted regression",
	    "reverted regressions");
	add_count(&text, count[CHANGEGROUP_WAIVED], "waived", "waived");
	add_count(
	    &text, count[CHANGEGROUP_BETTER], "improvement", "improvements");
	add_count(&text, count[CHANGEGROUP_SPIKE], "spike that went away",
	    "spikes that went away");
	*text.s = (char)(*text.s >= 'a' ? *text.s - 32 : *text.s);
	markup_printf(s, "<p class=\"verdict %s\">%s.</p>\n",
	    open + slow ? "regression" : "same", text.s);
	str_free(&text);
}

/* Returns the repository of the newest commit that has one, or NULL. */
static const char *
find_project(const struct archive *a)
{
	for (size_t i = a->n; i-- > 0;) {
		const char *s = json_get_str(a->v[i].subject, "repository");

		if (s && *s)
			return s;
	}
	return NULL;
}

enum { MACHINES = 3 }; /* that are named */

/* Writes "Project valkey-io/valkey. Measured on alpha (Xeon). ". */
static void
write_origin(struct str *s, const struct site *x)
{
	const struct machines *m = x->trends.machines;
	const char *project = find_project(&x->archive);
	size_t n = machines_count(m), named = n < MACHINES ? n : MACHINES;

	if (project)
		markup_printf(s, "Project %s. ", project);
	if (n == 1 && strcmp(machines_name(m, 0), MACHINES_UNKNOWN) == 0)
		return;
	str_add(s, "Measured on ");
	for (size_t i = 0; i < named; i++) {
		const char *is = machines_processor(m, i);

		markup_printf(s, *is ? "%s%s (%s)" : "%s%s%s", i ? ", " : "",
		    machines_name(m, i), is);
	}
	if (n > named)
		str_printf(s, " and %zu more machine%s", n - named,
		    num_plural((double)(n - named)));
	str_add(s, ". ");
}

static void
write_facts(struct str *s, const struct site *x)
{
	const struct archive *a = &x->archive;

	if (!a->n) {
		str_add(s, "<p>No commits yet.</p>\n");
		return;
	}
	str_add(s, "<p class=\"quiet\">");
	write_origin(s, x);
	str_printf(s, "%zu commit%s, %zu case%s, %s to %s.", a->n,
	    num_plural((double)a->n), a->cases, num_plural((double)a->cases),
	    a->v[0].day, a->v[a->n - 1].day);
	markup_printf(s, " Page made on %s.", x->today);
	if (*x->trends.common && x->trends.ncases == a->cases)
		markup_printf(s, " All cases: %s.", x->trends.common);
	if (a->n < 10)
		str_add(s,
		    " Changes are found from 10 commits on, those of exact "
		    "counts from 2.");
	str_add(s, "</p>\n");
}

/* --- any two commits, compared by the script of the page */

/* Is it the name of a release, as 8.0.1, v8.0.1 and 8.1.0-rc2? A
 * branch is called 8.0. */
static bool
is_release(const char *s)
{
	size_t digits, parts = 0;

	if (!s)
		return false;
	s += *s == 'v';
	for (; (digits = strspn(s, "0123456789")) > 0; parts++) {
		s += digits;
		if (*s != '.')
			break;
		s++;
	}
	if (parts < 2 || !digits)
		return false;
	if (str_starts(s, "-rc"))
		s += 3 + strspn(s + 3, "0123456789");
	return !*s;
}

/* Returns the release that an entry is of; NULL: of none. Borrowed. */
static const char *
get_release(const struct archive_entry *e)
{
	const char *ref = json_get_str(e->subject, "ref"),
		   *label = json_get_str(e->subject, "label");

	return is_release(ref) ? ref : is_release(label) ? label : NULL;
}

/* Writes the entries to choose from, of releases or of all others. */
static void
write_choices(struct str *s, const struct archive *a, bool releases)
{
	size_t n = 0;

	for (size_t i = a->n; i-- > 0;) {
		const struct archive_entry *e = &a->v[i];
		const char *release = get_release(e);
		struct str label = {0};

		if ((release != NULL) != releases)
			continue;
		if (!n++)
			markup_printf(s, "<optgroup label=\"%s\">\n",
			    releases ? "Releases" : "Commits");
		archive_entry_label(&label, e);
		markup_printf(s,
		    "<option value=\"%zu\" data-file=\"%s.jsonl\">%s%s%s"
		    "</option>\n",
		    i, e->key, release ? release : "", release ? ", " : "",
		    label.s);
		str_free(&label);
	}
	str_add(s, n ? "</optgroup>\n" : "");
}

/* Writes the median of a series at each entry of the archive, which are at
 * these points, unless fewer than two have one. 'medians' has room for those of
 * all points. */
static void
write_medians(struct str *s, const struct site *x,
    const struct branch_series *series, const size_t *points, double *medians)
{
	const struct branch *b = &x->trends.branch;
	const struct metric m = metric_guess(series->metric);
	struct str values = {0}, metric = {0};
	char *name;
	size_t n = 0;

	branch_read_medians(b, series, medians);
	for (size_t i = 0; i < x->archive.n; i++) {
		double v = points[i] < b->npoints + b->nlost
		    ? medians[points[i]]
		    : NAN;

		n += !isnan(v);
		str_add(&values, i ? " " : "");
		if (isnan(v))
			str_addc(&values, '-');
		else
			str_printf(&values, "%.6g", v);
	}
	if (n > 1) {
		name = casename_of(b->names, series->config);
		metric_write_label(&metric, series->metric);
		markup_printf(s,
		    "<li data-case=\"%s\" data-metric=\"%s\" data-unit=\"%s\" "
		    "data-machine=\"%s\" data-values=\"%s\"></li>\n",
		    name, metric.s, m.unit,
		    b->machines > 1
			? machines_name(x->trends.machines, series->machine)
			: "",
		    values.s);
		free(name);
	}
	str_free(&values);
	str_free(&metric);
}

/* The script shows it, and fills the table. */
static void
write_comparison(struct str *s, const struct site *x)
{
	const struct branch *b = &x->trends.branch;
	const struct archive *a = &x->archive;
	double *medians = mem_array(b->npoints + b->nlost + 1, sizeof *medians);
	size_t *points = mem_array(a->n + 1, sizeof *points);

	for (size_t i = 0; i < a->n; i++)
		points[i] = branch_find_point(b, a->v[i].subject);
	if (a->n > 1) {
		str_add(s,
		    "<details id=\"compare\" hidden><summary><h2>Compare two "
		    "commits</h2></summary>\n"
		    "<div class=\"controls\"><label>Before <select "
		    "id=\"before\">\n");
		write_choices(s, a, true);
		write_choices(s, a, false);
		str_add(s,
		    "</select></label> <label>After <select id=\"after\">"
		    "</select></label></div>\n<ul hidden>\n");
		for (size_t i = 0; i < b->nseries; i++)
			if (is_judged(&b->series[i]))
				write_medians(
				    s, x, &b->series[i], points, medians);
		str_add(s,
		    "</ul>\n<div id=\"compared\"></div>\n"
		    "</details>\n");
	}
	free(points);
	free(medians);
}

/* --- commits */

/* Returns the place of the commit in the trends, which other files may share;
 * or n if it is of another branch or not judged. */
static size_t
find_place(const struct trends *t, const struct archive_entry *e)
{
	size_t at = find_commit_place(t, e->subject);

	return at < t->n && is_same_branch(t->commits[at], e) ? at : t->n;
}

/* Writes what the changes say about a commit, with links to them on the index,
 * whose URL is 'index'; adds nothing if none is there. */
static void
write_status(struct str *s, const struct site *x, const struct archive_entry *e,
    const char *index)
{
	const struct trends *t = &x->trends;
	size_t at = find_place(t, e);

	for (size_t i = 0; at < t->n && i < x->changes.n; i++) {
		const struct changegroup *g = &x->changes.v[i];
		size_t cases = count_group_cases(g);
		struct str kind = {0}, size = {0};

		if (g->at != at)
			continue;
		write_change_kind(&kind, g);
		write_percent(&size, g->v[0].rec);
		markup_printf(s,
		    "<a class=\"badge %s\" href=\"%s#change-%s\">%s</a> %s%s "
		    "in %zu case%s<br>\n",
		    get_class(g), index, g->key, kind.s,
		    g->n > 1 ? "up to " : "", size.s, cases,
		    num_plural((double)cases));
		str_free(&kind);
		str_free(&size);
	}
}

static void
write_commit_row(
    struct str *s, const struct site *x, const struct archive_entry *e)
{
	const struct archive_entry *newest = x->trends.newest;
	struct str status = {0};

	write_status(&status, x, e, "");
	str_printf(s, "<tr data-status=\"%s%s\"><th scope=\"row\">",
	    status.len ? "changed" : "same", e->failed ? " failed" : "");
	archive_entry_link(s, e, INDEX_PAGES "/");
	str_printf(s, "</th><td class=\"day\">%s</td><td>", e->day);
	if (get_release(e))
		markup_printf(s, "<span class=\"badge release\">%s</span> ",
		    get_release(e));
	if (status.len)
		str_add(s, status.s);
	else if (find_place(&x->trends, e) == x->trends.n)
		markup_printf(s, "<span class=\"quiet\">%s</span> ",
		    !newest || is_same_branch(e, newest) ||
			    is_release(get_branch(e))
			? "not judged"
			: get_branch(e));
	else if (!x->unknown && !e->failed)
		str_add(s, "<span class=\"quiet\">no change</span>");
	if (e->failed)
		str_printf(s,
		    "<span class=\"badge regression\">%zu failed run%s</span>",
		    e->failed, num_plural((double)e->failed));
	str_printf(s,
	    "</td><td class=\"n\">%zu</td><td class=\"n\">%zu</td></tr>\n",
	    e->cases, e->runs);
	str_free(&status);
}

static void
write_commits(struct str *s, const struct site *x)
{
	static const char *const values[] = {"changed", "failed"},
				 *const texts[] = {
				     "with changes", "with failed runs"};
	const struct html_filter filter = {
	    "status", "Status", values, texts, 2};
	const struct archive *a = &x->archive;

	if (!a->n)
		return;
	str_add(s, "<h2>Commits</h2>\n");
	html_browse(s, COMMITS, "Commit", &filter, 1);
	html_table(
	    s, "Commits", NULL, "Commit|Date|Status|>Cases|>Runs", NULL, 0);
	for (size_t i = a->n; i-- > 0;)
		write_commit_row(s, x, &a->v[i]);
	html_table_end(s);
	html_browse_end(s);
}

static void
write_index_page(struct str *s, const struct site *x)
{
	struct str style = {0};
	struct html_page page = {.title = "Benchmark history",
	    .program = "vkb-history",
	    .script = site_script};

	plot_add_style(&style);
	str_add(&style, site_style);
	page.style = style.s;
	html_begin(s, &page);
	str_add(s, "<main>\n<h1>Benchmark history</h1>\n");
	write_lead(s, x);
	write_facts(s, x);
	for (size_t i = 0; i < PARTS; i++)
		write_part(s, x, (enum part)i);
	write_comparison(s, x);
	write_case_charts(s, x);
	write_commits(s, x);
	str_add(s, "</main>\n<p id=\"tip\" role=\"status\" hidden></p>\n");
	html_end(s, &page);
	str_free(&style);
}

#define PROFILE "-profile.html" /* after the key */

struct commitpage {
	struct site *site;
	const struct archive_entry *entry, *previous, *next; /* may be NULL */
	const char *status; /* HTML: what the history says about it */
};

#define PATIENCE_MS (30 * 60 * 1000) /* for a program that makes a part */

/* --- The pages of a commit: its results, compared with the commit before it,
 * by vkb-report, and what its functions execute, by vkb-flame. Each page has
 * links to the index, to the commits before and after it, and to the other
 * page. */

/* Does the commit have a page with its profile? */
static bool
has_profile(const struct archive_entry *e)
{
	return e->profiles + e->sampled > 0;
}

static unsigned long long
add_text(unsigned long long h, const char *s)
{
	return str_hash(h, s, strlen(s) + 1);
}

static unsigned long long
add_neighbour(unsigned long long h, const struct archive_entry *e)
{
	struct str s = {0};

	if (!e)
		return add_text(h, "");
	archive_entry_label(&s, e);
	h = add_text(add_text(h, e->key), s.s);
	str_free(&s);
	return h;
}

/* Returns a hash of what the pages show. */
static unsigned long long
hash_page(const struct commitpage *p, unsigned long long h)
{
	h = str_hash(h, &p->entry->hash, sizeof p->entry->hash);
	if (p->previous)
		h = str_hash(h, &p->previous->hash, sizeof p->previous->hash);
	h = add_neighbour(h, p->entry);
	h = add_neighbour(h, p->previous);
	h = add_neighbour(h, p->next);
	return add_text(h, p->status);
}

/* --- the links */

static void
write_neighbour(struct str *s, const struct archive_entry *e, const char *rel,
    const char *t)
{
	struct str label = {0};

	if (!e)
		return;
	archive_entry_label(&label, e);
	markup_printf(s,
	    "<li><a rel=\"%s\" href=\"%s.html\">%s</a> <span "
	    "class=\"quiet\">%s</span></li>\n",
	    rel, e->key, t, label.s);
	str_free(&label);
}

static void
write_navigation(struct str *s, const struct commitpage *p, bool profile)
{
	const struct archive_entry *e = p->entry;
	const char *id = record_subject_commit(e->subject);

	str_add(s,
	    "<nav aria-label=\"History\"><ul>\n"
	    "<li><a href=\"../index.html\">History</a></li>\n");
	write_neighbour(s, p->previous, "prev", "Previous");
	write_neighbour(s, p->next, "next", "Next");
	if (profile)
		markup_printf(
		    s, "<li><a href=\"%s.html\">Results</a></li>\n", e->key);
	else if (has_profile(e))
		markup_printf(s,
		    "<li><a href=\"%s" PROFILE "\">Profile</a></li>\n", e->key);
	if (p->site->url && record_is_id(id))
		markup_printf(s,
		    "<li><a rel=\"noreferrer\" href=\"%s%s\">Source</a></li>\n",
		    p->site->url, id);
	str_add(s, "</ul>\n");
	if (*p->status)
		str_printf(s, "<p>%s</p>\n", p->status);
	str_add(s, "</nav>\n");
}

/* Puts the links above the header of a page that another program has written.
 */
static int
add_navigation(const char *path, const struct commitpage *p, bool profile)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = -1;
	struct str was = {0}, is = {0};
	const char *body, *header = NULL;

	if (fd < 0 || str_read(&was, fd) < 0) {
		rc = err_fail_sys("cannot read '%s'", path);
	} else if (was.len && (body = strstr(was.s, "<body")) &&
	    (header = strstr(body, "<header>"))) {
		str_addn(&is, was.s, (size_t)(header - was.s));
		write_navigation(&is, p, profile);
		str_add(&is, header);
		rc = tempfile_write(path, is.s, is.len);
	} else
		rc = err_fail("'%s' is not a page with a header", path);
	if (fd >= 0)
		close(fd);
	str_free(&was);
	str_free(&is);
	return rc;
}

/* Moves a complete page to where it belongs. */
static int
publish_page(const char *from, const char *path)
{
	if (rename(from, path) == 0)
		return 0;
	return err_fail_sys("cannot write '%s'", path);
}

/* --- the pages */

/* Writes how the commit differs from the one before it to 'deltas'; without
 * that, after reporting why, if they cannot be compared. */
static int
compare_commits(const struct commitpage *p, const char *deltas)
{
	char *format = mem_printf("jsonl:%s", deltas);
	const char *argv[] = {"vkb-compare", "-f", format, "--",
	    p->previous->path, p->entry->path, NULL};
	int rc = proc_call(argv, 2, deltas, PATIENCE_MS);

	free(format);
	return rc == -1 ? -1 : 0;
}

/* Write one page. They return -1, after reporting it, if it cannot be made. */
static int
write_commit_page(const struct commitpage *p)
{
	const char *key = p->entry->key;
	char *deltas = mem_printf("%s/%s.jsonl", p->site->work, key),
	     *draft = mem_printf("%s/%s.html", p->site->work, key),
	     *path = mem_printf("%s/%s.html", p->site->pages, key);
	struct str title = {0};
	const char *argv[12];
	size_t n = 0;
	int rc = 0;

	archive_entry_name(&title, p->entry);
	unlink(deltas);
	if (p->previous)
		rc = compare_commits(p, deltas);
	argv[n++] = "vkb-report";
	argv[n++] = "-o";
	argv[n++] = draft;
	argv[n++] = "--title";
	argv[n++] = title.s;
	if (p->site->url) {
		argv[n++] = "--commit-url";
		argv[n++] = p->site->url;
	}
	argv[n++] = "--";
	argv[n++] = p->entry->path;
	if (access(deltas, F_OK) == 0)
		argv[n++] = deltas;
	else if (p->previous && rc == 0)
		err_say("the page '%s' has no comparison", path);
	argv[n] = NULL;
	if (rc == 0 && proc_call(argv, 0, NULL, PATIENCE_MS) < 0)
		rc = -1;
	if (rc == 0)
		rc = add_navigation(draft, p, false);
	if (rc == 0)
		rc = publish_page(draft, path);
	str_free(&title);
	free(deltas);
	free(draft);
	free(path);
	return rc;
}

/* Returns the profile of a record for vkb-flame, or NULL if it is not of this
 * kind: exact counts are its line, samples are folded stacks. Caller frees. */
static char *
make_profile(const struct json *rec, const char *text, size_t len, bool exact)
{
	struct str s = {0};

	if (exact && archive_is_profile(rec)) {
		str_addn(&s, text, len);
		str_addc(&s, '\n');
	} else if (!exact && archive_is_sampled(rec)) {
		stacks_add(&s, rec);
	}
	return s.len ? str_take(&s) : NULL;
}

/* Writes the last profile of each case of a commit to 'path'. */
static int
write_profiles(const struct archive_entry *e, bool exact, const char *path)
{
	const char *from = e->path, *text;
	struct jsonl *in = jsonl_open(&from, 1);
	struct intern *cases = intern_new();
	char **profiles = NULL;
	struct str all = {0};
	struct json *rec;
	size_t cap = 0, n = 0, id, len;
	int rc;

	while ((rc = jsonl_text(in, &text, &len)) > 0) {
		char *line = mem_strn(text, len), *profile;

		if (record_tree(in, &rec) < 0)
			rec = NULL;
		profile = rec ? make_profile(rec, line, len, exact) : NULL;
		if (profile) {
			id = intern_id(cases, json_get_str(rec, "case"));
			if (id == n)
				*MEM_ADD(profiles, n, cap) = NULL;
			free(profiles[id]);
			profiles[id] = profile;
		}
		free(line);
		json_free(rec);
	}
	for (size_t i = 0; i < n; i++) {
		str_add(&all, profiles[i]);
		free(profiles[i]);
	}
	if (rc == 0)
		rc = tempfile_write(path, all.s, all.len);
	str_free(&all);
	free(profiles);
	intern_free(cases);
	jsonl_close(in);
	return rc;
}

static int
write_profile_page(const struct commitpage *p)
{
	bool exact = p->entry->profiles > 0;
	bool both = p->previous &&
	    (exact ? p->previous->profiles : p->previous->sampled) > 0;
	const char *key = p->entry->key;
	char *draft = mem_printf("%s/%s" PROFILE, p->site->work, key),
	     *path = mem_printf("%s/%s" PROFILE, p->site->pages, key),
	     *format = mem_printf("html:%s", draft),
	     *base = mem_printf("%s/base.jsonl", p->site->work),
	     *own = mem_printf("%s/own.jsonl", p->site->work);
	struct str title = {0};
	const char *argv[] = {"vkb-flame", "-f", format, "-t", NULL,
	    both ? "-b" : "--", both ? base : own, both ? "--" : NULL, own,
	    NULL};
	int rc = write_profiles(p->entry, exact, own);

	if (rc == 0 && both)
		rc = write_profiles(p->previous, exact, base);
	str_add(&title, "Profile of ");
	archive_entry_name(&title, p->entry);
	if (both) {
		str_add(&title, " against ");
		archive_entry_name(&title, p->previous);
	}
	argv[4] = title.s;
	if (rc == 0 && proc_call(argv, 0, NULL, PATIENCE_MS) < 0)
		rc = -1;
	if (rc == 0)
		rc = add_navigation(draft, p, true);
	if (rc == 0)
		rc = publish_page(draft, path);
	str_free(&title);
	free(draft);
	free(path);
	free(format);
	free(base);
	free(own);
	return rc;
}

/* The hash of the input of each page: {"commit/KEY.html": "HASH", ...}. */
#define MANIFEST "manifest.json"
#define WORK ".work" /* folder of temporary files */
#define INDEX "index.html"
#define CHANGES "changes.jsonl"

/* Was the page made of the input with this hash? Notes the hash in either case.
 */
static bool
is_up_to_date(struct site *s, const char *name, unsigned long long hash)
{
	const char *was = json_get_str(s->was, name);
	char *path = mem_printf("%s/%s", s->out, name), is[32];
	bool there;

	snprintf(is, sizeof is, "%016llx", hash);
	there = was && strcmp(was, is) == 0 && access(path, F_OK) == 0;
	free(path);
	s->kept += there;
	json_set_str(s->is, name, is);
	return there;
}

/* Returns a hash of what all pages depend on. */
static unsigned long long
start_hash(const struct site *s)
{
	unsigned long long h = STR_HASH;

	h = str_hash(h, opt_version(), strlen(opt_version()));
	return s->url ? str_hash(h, s->url, strlen(s->url)) : h;
}

/* Reports that a page could not be made; the next run tries it again. */
static void
fail_page(struct site *s, const char *name)
{
	json_del(s->is, name);
	s->rc = err_fail("cannot make the page '%s/%s'", s->out, name);
}

/* Returns the next entry from 'at' on, in steps of 1 or -1, of the same branch
 * if both have one; or NULL. */
static const struct archive_entry *
find_neighbour(const struct archive *a, size_t at, int step)
{
	for (size_t i = at + (size_t)step; i < a->n; i += (size_t)step)
		if (is_same_branch(&a->v[at], &a->v[i]))
			return &a->v[i];
	return NULL;
}

/* Makes a page unless it is up to date. */
static void
make_page(const struct commitpage *p, const char *end,
    int (*write)(const struct commitpage *))
{
	struct site *s = p->site;
	char *name = mem_printf(INDEX_PAGES "/%s%s", p->entry->key, end);

	if (!is_up_to_date(s, name, hash_page(p, start_hash(s)))) {
		if (write(p) < 0)
			fail_page(s, name);
		else
			s->made++;
	}
	free(name);
}

static void
make_commit_pages(struct site *s, size_t at)
{
	const struct archive *a = &s->archive;
	struct commitpage p = {.site = s,
	    .entry = &a->v[at],
	    .previous = find_neighbour(a, at, -1),
	    .next = find_neighbour(a, at, 1)};
	struct str status = {0};

	str_add(&status, "");
	write_status(&status, s, p.entry, "../" INDEX);
	p.status = status.s;
	make_page(&p, ".html", write_commit_page);
	if (has_profile(p.entry))
		make_page(&p, PROFILE, write_profile_page);
	str_free(&status);
}

/* Writes the change records and the text report of the whole history. Returns
 * -1 on error, after reporting it. */
static int
detect_changes(struct site *s, const char *changes)
{
	char *records = mem_printf("jsonl:%s", changes),
	     *text = mem_printf("text:%s/" INDEX_TEXT, s->out);
	const char *begin[] = {"vkb-detect", "-f", records, "-f", text, "--"};
	size_t n, m = sizeof begin / sizeof *begin;
	const char **paths = archive_list(&s->archive, &n);
	const char **argv = mem_array(m + n + 1, sizeof *argv);
	int rc;

	memcpy(argv, begin, sizeof begin);
	memcpy(argv + m, paths, n * sizeof *paths);
	rc = proc_call(argv, 1, NULL, PATIENCE_MS);
	if (rc < 0)
		s->rc = err_fail("cannot find the changes of the history");
	free(paths);
	free(argv);
	free(records);
	free(text);
	return rc < 0 ? -1 : 0;
}

static void
read_changes(struct site *s, const char *changes)
{
	struct jsonl *in;
	struct json *rec;
	size_t cap = 0;
	int got;

	if (access(changes, F_OK) < 0)
		return;
	in = jsonl_open(&changes, 1);
	while ((got = record_next(in, &rec)) != 0) {
		if (got < 0) {
			s->rc = -1;
			continue;
		}
		if (!record_is(rec, "change")) {
			json_free(rec);
			continue;
		}
		*MEM_ADD(s->records, s->nrecords, cap) = rec;
	}
	jsonl_close(in);
}

/* Returns a hash of the whole history. */
static unsigned long long
hash_history(struct site *s)
{
	const struct archive *a = &s->archive;
	unsigned long long h = start_hash(s);

	if (a->commits) {
		struct str text = {0};

		if (inputs_read(a->commits, &text) < 0)
			s->rc = -1;
		h = str_hash(h, text.s, text.len);
		str_free(&text);
	}
	for (size_t i = 0; i < a->n; i++)
		h = str_hash(h, &a->v[i].hash, sizeof a->v[i].hash);
	return h;
}

static void
write_index(struct site *s)
{
	char *path = mem_printf("%s/" INDEX, s->out);
	struct str text = {0};

	write_index_page(&text, s);
	if (tempfile_write(path, text.s, text.len) < 0)
		fail_page(s, INDEX);
	else
		s->made++;
	str_free(&text);
	free(path);
}

/* Makes the index and the pages of all commits. The change records stay in the
 * site. */
static void
make_pages(struct site *s)
{
	bool kept = is_up_to_date(s, INDEX, hash_history(s));
	char *changes = mem_printf("%s/" CHANGES, s->out);

	if (!kept)
		unlink(changes);
	if (!kept && s->archive.n && detect_changes(s, changes) < 0)
		s->unknown = true;
	read_changes(s, changes);
	if (read_trends(&s->trends, &s->archive) < 0)
		s->rc = -1;
	make_groups(&s->changes, &s->trends, s->records, s->nrecords);
	for (size_t i = 0; i < s->archive.n; i++)
		make_commit_pages(s, i);
	if (!kept)
		write_index(s);
	if (s->unknown)
		json_del(s->is, INDEX); /* the next run tries it again */
	free(changes);
}

/* Removes pages of commits that were pruned. After an error, or if one cannot
 * be removed, it stays in the manifest. */
static void
remove_stale(struct site *s)
{
	bool sure = s->rc == 0; /* else its file perhaps could not be read */

	for (const struct json *j = json_first(s->was); j; j = json_next(j)) {
		const char *name = json_key(j);
		char *path;

		if (json_get(s->is, name))
			continue;
		if (!str_starts(name, INDEX_PAGES "/") ||
		    strchr(name + strlen(INDEX_PAGES "/"), '/'))
			continue;
		path = mem_printf("%s/%s", s->out, name);
		if (sure && unlink(path) == 0)
			s->gone++;
		else if (!sure || errno != ENOENT) {
			json_set_str(s->is, name, json_str(j));
			if (sure)
				s->rc =
				    err_fail_sys("cannot remove '%s'", path);
		}
		free(path);
	}
}

/* Makes and removes pages. Of a history of which nothing could be read the site
 * stays as it is. */
static void
update_pages(struct site *s, const char *dir)
{
	char *manifest = mem_printf("%s/" MANIFEST, s->out);

	if (archive_read(&s->archive, dir) < 0)
		s->rc = -1;
	if (s->rc == 0 || s->archive.n) {
		if (access(manifest, F_OK) == 0)
			s->was = jsonfile_read(manifest);
		s->is = json_object();
		make_pages(s);
		remove_stale(s);
		if (jsonfile_write(manifest, s->is) < 0)
			s->rc = -1;
	}
	for (size_t i = 0; i < s->nrecords; i++)
		json_free(s->records[i]);
	free(s->records);
	free_groups(&s->changes);
	free_trends(&s->trends);
	free(manifest);
	json_free(s->was);
	json_free(s->is);
	archive_free(&s->archive);
}

static int
render_all(struct site *s, const char *dir)
{
	s->pages = mem_printf("%s/" INDEX_PAGES, s->out);
	s->work = mem_printf("%s/" WORK, s->out);
	folder_remove(s->work);
	if (folder_make(s->pages) < 0 || folder_make(s->work) < 0)
		s->rc = -1;
	else
		update_pages(s, dir);
	folder_remove(s->work);
	free(s->pages);
	free(s->work);
	return s->rc;
}

static bool
is_same_folder(const char *dir, const char *out)
{
	struct stat a, b;

	return stat(dir, &a) == 0 && stat(out, &b) == 0 &&
	    a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int
site_write(const char *dir, const char *out, const char *url, bool quiet)
{
	struct site s = {.out = out, .url = url};
	DIR *d = opendir(dir);
	int lock, rc;

	if (!d) /* what the site shows of it stays */
		return err_fail_sys("cannot read '%s'", dir);
	closedir(d);
	if (url && html_check_url("--commit-url", url) < 0)
		return -1;
	if (clock_today(s.today, getenv("SOURCE_DATE_EPOCH")) < 0)
		return -1;
	if (is_same_folder(dir, out))
		return err_fail(
		    "the site needs another folder than the history '%s'", dir);
	lock = archive_lock(out, true);
	if (lock < 0)
		return -1;
	rc = render_all(&s, dir);
	if (!quiet)
		err_say("%zu page%s made, %zu unchanged, %zu removed", s.made,
		    num_plural((double)s.made), s.kept, s.gone);
	close(lock);
	return rc;
}
