#include "runseries.h"
#include "changepoint.h"
#include "hist.h"
#include "json.h"
#include "mem.h"
#include "runrecord.h"
#include "stats.h"
#include "steady.h"
#include "str.h"
#include "variance.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TIME "at_s" /* of vkb-record(5): when each interval ended */
#define RATE "rps"  /* the series that is classified */

/* A value of each run, or NAN. */
struct column {
	char *name;
	double q; /* of a histogram; 0: variance_within */
	double *v;
	size_t n, cap;
};

struct run_series {
	struct column *cols;
	size_t ncols;
	size_t verdicts[STEADY_DRIFTING + 1]; /* of runs with a series */
	size_t kinds[STEADY_KINDS];
	struct column warmup; /* seconds; not sorted */
};

struct run_series *
run_series_new(void)
{
	return mem_new(sizeof(struct run_series));
}

void
run_series_free(struct run_series *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->ncols; i++) {
		free(c->cols[i].name);
		free(c->cols[i].v);
	}
	free(c->cols);
	free(c->warmup.v);
	free(c);
}

static void
set_value(struct column *c, size_t run, double v)
{
	while (c->n <= run)
		*MEM_ADD(c->v, c->n, c->cap) = NAN;
	c->v[run] = v;
}

static struct column *
find_column(const struct run_series *c, const char *name, double q)
{
	for (size_t i = 0; i < c->ncols; i++)
		if (c->cols[i].q == q && strcmp(c->cols[i].name, name) == 0)
			return &c->cols[i];
	return NULL;
}

static struct column *
intern_column(struct run_series *c, const char *name, double q)
{
	struct column *col = find_column(c, name, q);

	if (col)
		return col;
	c->cols = mem_resize(c->cols, c->ncols + 1, sizeof *c->cols);
	c->cols[c->ncols] = (struct column){.name = mem_str(name), .q = q};
	return &c->cols[c->ncols++];
}

/* Returns the numbers of an array; NULL if one is not finite. Caller frees. */
static double *
read_finite_numbers(const struct json *a, size_t *n)
{
	double *v = json_numbers(a, n);

	for (size_t i = 0; i < *n; i++)
		if (!isfinite(v[i])) {
			free(v);
			return NULL;
		}
	return v;
}

static enum steady_kind
classify_series(const double *v, size_t n)
{
	/* No permutations: steady_classify ignores equal levels. */
	struct changepoint_rules rules = {
	    CHANGEPOINT_WINDOW, CHANGEPOINT_P, STEADY_DRIFT, true};
	struct changepoint *found;
	size_t k = changepoint_find(v, n, &rules, &found), levels = 0;
	size_t *first = mem_array(k + 1, sizeof *first);
	enum steady_kind kind;

	for (size_t i = 0; i < k; i++)
		if (!found[i].spike)
			first[levels++] = found[i].at;
	kind = steady_classify(v, n, first, levels, true);
	free(first);
	free(found);
	return kind;
}

static void
judge_series(
    struct run_series *c, const double *v, size_t n, const struct json *time)
{
	struct steady s = steady_judge(v, n);

	c->verdicts[s.verdict]++;
	if (s.verdict == STEADY_NONE)
		return;
	c->kinds[classify_series(v, n)]++;
	set_value(&c->warmup, c->warmup.n,
	    s.cut ? json_num(json_at(time, s.cut - 1), NAN) : 0);
}

static void
add_series(struct run_series *c, size_t run, const struct json *series)
{
	for (const struct json *j = json_first(series); j; j = json_next(j)) {
		const char *name = json_key(j);
		double *v, within;
		size_t n, cut;

		if (strcmp(name, TIME) == 0)
			continue;
		v = read_finite_numbers(j, &n);
		if (!v || !n) {
			free(v);
			continue;
		}
		cut = n < STEADY_LEAST ? 0 : steady_mser5(v, n, NULL);
		within = variance_within(v + cut, n - cut);
		if (!isnan(within))
			set_value(intern_column(c, name, 0), run, within);
		if (strcmp(name, RATE) == 0)
			judge_series(c, v, n, json_get(series, TIME));
		free(v);
	}
}

