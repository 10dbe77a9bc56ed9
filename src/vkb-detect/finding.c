#include "finding.h"
#include "casename.h"
#include "changepoint.h"
#include "counted.h"
#include "deciding.h"
#include "grouping.h"
#include "joining.h"
#include "judge/model.h"
#include "json.h"
#include "mem.h"
#include "reading.h"
#include "setup.h"
#include "slow.h"
#include "steps.h"
#include "weighing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEAR 100 /* points on each side that are compared */

const char *
finding_name_kind(enum finding_kind kind)
{
	if (kind == FINDING_SPIKE)
		return "spike";
	return kind == FINDING_TREND ? "trend"
				     : verdict_name((enum verdict)kind);
}

enum finding_kind
finding_direction(const struct finding *f)
{
	return f->kind == FINDING_TREND ? f->way : f->kind;
}

bool
finding_is_counted(const struct finding *f)
{
	return finding_direction(f) == FINDING_REGRESSION && f->gate &&
	    f->fresh && f->stands && !f->waived;
}

size_t
finding_find_revert(const struct findings *all, size_t group)
{
	size_t at = SIZE_MAX;

	for (size_t i = finding_find_next(all, group, 0); i < all->n;
	     i = finding_find_next(all, group, i + 1)) {
		const struct finding *f = &all->v[i];

		if (!f->gate || finding_direction(f) != FINDING_REGRESSION)
			continue;
		if (f->stands)
			return SIZE_MAX;
		if (at == SIZE_MAX || f->reverted > at)
			at = f->reverted;
	}
	return at;
}

/* Sets the metric, margin, class and waiver of a series. 'counted': all its
 * values are of counted runs. Returns false, and leaves nothing to free, if the
 * series is not to be shown. */
static bool
init_finding(struct finding *f, const struct branch *b, const struct series *s,
    const struct finding_rules *r, bool counted, bool *exact)
{
	struct policy_answer a;
	bool shown;

	*f = (struct finding){.series = s,
	    .metric = metric_guess(s->metric),
	    .name = casename_of(b->names, s->config),
	    .pace = NAN,
	    .evidence = NAN,
	    .probability = NAN,
	    .stands = true,
	    .method = "levels"};
	if (counted)
		counted_make_exact(&f->metric);
	policy_find_answer(
	    r->policy, s->config, f->name, s->metric, r->today, &a);
	if (a.better >= 0)
		f->metric.better = (enum metric_better)a.better;
	f->margin = isnan(a.margin) ? f->metric.margin : a.margin;
	f->waiver = a.waiver;
	*exact = a.exact == 1 || f->metric.exact;
	if (f->metric.closed)
		f->metric.gate = metric_is_closed(s->config);
	/* Runs beside a reference are judged by their ratios to it. */
	if (metric_has_ratio(s->metric) && s->kase->beside && !s->kase->alone)
		f->metric.gate = false;
	if (f->metric.instead_of)
		f->metric.gate = true;
	shown = metric_is_shown(r->metrics, &f->metric, a.gate, &f->gate);
	if (f->metric.grows && a.gate != 1 && metric_keys_differ(s->config))
		f->gate = false;
	if (!shown)
		free(f->name);
	return shown;
}

/* Adds a copy of 'f', with a copy of the name. */
static struct finding *
add_finding(struct findings *all, const struct finding *f)
{
	all->v = mem_grow(all->v, all->n, &all->cap, sizeof *all->v);
	all->v[all->n] = *f;
	all->v[all->n].name = mem_str(f->name);
	return &all->v[all->n++];
}

/* Measures change i of c[0..n-1] in a series that ends at 'end' by the points
 * next to it; a spike at the very beginning by those after it. */
