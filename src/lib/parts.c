#include "parts.h"
#include "hist.h"
#include "histcodec.h"
#include "intern.h"
#include "json.h"
#include "mem.h"
#include "metric.h"
#include "num.h"
#include "str.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* What the parts of a run measured, added up exactly; see parts.h. */

struct joined {
	struct json *const *v; /* the records of all parts */
	size_t n;
	double seconds; /* until a given number of requests was made; or 0 */
};

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

/* A run that still lacks parts. */
struct incomplete_run {
	struct json **v; /* by the number of the part; NULL: missing */
	size_t n, have;
	bool joined;
};

struct parts {
	struct intern *keys;      /* of runs */
	struct incomplete_run *v; /* by key */
	size_t n, cap, at;
};

struct parts *
parts_new(void)
{
	struct parts *p = mem_new(sizeof *p);

	p->keys = intern_new();
	return p;
}

static void
clear_run(struct incomplete_run *w)
{
	for (size_t i = 0; i < w->n; i++)
		json_free(w->v[i]);
	free(w->v);
	*w = (struct incomplete_run){.joined = true};
}

void
parts_free(struct parts *p)
{
	for (size_t i = 0; i < p->n; i++)
		clear_run(&p->v[i]);
	free(p->v);
	intern_free(p->keys);
	free(p);
}

/* Returns the run of a part. The key has all that the parts of one run, and no
 * others, have in common. */
static struct incomplete_run *
find_run(struct parts *p, const struct json *part)
{
	const struct json *run = json_get(part, "run");
	struct str s = {0};
	size_t id;

	json_canonical(&s, json_get(part, "subject"));
	json_canonical(&s, json_get(part, "config"));
	str_printf(&s, "\n%s %.0f %.0f", json_get_str(run, "session"),
	    json_get_num(run, "index", 0), json_get_num(run, "order", 0));
	id = intern_id(p->keys, s.s);
	str_free(&s);
	while (p->n <= id)
		*MEM_ADD(p->v, p->n, p->cap) = (struct incomplete_run){0};
	return &p->v[id];
}

static double
get_part_number(const struct json *part, const char *key)
{
	return json_get_num(json_get(json_get(part, "run"), "part"), key, NAN);
}

/* Appends what is wrong with the run. */
static void
add_complaint(struct str *why, const char *text)
{
	str_printf(why, "%s%s", why->len ? "; " : "", text);
}

/* The time that was measured, by the clock of the server, in us. */
struct span {
	double first, last; /* begin of the first, of the last part */
	double end, least;  /* of all, of the one that ended first */
	double longest;
};

static struct span
find_span(const struct incomplete_run *w)
{
	struct span s = {INFINITY, -INFINITY, -INFINITY, INFINITY, 0};
	double begin, end;

	for (size_t i = 0; i < w->n; i++) {
		begin = get_part_number(w->v[i], "begin_us");
		end = get_part_number(w->v[i], "end_us");
		if (isnan(begin) || isnan(end))
			return (struct span){NAN, NAN, NAN, NAN, NAN};
		s.first = fmin(s.first, begin);
		s.last = fmax(s.last, begin);
		s.end = fmax(s.end, end);
		s.least = fmin(s.least, end);
		s.longest = fmax(s.longest, end - begin);
	}
	return s;
}

static bool
has_requests(const struct incomplete_run *w)
{
	return json_get(json_get(w->v[0], "config"), "requests") != NULL;
}

/*
 * Returns the percentage of the time in which all parts measured. Loads of a
 * number of requests end when they are done: only their begins are compared.
 */
static double
compute_overlap(const struct incomplete_run *w, struct span s)
{
	double together = has_requests(w) ? s.end - s.last : s.least - s.last;
	double whole = has_requests(w) ? s.end - s.first : s.longest;

	return whole > 0 ? fmax(0, 100 * together / whole) : NAN;
}

/* Lists the parts with their hosts, and what differs in their clocks. */
static void
list_parts(const struct incomplete_run *w, struct json *run)
{
	struct json *list = json_array(), *one;
	const struct json *part;

	for (size_t i = 0; i < w->n; i++) {
		part = json_get(json_get(w->v[i], "run"), "part");
		if (!part)
			continue;
		one = json_dup(part);
		json_set_str(one, "host",
		    json_get_str(json_get(w->v[i], "env"), "host"));
		json_push(list, one);
	}
	json_del(json_get(run, "run"), "part");
	json_set(json_get(run, "run"), "parts", list);
}

