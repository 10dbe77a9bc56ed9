#include "metricsummary.h"
#include "runseries.h"
#include "jsontext.h"
#include "mem.h"
#include "num.h"
#include "rows.h"
#include "sink.h"
#include "precision.h"
#include "bimodal.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>

#define OUTLIER 5 /* an outlier has a modified z above this */
#define ENOUGH 5  /* least values for a list of outliers */

static void
append_outlier(struct str *to, size_t at, uint32_t index, double v, double z)
{
	jsontext_comma(to);
	str_addc(to, '{');
	jsontext_num(to, "at", (double)at);
	if (index != ROWS_UNKNOWN)
		jsontext_num(to, "index", index);
	jsontext_num(to, "value", v);
	jsontext_num(to, "z", z); /* absent if the MAD is 0 */
	str_addc(to, '}');
}

static void
append_outliers(struct str *to, const struct metric_summary *d, const double *v,
    double mid, double mad)
{
	bool any = false;

	for (size_t i = 0, place = 0; i < d->n; i++) {
		double x = v[d->at[i]], z;

		if (isnan(x))
			continue;
		z = stats_modified_z(x, mid, mad);
		if (z > OUTLIER) {
			if (!any) {
				jsontext_key(to, "outliers");
				str_addc(to, '[');
			}
			any = true;
			append_outlier(
			    to, place, d->runs[d->at[i]].index, x, z);
		}
		place++;
	}
	if (any)
		str_addc(to, ']');
}

void
metric_summary_begin(struct metric_summary *d)
{
	d->sorted = mem_resize(NULL, d->n, sizeof *d->sorted);
	d->noise = mem_resize(NULL, d->n, sizeof *d->noise);
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

/* Appends the precision of the metric in the runs that have it. */
static void
append_noise(struct str *to, const struct metric_summary *d,
    struct precision *m, const char *name, const double *v)
{
	size_t known = 0;
	const double *within =
	    d->series ? run_series_within(d->series, name, &known) : NULL;

	m->n = 0;
	for (size_t i = 0; i < d->n; i++) {
		size_t k = d->at[i];

		if (isnan(v[k]))
			continue;
		d->noise[m->n++] =
		    (struct variance_run){v[k], k < known ? within[k] : NAN,
			d->placed && d->ids ? d->ids[k] : 0,
			d->placed ? d->machines[k] : 0};
	}
	m->runs = d->noise;
	m->timed = d->timed;
	precision_append(to, m, d->precision);
}

static void
append_interval(struct str *to, struct precision *m, const char *method)
{
	jsontext_key(to, "ci95");
	str_addc(to, '[');
	if (isfinite(m->lo))
		num_append(to, m->lo);
	if (isfinite(m->hi)) {
		jsontext_comma(to);
		num_append(to, m->hi);
	}
	str_addc(to, ']');
	jsontext_str(to, "ci95_method", method);
}

/* Appends the summary of n values in the order of the runs; sorts them. Returns
 * their MAD. */
static double
append_numbers(struct str *to, struct stats_rule *rule, bool timed, double *v,
    size_t n, struct precision *m)
{
	double lag1 = timed ? stats_lag1(v, n) : NAN, sd, mad, mid;
	const char *method;

	stats_sort(v, n);
	*m = (struct precision){.mean = stats_mean(v, n),
	    .median = stats_median(v, n),
	    .hi = INFINITY};
	sd = stats_sd(v, n);
	mad = stats_mad(v, n);
	mid = fabs(m->median);
	jsontext_num(to, "n", (double)n);
	jsontext_num(to, "median", m->median);
	jsontext_num(to, "mean", m->mean);
	jsontext_num(to, "sd", sd);
	if (m->mean != 0)
		jsontext_num(to, "cv_percent", 100 * sd / fabs(m->mean));
	method = stats_ci(rule, v, n, .95, &m->lo, &m->hi);
	if (method)
		append_interval(to, m, method);
	if (n >= 2)
		jsontext_num(to, "mad", mad);
	if (n >= 2 && mid != 0) {
		jsontext_num(to, "robust_cv_percent", 100 * 1.4826 * mad / mid);
		jsontext_num(to, "iqr_percent",
		    100 *
			(stats_quantile(v, n, .75) -
			    stats_quantile(v, n, .25)) /
			mid);
	}
	jsontext_num(to, "lag1", lag1);
	return mad;
}

enum list { VALUES, BLOCKS, SESSIONS };

/* Appends a list with an entry for each run that has a value. */
static void
append_list(struct sink *o, const struct metric_summary *d, const double *v,
    enum list what)
{
	static const char *const keys[] = {
	    ",\"values\":[", ",\"blocks\":[", ",\"sessions\":["};

	str_add(&o->s, keys[what]);
	for (size_t i = 0; i < d->n; i++) {
		uint32_t at = d->at[i];

		if (isnan(v[at]))
			continue;
		num_append(&o->s,
		    what == VALUES       ? v[at]
			: what == BLOCKS ? d->runs[at].block
					 : d->ids[at]);
		sink_relieve(o);
		str_addc(&o->s, ',');
	}
	o->s.s[o->s.len - 1] = ']';
}

void
metric_summary_free(struct metric_summary *d)
{
	free(d->sorted);
	free(d->noise);
}

void
metric_summary_write(struct sink *o, struct metric_summary *d, const char *name,
    const double *v, bool brief)
{
	double mad, *sorted = d->sorted;
	struct precision m;
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
	mad = append_numbers(&o->s, d->rule, d->timed, sorted, n, &m);
	append_noise(&o->s, d, &m, name, v);
	if (bimodal_detect(sorted, n))
		jsontext_true(&o->s, "bimodal");
	jsontext_num(&o->s, "min", sorted[0]);
	jsontext_num(&o->s, "max", sorted[n - 1]);
	if (!brief)
		append_list(o, d, v, VALUES);
	if (!brief && blocked)
		append_list(o, d, v, BLOCKS);
	if (!brief && (blocked || d->placed) && d->ids)
		append_list(o, d, v, SESSIONS);
	if (n >= ENOUGH)
		append_outliers(&o->s, d, v, m.median, mad);
}