static void
measure_finding(struct finding *f, const double *v, size_t end,
    const struct changepoint *c, size_t n, size_t i)
{
	double *x = mem_array(end + 1, sizeof *x);
	double *y = mem_array(end + 1, sizeof *y);
	size_t nx = weighing_collect(v, c[i].from, c[i].at, c, n, x, NULL);
	size_t ny = weighing_collect(
	    v, c[i].at, c[i].to, c, c[i].spike ? 0 : n, y, NULL);
	size_t skip = nx > NEAR ? nx - NEAR : 0;

	for (size_t k = i; k < n && !nx; k++)
		if (!c[k].spike || k + 1 == n)
			nx = weighing_collect(v, c[i].to,
			    c[k].spike ? end : c[k].at, c, n, x, NULL);
	weighing_levels(f, x + skip, nx - skip, y, ny > NEAR ? NEAR : ny);
	f->kind = (enum finding_kind)verdict_direction(
	    f->metric.better, f->facts.change > 0);
	if (c[i].spike)
		f->kind = FINDING_SPIKE;
	free(x);
	free(y);
}

/* A change of a count is not one of the commit where the builds before it and
 * at it say how they were built, and differ. */
static void
set_rebuilt(
    struct finding *f, const struct branch *b, const double *v, size_t at)
{
	const struct json *now = json_get(b->points[at].subject, "build");
	const struct json *before = NULL;

	for (size_t i = at; i-- > 0 && !before;)
		if (!isnan(v[i]))
			before = json_get(b->points[i].subject, "build");
	f->rebuilt =
	    f->metric.exact && now && before && !json_equal(now, before);
	f->gate = f->gate && !f->rebuilt;
}

/* Is this level beyond the margin, in the direction of the change? */
static bool
stands_at(const struct finding *f, double now)
{
	double before = f->facts.median[0];

	if ((now > before) != (f->facts.median[1] > before))
		return false;
	return fmin(now, before) < fmax(now, before) * (1 - f->margin) ||
	    before <= 0;
}

/* Returns where the level of a finding begins; that of a trend is its last. */
static size_t
find_level_start(const struct finding *f)
{
	return f->kind == FINDING_TREND ? f->hi : f->at;
}

/* Closes each of the n findings of a series that a later level has
 * brought back: a still later one is another change, even to the same level. */
static void
close_findings(struct finding *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct finding *f = &v[i];

		f->stands = true;
		for (size_t k = 0; k < n; k++) {
			size_t from = find_level_start(&v[k]);

			if (v[k].kind == FINDING_SPIKE ||
			    from <= find_level_start(f) ||
			    (!f->stands && from >= f->reverted) ||
			    stands_at(f, v[k].facts.median[1]))
				continue;
			f->stands = false;
			f->reverted = from;
		}
	}
}

/* If the setup changed with it, the change is not one of the commit. */
static void
find_setup(
    struct finding *f, const struct branch *b, const struct branch_values *s)
{
	if (f->kind == FINDING_SPIKE)
		return;
	f->setup = setup_find_change(b, s, f->series->machine, 1, f->lo, f->hi);
	if (f->setup && f->kind == FINDING_TREND)
		f->way = FINDING_DIFFERENT;
	else if (f->setup)
		f->kind = FINDING_DIFFERENT;
}

/* Adds the trends of all levels. */
static void
find_trends(struct findings *all, const struct branch *b,
    const struct finding *frame, const struct branch_values *s,
    const struct changepoint *c, size_t n, size_t since)
{
	const double *v = s->v;
	size_t npoints = b->npoints, from = 0;

	for (size_t i = 0; i <= n; i++) {
		struct finding f = *frame;
		bool found;

		if (i < n && c[i].spike)
			continue;
		found = slow_find(&f, v, from, i < n ? c[i].at : npoints, c, n);
		from = i < n ? c[i].at : npoints;
		if (!found)
			continue;
		f.fresh = f.hi >= since;
		find_setup(&f, b, s);
		add_finding(all, &f);
	}
}

