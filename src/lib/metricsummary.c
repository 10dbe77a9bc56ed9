#include "metricsummary.h"
#include "runseries.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "rows.h"
#include "sink.h"
#include "precision.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>

#define OUTLIER 5 /* an outlier has a modified z above this */
#define ENOUGH 5  /* least values for a list of outliers */
#define FEW 65536 /* runs up to which lists are cached */

void
metric_summary_members(struct sink *o, const struct json *j)
{
	struct str s = {0};

	json_append(&s, j);
	if (s.len > 2 && o->s.s[o->s.len - 1] != '{')
		str_addc(&o->s, ',');
	str_addn(&o->s, s.s + 1, s.len - 2);
	str_free(&s);
}

static struct json *
make_outlier(size_t at, uint32_t index, double v, double z)
{
	struct json *o = json_object();

	json_set_num(o, "at", (double)at);
	if (index != ROWS_UNKNOWN)
		json_set_num(o, "index", index);
	json_set_num(o, "value", v);
	json_set_num(o, "z", z); /* absent if the MAD is 0 */
	return o;
}

static void
add_outliers(struct json *to, const struct metric_summary *d, const double *v,
    double mid, double mad)
{
	struct json *out = json_array();

	for (size_t i = 0, place = 0; i < d->n; i++) {
		double x = v[d->at[i]], z;

		if (isnan(x))
			continue;
		z = stats_modified_z(x, mid, mad);
		if (z > OUTLIER)
			json_push(out,
			    make_outlier(place, d->runs[d->at[i]].index, x, z));
		place++;
	}
	if (json_first(out))
		json_set(to, "outliers", out);
	else
		json_free(out);
}

void
metric_summary_runs(struct metric_summary *d)
{
	d->placed = d->timed = true;
	for (size_t i = 0; i < d->n; i++) {
		const struct rows_run *r = &d->runs[i];

		if (r->session == ROWS_UNKNOWN)
			d->placed = d->timed = false;
		if (r->block == ROWS_UNKNOWN && r->index == ROWS_UNKNOWN &&
		    r->order == ROWS_UNKNOWN)
			d->timed = false;
	}
}

/* Adds the precision of the metric in the runs that have it. */
static void
add_noise(struct json *m, const struct metric_summary *d, const char *name,
    const double *v)
{
	struct variance_run *runs = mem_array(d->n + 1, sizeof *runs);
	size_t n = 0, known;
	const double *within = run_series_within(d->course, name, &known);

	for (size_t i = 0; i < d->n; i++) {
		size_t k = d->at[i];

		if (isnan(v[k]))
			continue;
		runs[n].value = v[k];
		runs[n].within = k < known ? within[k] : NAN;
		runs[n].session = d->placed && d->ids ? d->ids[k] : 0;
		runs[n++].machine = d->placed ? d->machines[k] : 0;
	}
	precision_add(m, runs, n, d->timed, d->precision);
	free(runs);
}

/* Returns the summary of n values in the order of the runs; sorts them. */
static struct json *
summarize_values(const struct metric_summary *d, double *v, size_t n,
    double *mid, double *mad)
{
	double lag1 = d->timed ? stats_lag1(v, n) : NAN, mean, sd, lo, hi;
	struct json *m = json_object();
	const char *method;

	stats_sort(v, n);
	mean = stats_mean(v, n);
	sd = stats_sd(v, n);
	*mid = stats_median(v, n);
	*mad = stats_mad(v, n);
	json_set_num(m, "n", (double)n);
	json_set_num(m, "median", *mid);
	json_set_num(m, "mean", mean);
	json_set_num(m, "sd", sd);
	if (mean != 0)
		json_set_num(m, "cv_percent", 100 * sd / fabs(mean));
	method = stats_ci(d->rule, v, n, .95, &lo, &hi);
	if (method) {
		json_set(m, "ci95", json_pair(lo, hi));
		json_set_str(m, "ci95_method", method);
	}
	if (n >= 2)
		json_set_num(m, "mad", *mad);
	if (n >= 2 && *mid != 0) {
		json_set_num(
		    m, "robust_cv_percent", 100 * 1.4826 * *mad / fabs(*mid));
		json_set_num(m, "iqr_percent",
		    100 *
			(stats_quantile(v, n, .75) -
			    stats_quantile(v, n, .25)) /
			fabs(*mid));
	}
	json_set_num(m, "lag1", lag1);
	return m;
}

/* Appends a list with an entry for each run that has a value. */
static void
append_list(struct sink *o, const struct metric_summary *d, const double *v,
    enum metric_summary_list what)
{
	static const char *const keys[] = {
	    ",\"values\":[", ",\"blocks\":[", ",\"sessions\":["};
	bool any = false;

	str_add(&o->s, keys[what]);
	for (size_t i = 0; i < d->n; i++) {
		uint32_t at = d->at[i];

		if (isnan(v[at]))
			continue;
		if (any)
			str_addc(&o->s, ',');
		any = true;
		num_append(&o->s,
		    what == METRIC_SUMMARY_VALUES       ? v[at]
			: what == METRIC_SUMMARY_BLOCKS ? d->runs[at].block
							: d->ids[at]);
		sink_relieve(o);
	}
	str_addc(&o->s, ']');
}

/* The same; if all runs have a value, the list is that of the metric before. */
static void
append_cached_list(struct sink *o, struct metric_summary *d, const double *v,
    size_t n, enum metric_summary_list what)
{
	struct sink own = {.s = d->lists[what], .fd = -1};

	if (n < d->n || n > FEW) {
		append_list(o, d, v, what);
		return;
	}
	if (!own.s.len)
		append_list(&own, d, v, what);
	d->lists[what] = own.s;
	str_addn(&o->s, own.s.s, own.s.len);
}

void
metric_summary_free(struct metric_summary *d)
{
	for (size_t i = 0; i < METRIC_SUMMARY_LISTS; i++)
		str_free(&d->lists[i]);
}

void
metric_summary_write(struct sink *o, struct metric_summary *d, const char *name,
    const double *v, bool brief)
{
	double *sorted = mem_array(d->n + 1, sizeof *sorted), mid, mad;
	struct json *m, *out = json_object();
	bool blocked = true;
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++) {
		const struct rows_run *r = &d->runs[d->at[i]];

		if (isnan(v[d->at[i]]))
			continue;
		sorted[n++] = v[d->at[i]];
		if (r->block == ROWS_UNKNOWN || r->session == ROWS_UNKNOWN)
			blocked = false;
	}
	m = summarize_values(d, sorted, n, &mid, &mad);
	add_noise(m, d, name, v);
	if (stats_bimodal(sorted, n))
		json_set_bool(m, "bimodal", true);
	json_set_num(m, "min", sorted[0]);
	json_set_num(m, "max", sorted[n - 1]);
	free(sorted);
	metric_summary_members(o, m);
	if (!brief)
		append_list(o, d, v, METRIC_SUMMARY_VALUES);
	if (!brief && blocked)
		append_cached_list(o, d, v, n, METRIC_SUMMARY_BLOCKS);
	if (!brief && blocked && d->ids)
		append_cached_list(o, d, v, n, METRIC_SUMMARY_SESSIONS);
	if (n >= ENOUGH)
		add_outliers(out, d, v, mid, mad);
	metric_summary_members(o, out);
	json_free(m);
	json_free(out);
}
