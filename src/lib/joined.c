#include "joined.h"
#include "hist.h"
#include "histcodec.h"
#include "json.h"
#include "mem.h"
#include "metric.h"
#include "str.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static double
get_metric(const struct json *part, const char *key)
{
	return json_get_num(json_get(part, "metrics"), key, NAN);
}

/* Sums over the parts that have the metric, or NAN if one lacks it. */
static double
add_up(const struct joined *w, const char *key)
{
	double sum = 0;

	for (size_t i = 0; i < w->n; i++)
		sum += get_metric(w->v[i], key);
	return sum;
}

/*
 * Returns the mean of a per-request metric over the requests of all parts. The
 * cost of the server is known only to the parts on its host, and each of them
 * divided the whole cost by its own requests: so their costs are equal, not
 * added up.
 */
static double
compute_per_request(const struct joined *w, const char *key, bool server)
{
	double all = add_up(w, "requests"), sum = 0, most = NAN, one;

	for (size_t i = 0; i < w->n; i++) {
		one =
		    get_metric(w->v[i], key) * get_metric(w->v[i], "requests");
		sum += one;
		most = fmax(most, one);
	}
	return (server ? most : sum) / all;
}

/* Returns NAN for a percentile, which is that of the joined histogram. */
static double
join_metric(const struct joined *w, const char *key)
{
	const struct metric m = metric_guess(key);
	bool least = m.hist && m.quantile == 0;
	double v = NAN, one;

	if (m.join == METRIC_SUM)
		return add_up(w, key);
	if (m.join != METRIC_MOST)
		return compute_per_request(w, key, m.join == METRIC_SHARED);
	if (m.hist && m.quantile > 0 && m.quantile < 1)
		return NAN;
	for (size_t i = 0; i < w->n; i++) {
		one = get_metric(w->v[i], key);
		v = least ? fmin(v, one) : fmax(v, one);
	}
	return v;
}

static void
join_metrics(const struct joined *w, struct json *run)
{
	struct json *all = json_object(), *m;

	for (size_t i = 0; i < w->n; i++)
		for (m = json_first(json_get(w->v[i], "metrics")); m;
		     m = json_next(m))
			if (!json_get(all, json_key(m)))
				json_set_num(all, json_key(m),
				    join_metric(w, json_key(m)));
	if (w->seconds > 0) { /* until the last part had ended */
		json_set_num(all, "elapsed_s", w->seconds);
		json_set_num(all, "rps", add_up(w, "requests") / w->seconds);
	}
	json_set(run, "metrics", all);
	metric_set_achieved(all);
}

/* Sets the percentiles to those of a histogram of ns. Its text does not have
 * the exact extremes, which are known from the parts. */
static void
set_percentiles(struct json *metrics, const char *hist, const struct hist *h)
{
	double most = INFINITY;

	for (const struct metric *m = metric_table; m->name; m++)
		if (metric_is_percentile(m, hist) && m->quantile == 1)
			most = json_get_num(metrics, m->name, most);
	for (const struct metric *m = metric_table; m->name; m++)
		if (metric_is_percentile(m, hist) && m->quantile < 1 &&
		    hist_count(h))
			json_set_num(
			    metrics, m->name, fmin(most, metric_time(m, h)));
}

/* Returns the merged histogram of a name, or NULL if a part lacks it. */
static struct hist *
merge_histogram(const struct joined *w, const char *name, struct str *why)
{
	struct hist *all = NULL, *h;
	const char *text, *wrong;

	for (size_t i = 0; i < w->n; i++) {
		text = json_get_str(json_get(w->v[i], "hist"), name);
		h = text ? histcodec_decode(text, strlen(text), &wrong) : NULL;
		if (text && !h)
			str_printf(why, "%s%s", why->len ? "; " : "", wrong);
		if (!h) {
			hist_free(all);
			return NULL;
		}
		if (!all) {
			all = h;
			continue;
		}
		hist_merge(all, h);
		hist_free(h);
	}
	return all;
}

static void
join_histograms(const struct joined *w, struct json *run, struct str *why)
{
	struct json *all = json_object();
	const struct json *j = json_first(json_get(w->v[0], "hist"));
	struct hist *h;
	struct str text = {0};

	for (; j; j = json_next(j)) {
		h = merge_histogram(w, json_key(j), why);
		if (!h)
			continue;
		histcodec_encode(&text, h);
		json_set_str(all, json_key(j), text.s);
		str_free(&text);
		set_percentiles(json_get(run, "metrics"), json_key(j), h);
		hist_free(h);
	}
	json_set_filled(run, "hist", all);
}

/* Returns a column of the series of a part; *n: of how many numbers. */
static double *
get_column(const struct json *part, const char *name, size_t *n)
{
	return json_numbers(json_get(json_get(part, "series"), name), n);
}

/* Returns how many of the first intervals end at the same time in all parts. */
static size_t
count_intervals(const struct joined *w, const double *at, size_t n)
{
	double *v;
	size_t k, m, rates;

	for (size_t i = 0; i < w->n; i++) {
		free(get_column(w->v[i], "rps", &rates));
		v = get_column(w->v[i], "at_s", &m);
		for (k = 0; k < n && k < m && k < rates; k++)
			if (!(fabs(v[k] - at[k]) < 1e-3))
				break;
		n = k;
		free(v);
	}
	return n;
}

/* Adds up the rates of the seconds that all parts have. The percentiles of a
 * second cannot be computed from those of the parts. */
static void
join_series(const struct joined *w, struct json *run)
{
	struct json *series = json_object(), *at = json_array();
	struct json *rps = json_array();
	size_t n, k;
	double *ends = get_column(w->v[0], "at_s", &n), *sum, *v;

	n = count_intervals(w, ends, n);
	sum = mem_array(n + 1, sizeof *sum);
	for (size_t i = 0; i < w->n; i++) {
		v = get_column(w->v[i], "rps", &k);
		for (k = 0; k < n; k++)
			sum[k] += v[k];
		free(v);
	}
	for (size_t i = 0; i < n; i++) {
		json_push_num(at, ends[i]);
		json_push_num(rps, sum[i]);
	}
	free(ends);
	free(sum);
	json_set_filled(series, "at_s", at);
	json_set_filled(series, "rps", rps);
	json_set_filled(run, "series", series);
}

static void
join_errors(const struct joined *w, struct json *run)
{
	struct json *all = json_object();
	const struct json *j;

	for (size_t i = 0; i < w->n; i++)
		for (j = json_first(json_get(w->v[i], "errors")); j;
		     j = json_next(j))
			json_set_num(all, json_key(j),
			    json_get_num(all, json_key(j), 0) + json_num(j, 0));
	json_set_filled(run, "errors", all);
}

/* Sets 'bound': the client if it limited a part, else the server, else neither.
 */
static void
join_bound(const struct joined *w, struct json *run)
{
	static const char *const names[] = {"client", "server", "neither"};
	const char *one;

	for (size_t k = 0; k < 3; k++)
		for (size_t i = 0; i < w->n; i++) {
			one = json_get_str(w->v[i], "bound");
			if (one && strcmp(one, names[k]) == 0) {
				json_set_str(run, "bound", one);
				return;
			}
		}
}

void
joined_set(const struct joined *w, struct json *run, struct str *why)
{
	join_metrics(w, run);
	join_histograms(w, run, why);
	join_series(w, run);
	join_errors(w, run);
	join_bound(w, run);
}