static void
find_changes(struct findings *all, const struct branch *b,
    const struct finding *frame, const struct branch_values *s, bool exact,
    const struct finding_rules *r)
{
	const struct changepoint_rules rules = {
	    CHANGEPOINT_WINDOW, CHANGEPOINT_P, frame->margin, false};
	struct changepoint *c;
	size_t n, first = all->n;

	n = exact ? steps_find(s, b->npoints, frame->margin, &c)
		  : changepoint_find(s->v, b->npoints, &rules, &c);
	for (size_t i = 0; i < n; i++) {
		struct finding *f = add_finding(all, frame);

		f->at = c[i].at;
		f->lo = c[i].lo;
		f->hi = c[i].hi;
		f->n[0] = c[i].n[0];
		f->n[1] = c[i].n[1];
		if (exact || c[i].spike)
			f->method = exact ? "exact" : "spike";
		set_rebuilt(f, b, s->v, c[i].at);
		measure_finding(f, s->v, b->npoints, c, n, i);
		if (exact || c[i].spike)
			f->evidence = NAN;
		find_setup(f, b, s);
		f->fresh = f->hi >= r->since;
	}
	if (!exact)
		find_trends(all, b, frame, s, c, n, r->since);
	close_findings(all->v + first, all->n - first);
	if (!exact && s->n < CHANGEPOINT_LEAST) {
		all->tooshort++;
		if (!all->shortest || s->n < all->shortest_points) {
			all->shortest = frame->series;
			all->shortest_points = s->n;
		}
	}
	free(c);
}

/* Keeps the runs of points lo..end. Where there are too few points before the
 * newest to tell how much they differ, those that share a session with another
 * are one. */
static void
keep_runs(struct finding *f, const struct branch *b,
    const struct branch_values *s, size_t lo, size_t end, size_t points)
{
	size_t k = 0;

	f->runs = mem_array(f->n[0] + f->n[1] + 1, sizeof *f->runs);
	f->sessions = mem_array(f->n[0] + f->n[1] + 1, sizeof *f->sessions);
	for (size_t i = lo; i <= end; i++) {
		size_t same = i;

		for (size_t j = lo; j < i && points < MODEL_SESSIONS; j++)
			if (same == i && b->points[i].session &&
			    b->points[j].session == b->points[i].session)
				same = j;
		for (size_t j = s->first[i]; j < s->first[i + 1]; j++, k++) {
			f->runs[k] = s->all[j];
			f->sessions[k] = (uint32_t)(same - lo);
		}
	}
}

/* Compares the newest point with the last ones before it that have values.
 * Returns 1 if it has values, -1 if only these have some, 0 if neither. */
static int
compare_newest(struct findings *all, const struct branch *b,
    const struct finding *frame, const struct branch_values *s, bool exact,
    const struct finding_rules *r)
{
	size_t end = b->npoints ? b->npoints - 1 : 0, lo = end, k = 0, m, n;
	const double *x, *y;
	struct finding *f;

	while (lo > 0 && k < r->latest)
		k += !isnan(s->v[--lo]);
	x = s->all + s->first[lo];
	y = s->all + s->first[end];
	m = s->first[end] - s->first[lo];
	n = s->first[end + (b->npoints > 0)] - s->first[end];
	if (n && m) {
		f = add_finding(all, frame);
		f->facts = exact ? verdict_measure_exact(x, m, y, n)
				 : verdict_start(x, m, y, n);
		if (f->metric.exact && isnan(f->facts.sd) &&
		    !verdict_is_spread(&f->facts))
			f->gate = false;
		f->method = "exact";
		set_rebuilt(f, b, s->v, end);
		f->at = f->hi = end;
		for (f->lo = end; f->lo > 0 && isnan(s->v[f->lo - 1]);)
			f->lo--;
		f->setup = setup_find_change(
		    b, s, f->series->machine, r->latest, end, end);
		f->n[0] = m;
		f->n[1] = n;
		if (!exact)
			keep_runs(f, b, s, lo, end, k);
		f->fresh = end >= r->since;
	}
	return n ? 1 : m ? -1 : 0;
}