/* Returns NULL if the record lacks the member. */
static struct json *
parse_member(const struct jsonscan_text *t)
{
	return t->s ? json_parse(t->s, t->n, NULL, NULL) : NULL;
}

void
run_series_add(struct run_series *c, size_t run, const struct run_record *r)
{
	struct json *series = r->ok ? parse_member(&r->series) : NULL;

	add_series(c, run, series);
	json_free(series);
}

void
run_series_hist(
    struct run_series *c, size_t run, const char *name, const struct hist *h)
{
	const double *q = histdiff_quantiles;
	int64_t v[16];
	size_t n = 0;

	while (q[n] > 0 && histdiff_shown(hist_count(h), q[n]))
		n++;
	hist_quantiles(h, q, n, v);
	for (size_t i = 0; i < n; i++)
		set_value(intern_column(c, name, q[i]), run, (double)v[i]);
}

const double *
run_series_within(const struct run_series *c, const char *metric, size_t *n)
{
	const struct column *col = find_column(c, metric, 0);

	*n = col ? col->n : 0;
	return col ? col->v : NULL;
}

static bool
is_complete(const struct column *c, size_t n)
{
	for (size_t i = 0; i < c->n; i++)
		if (isnan(c->v[i]))
			return false;
	return n && c->n == n;
}

static int
compare_by_name(const void *a, const void *b)
{
	const struct column *const *x = a, *const *y = b;
	int c = strcmp((*x)->name, (*y)->name);

	return c ? c : ((*x)->q > (*y)->q) - ((*x)->q < (*y)->q);
}

static void
set_quantiles(
    const struct run_series *c, const uint32_t *at, size_t n, struct json *rec)
{
	const struct column **cols = mem_array(c->ncols + 1, sizeof *cols);
	struct json *all = json_object(), *one = NULL, *a;
	struct str key = {0};
	size_t k = 0;

	for (size_t i = 0; i < c->ncols; i++)
		if (c->cols[i].q > 0 && is_complete(&c->cols[i], n))
			cols[k++] = &c->cols[i];
	mem_sort(cols, k, sizeof *cols, compare_by_name);
	for (size_t i = 0; i < k; i++) {
		if (!i || strcmp(cols[i]->name, cols[i - 1]->name) != 0) {
			one = json_object();
			json_set(all, cols[i]->name, one);
		}
		a = json_array();
		for (size_t j = 0; j < n; j++)
			json_push_num(a, cols[i]->v[at[j]]);
		str_clear(&key);
		str_printf(&key, "%.10g", 100 * cols[i]->q);
		json_set(one, key.s, a);
	}
	json_set_filled(rec, "quantiles", all);
	str_free(&key);
	free(cols);
}

static void
set_steadiness(const struct run_series *c, size_t n, struct json *rec)
{
	size_t judged =
	    c->verdicts[STEADY_STEADY] + c->verdicts[STEADY_DRIFTING];
	struct json *s, *kinds;

	if (!judged && !c->verdicts[STEADY_NONE])
		return;
	s = json_object();
	json_set_num(s, "steady", (double)c->verdicts[STEADY_STEADY]);
	json_set_num(s, "drifting", (double)c->verdicts[STEADY_DRIFTING]);
	json_set_num(s, "none", (double)(n - judged));
	json_set_num(s, "warmup_s", stats_middle(c->warmup.v, c->warmup.n));
	if (judged) {
		kinds = json_object();
		for (int i = 0; i < STEADY_KINDS; i++)
			if (c->kinds[i])
				json_set_num(kinds,
				    steady_kind_name((enum steady_kind)i),
				    (double)c->kinds[i]);
		json_set(s, "kinds", kinds);
	}
	json_set(rec, "steady", s);
}

void
run_series_summary(
    const struct run_series *c, const uint32_t *at, size_t n, struct json *rec)
{
	set_quantiles(c, at, n, rec);
	set_steadiness(c, n, rec);
}