static void
check_parts(const struct incomplete_run *w, struct str *why)
{
	const char *status, *error;
	char *text;

	for (size_t i = 0; i < w->n; i++) {
		status = json_get_str(w->v[i], "status");
		error = json_get_str(w->v[i], "error");
		if (!w->v[i] || strcmp(status, "ok") == 0)
			continue;
		text = mem_printf(
		    "part %zu of %zu: %s", i + 1, w->n, error ? error : status);
		add_complaint(why, text);
		free(text);
	}
}

static void
check_overlap(const struct incomplete_run *w, struct json *run, struct span s,
    struct str *why)
{
	double overlap = compute_overlap(w, s);
	char *text;

	json_set_num(json_get(run, "run"), "parts_overlap_percent",
	    round(overlap * 1e3) / 1e3);
	if (overlap >= PARTS_OVERLAP_PERCENT)
		return;
	text = isnan(overlap)
	    ? mem_str("it is not known when its parts measured")
	    : mem_printf("its parts measured at the same time for %.4g %% "
			 "only, and %d %% are needed",
		  floor(overlap * 100) / 100, PARTS_OVERLAP_PERCENT);
	add_complaint(why, text);
	free(text);
}

static void
find_missing(const struct incomplete_run *w, struct str *why)
{
	struct str s = {0};
	size_t n = w->n - w->have, k = 0;

	if (!n)
		return;
	str_printf(&s, "part%s ", num_plural((double)n));
	for (size_t i = 0; i < w->n; i++)
		if (!w->v[i]) {
			k++;
			str_printf(&s, "%s%zu",
			    k == 1      ? ""
				: k < n ? ", "
					: " and ",
			    i + 1);
		}
	str_printf(&s, " of %zu %s missing", w->n, n == 1 ? "is" : "are");
	add_complaint(why, s.s);
	str_free(&s);
}

/* Makes the run of the parts that were read, and frees them. */
static struct json *
join_parts(struct incomplete_run *w)
{
	static const char *const joined[] = {
	    "metrics", "hist", "series", "samples", "errors", "bound", "error"};
	size_t first = 0;
	struct json *run;
	struct str why = {0};
	struct joined all;
	struct span s;

	while (!w->v[first])
		first++;
	run = json_dup(w->v[first]);
	json_set_str(run, "type", "run");
	for (size_t i = 0; i < sizeof joined / sizeof *joined; i++)
		json_del(run, joined[i]);
	list_parts(w, run);
	find_missing(w, &why);
	check_parts(w, &why);
	if (w->have == w->n) {
		s = find_span(w);
		if (!why.len)
			check_overlap(w, run, s, &why);
		all = (struct joined){
		    w->v, w->n, has_requests(w) ? (s.end - s.first) / 1e6 : 0};
		join_metrics(&all, run);
		join_histograms(&all, run, &why);
		join_series(&all, run);
		join_errors(&all, run);
		join_bound(&all, run);
	}
	json_set_str(run, "status", why.len ? "failed" : "ok");
	json_set_str(run, "error", why.s);
	str_free(&why);
	clear_run(w);
	return run;
}

struct json *
parts_add(struct parts *p, struct json *part)
{
	double n = get_part_number(part, "n"), i = get_part_number(part, "i");
	struct incomplete_run *w = find_run(p, part);

	if (!w->n && !w->joined) {
		w->n = (size_t)n;
		w->v = mem_array(w->n, sizeof *w->v);
	}
	if (w->n != (size_t)n || w->v[(size_t)i - 1]) {
		json_free(part); /* a part with this number was read before */
		return NULL;
	}
	w->v[(size_t)i - 1] = part;
	return ++w->have == w->n ? join_parts(w) : NULL;
}

struct json *
parts_next_incomplete(struct parts *p)
{
	for (; p->at < p->n; p->at++)
		if (p->v[p->at].n)
			return join_parts(&p->v[p->at]);
	return NULL;
}