/* A series, what is known of it before it is judged, and its values. */
struct judged {
	const struct series *series;
	struct finding frame;
	struct branch_values v;
	bool shown, exact;
};

/* Reads the series, if it is shown: whether a metric is exact may depend on its
 * values. */
static int
read_judged(struct judged *j, const struct branch *b, const struct series *s,
    const struct finding_rules *r)
{
	const struct metric m = metric_guess(s->metric);
	int rc = 0;

	*j = (struct judged){.series = s};
	if (counted_may_be(&m) && branch_read_values(b, s, &j->v) < 0)
		rc = -1;
	j->shown = init_finding(&j->frame, b, s, r, j->v.counted, &j->exact);
	if (j->shown && !j->v.v && branch_read_values(b, s, &j->v) < 0)
		rc = -1;
	return rc;
}

/* Judges the series of one case and metric, of which each machine has one. */
static void
judge_series(struct findings *all, const struct branch *b, struct judged *v,
    size_t n, const struct finding_rules *r, size_t tested[2])
{
	size_t missing = 0;
	bool newest = false;
	int has;

	for (size_t i = 0; i < n; i++) {
		struct judged *j = &v[i];

		all->others += j->v.others;
		if (!j->shown || !j->v.n)
			continue;
		all->series++;
		tested[j->frame.gate] +=
		    !j->exact && j->v.n >= CHANGEPOINT_LEAST;
		if (!r->latest) {
			find_changes(all, b, &j->frame, &j->v, j->exact, r);
			continue;
		}
		has = compare_newest(all, b, &j->frame, &j->v, j->exact, r);
		newest |= has > 0;
		missing += has < 0 && !j->frame.metric.instead_of;
	}
	if (!newest)
		all->absent += missing;
}

int
finding_find_all(
    struct findings *all, const struct branch *b, const struct finding_rules *r)
{
	struct judged *v = mem_array(b->machines + 1, sizeof *v);
	const struct json *config = NULL;
	size_t tested[2] = {0};
	int rc = 0;

	*all = (struct findings){.machines = b->machines};
	for (size_t i = 0, n; i < b->nseries; i += n) {
		const struct series *s = &b->series[i];
		size_t before = all->series;

		for (n = 0; i + n < b->nseries && s[n].kase == s->kase &&
		     s[n].column == s->column;
		     n++)
			if (read_judged(&v[n], b, &s[n], r) < 0)
				rc = -1;
		judge_series(all, b, v, n, r, tested);
		all->cases += all->series > before && s->config != config;
		config = all->series > before ? s->config : config;
		for (size_t k = 0; k < n; k++) {
			branch_free_values(&v[k].v);
			if (v[k].shown)
				free(v[k].frame.name);
		}
	}
	free(v);
	if (r->latest) {
		deciding_judge(all, b->reading->is_virtual);
	} else {
		joining_match(all);
		deciding_claim(all, tested);
	}
	for (size_t i = 0; i < all->n; i++)
		all->v[i].waived =
		    policy_waives(&all->v[i].waiver, all->v[i].facts.ratio);
	if (joining_make(all, b, r) < 0)
		rc = -1;
	grouping_make(all, b, r->latest > 0);
	return rc;
}

void
finding_drop(struct finding *f)
{
	free(f->name);
	free(f->setup);
	free(f->runs);
	free(f->sessions);
	free(f->parts);
	free(f->without);
}

void
finding_free(struct findings *all)
{
	for (size_t i = 0; i < all->n; i++)
		finding_drop(&all->v[i]);
	free(all->v);
	free(all->groups);
	*all = (struct findings){0};
}

size_t
finding_find_next(const struct findings *all, size_t group, size_t from)
{
	while (from < all->n && all->v[from].group != group)
		from++;
	return from;
}
