/*
 * What runs have besides metrics: the trends of their series, merged
 * histograms, and the machines they ran on, compared with what the headers
 * promise.
 */
#include "tap.h"

#include "runseries.h"
#include "hist.h"
#include "json.h"
#include "mem.h"
#include "group.h"
#include "sessions.h"
#include "rng.h"
#include "runrecord.h"
#include "steady.h"
#include "variance.h"

#include <stdlib.h>

/* Returns a run record with these members. */
static struct json *
parse(const char *text)
{
	struct json *j = json_parse(text, strlen(text), NULL, NULL);

	if (!j)
		abort();
	return j;
}

/* Returns a member of the record as text. The caller frees it. */
static char *
member(const struct json *rec, const char *path, struct jsonscan_text *t)
{
	const struct json *j = json_path(rec, path);
	char *text = j ? json_print(j) : NULL;

	*t = (struct jsonscan_text){text, text ? strlen(text) : 0, false};
	return text;
}

static void
add(struct run_series *c, size_t run, const char *text, bool ok)
{
	struct json *j = parse(text);
	struct run_record r = {.ok = ok};
	char *each = member(j, "series", &r.series);

	run_series_add(c, run, &r);
	free(each);
	json_free(j);
}

/* Checks the summary of n runs in their order. */
static void
says(const struct run_series *c, size_t n, const char *want, const char *what)
{
	static const uint32_t at[] = {0, 1, 2, 3, 4, 5, 6, 7};
	struct json *rec = json_object();
	char *text;

	run_series_summary(c, at, n, rec);
	text = json_print(rec);
	tap_str(text, want, what);
	free(text);
	json_free(rec);
}

/* Returns a series of n values of rps at intervals of .5 s; v computes a
 * value. */
static char *
series(size_t n, double (*v)(size_t i))
{
	struct json *rec = json_object(), *s = json_object();
	struct json *at = json_array(), *rps = json_array();
	char *text;

	for (size_t i = 0; i < n; i++) {
		json_push_num(at, .5 * (double)(i + 1));
		json_push_num(rps, v(i));
	}
	json_set(s, "at_s", at);
	json_set(s, "rps", rps);
	json_set(rec, "series", s);
	text = json_print(rec);
	json_free(rec);
	return text;
}

static double
flat(size_t i)
{
	return 100 + (double)(i % 2);
}

static double
cold(size_t i)
{
	return flat(i) - (i < 10 ? 50 : 0);
}

static double
falling(size_t i)
{
	return 100 - (double)i;
}

/* The variance of the mean of these intervals is known for the first two
 * runs. */
static void
steadiness(void)
{
	struct run_series *c = run_series_new();
	char *runs[] = {series(40, flat), series(60, cold), series(29, flat),
	    series(40, falling), series(7, flat)};
	double v[60];
	const double *within;
	size_t n;

	tap_ok(!run_series_within(c, "rps", &n) && n == 0,
	    "without a series it has no intervals");
	add(c, 0, runs[0], true);
	says(c, 1,
	    "{\"steady\":{\"steady\":1,\"drifting\":0,\"none\":0,"
	    "\"warmup_s\":0,\"kinds\":{\"flat\":1}}}",
	    "a run that alternates is steady from the start");
	add(c, 1, runs[1], true);
	says(c, 3,
	    "{\"steady\":{\"steady\":2,\"drifting\":0,\"none\":1,"
	    "\"warmup_s\":2.5,\"kinds\":{\"flat\":1,\"warmup\":1}}}",
	    "the warm-up is the median of 0 s and 5 s");
	add(c, 2, runs[2], true);
	add(c, 3, runs[3], true);
	add(c, 4, runs[0], false);
	add(c, 5, runs[4], true);
	within = run_series_within(c, "rps", &n);
	for (size_t i = 0; i < 60; i++)
		v[i] = flat(i);
	tap_ok(n == 4 && within[0] == variance_within(v, 40) &&
		fabs(within[1] - variance_within(v, 50)) < 1e-12 &&
		within[2] == variance_within(v, 29) && within[3] > 0,
	    "the variance within a run is that of its intervals after the "
	    "warm-up");
	tap_ok(!run_series_within(c, "at_s", &n), "at_s is not a metric");
	says(c, 5,
	    "{\"steady\":{\"steady\":2,\"drifting\":1,\"none\":2,"
	    "\"warmup_s\":5,\"kinds\":{\"flat\":1,\"warmup\":1,"
	    "\"unsteady\":1}}}",
	    "runs that drift, are short or failed have no warm-up");
	run_series_free(c);
	c = run_series_new();
	add(c, 0, runs[2], true);
	says(c, 1, "{\"steady\":{\"steady\":0,\"drifting\":0,\"none\":1}}",
	    "a short series has no kind and no warm-up");
	add(c, 1, "{\"series\":{\"at_s\":[1,2],\"rps\":[1,\"x\"]}}", true);
	add(c, 1, "{\"series\":{\"rps\":[],\"other\":[1,2,3]}}", true);
	says(c, 2, "{\"steady\":{\"steady\":0,\"drifting\":0,\"none\":2}}",
	    "a series without numbers of rps has no verdict");
	run_series_within(c, "other", &n);
	tap_ok(n == 0, "three intervals give no variance within a run");
	run_series_free(c);
	for (size_t i = 0; i < 5; i++)
		free(runs[i]);
}

static void
add_hist(struct run_series *c, size_t run, const char *name, int64_t count)
{
	struct hist *h = hist_new(1, 1000000, 5);

	for (int64_t v = 1; v <= count; v++)
		hist_add(h, v, 1);
	run_series_hist(c, run, name, h);
	hist_free(h);
}

static void
quantiles(void)
{
	static const uint32_t turned[] = {1, 0};
	struct run_series *c = run_series_new();
	struct json *rec = json_object(), *q;
	char *text;

	add_hist(c, 0, "b_ns", 20);
	says(c, 1, "{\"quantiles\":{\"b_ns\":{\"50\":[10]}}}",
	    "of 20 counts ten are beyond the median, fewer beyond other "
	    "percentiles");
	add_hist(c, 0, "a_ns", 10000);
	add_hist(c, 1, "b_ns", 400);
	says(c, 2, "{\"quantiles\":{\"b_ns\":{\"50\":[10,200]}}}",
	    "quantiles that one of two runs lacks are left out");
	add_hist(c, 1, "a_ns", 9999);
	run_series_summary(c, turned, 2, rec);
	q = json_get(rec, "quantiles");
	text = json_print(q);
	tap_str(text,
	    "{\"a_ns\":{\"50\":[5000,5000],\"75\":[7499,7500],"
	    "\"90\":[8999,9000],\"95\":[9499,9500],\"99\":[9899,9900]},"
	    "\"b_ns\":{\"50\":[200,10]}}",
	    "names and percentiles are sorted; values are in the order of the "
	    "runs");
	free(text);
	json_free(rec);
	says(c, 3, "{}",
	    "if a run has no histograms, the summary has no quantiles");
	run_series_free(c);
}

/* ---- histograms */

enum { LAYOUTS = 4 };
static const struct {
	int64_t lowest, highest;
	int digits;
} layouts[LAYOUTS] = {{1, 1000, 2}, {1, 5000, 1}, {4, 1000, 2}, {1, 2000, 2}};

/* Returns a histogram with counts in a few cells. */
static struct hist *
drawn(struct rng *r, size_t layout)
{
	struct hist *h = hist_new(layouts[layout].lowest,
	    layouts[layout].highest, layouts[layout].digits);
	struct hist_tally v[9];
	size_t n = rng_below(r, 10);

	for (size_t i = 0; i < n; i++)
		v[i] = (struct hist_tally){
		    rng_below(r, hist_cells(h)), rng_below(r, 5)};
	hist_put(h, v, n);
	return h;
}

static bool
is_alike(const struct hist *a, const struct hist *b)
{
	bool same = hist_cells(a) == hist_cells(b) &&
	    hist_lowest(a) == hist_lowest(b) &&
	    hist_highest(a) == hist_highest(b) &&
	    hist_digits(a) == hist_digits(b) &&
	    hist_count(a) == hist_count(b) && hist_over(a) == hist_over(b) &&
	    hist_min(a) == hist_min(b) && hist_max(a) == hist_max(b);

	for (size_t i = 0; same && i < hist_cells(a); i++)
		same = hist_get(a, i) == hist_get(b, i);
	return same;
}

/*
 * Histograms of two names in the first 'kinds' layouts: each name becomes the
 * sum of its histograms, in the layout that holds them all.
 */
static bool
merges(struct rng *r, size_t kinds)
{
	static const char *const names[] = {"a", "b"};
	struct hist *want[2];
	struct group_hists m = {0};
	size_t i = 0;
	const char *name;
	bool right = true;
	int digits = 0;
	int64_t high = 0;
	struct hist *h;

	for (size_t k = 0; k < kinds; k++) {
		high = layouts[k].highest > high ? layouts[k].highest : high;
		digits =
		    layouts[k].digits > digits ? layouts[k].digits : digits;
	}
	for (size_t k = 0; k < 2; k++)
		want[k] = hist_new(1, high, digits);
	for (size_t k = 0; k < 40; k++) {
		size_t which = k < kinds * 2 ? k % 2 : rng_below(r, 2);

		h = drawn(r, k < kinds * 2 ? k / 2 : rng_below(r, kinds));
		hist_merge(want[which], h);
		group_add_hist(&m, names[which], h);
	}
	for (size_t k = 0; k < 2; k++) {
		right = right && group_next_hist(&m, &i, &name, &h) &&
		    strcmp(name, names[k]) == 0 && is_alike(h, want[k]);
		hist_free(h);
		hist_free(want[k]);
	}
	right = right && !group_next_hist(&m, &i, &name, &h);
	group_free_hists(&m);
	return right && m.n == 0;
}

static void
merging(void)
{
	size_t right = 0;
	struct rng r;

	rng_seed(&r, 23, 0);
	for (size_t k = 0; k < 100; k++)
		right += merges(&r, 1 + k % LAYOUTS);
	tap_ok(right == 100,
	    "the histograms of each name are summed: %zu of 100", right);
}

/* ---- sessions and machines */

static void
machines(void)
{
	static const char *const of[][2] = {{"s3", "zebra"}, {"s1", "ant"},
	    {"s2", "zebra"}, {"s4", NULL}, {"s0", "mule"}, {"s5", "ant"}};
	static const uint32_t order[] = {3, 1, 2, 4, 0, 5};
	struct sessions *p = sessions_new();
	uint32_t id[6], *rank;
	size_t m[6];
	bool right = true;

	for (size_t i = 0; i < 12; i++) {
		uint32_t got = sessions_add(p, of[i % 6][0], 2, of[i % 6][1]);

		right = right && got == (i < 6 ? i : id[i % 6]);
		id[i % 6] = got;
	}
	tap_ok(right, "a session that is added again has the same number");
	tap_ok(sessions_add(p, NULL, 0, "ant") == SESSIONS_UNKNOWN,
	    "a run without a session has no machine");
	rank = sessions_order(p);
	for (size_t i = 0; i < 6; i++) {
		right = right && rank[i] == order[i] &&
		    strcmp(sessions_session(p, id[i]), of[i][0]) == 0;
		m[i] = sessions_machine(p, id[i]);
	}
	free(rank);
	tap_ok(right, "sessions are ordered by their names");
	tap_ok(m[0] == m[2] && m[1] == m[5] && m[3] < m[1] && m[1] < m[4] &&
		m[4] < m[0],
	    "machines are ordered by their names, the unknown one is first");
	sessions_add(p, "s6", 2, "bee");
	tap_ok(sessions_machine(p, 6) > sessions_machine(p, 1) &&
		sessions_machine(p, 6) < sessions_machine(p, 4),
	    "the order includes a machine that is added later");
	sessions_add(p, "s0", 2, "bee");
	tap_ok(sessions_machine(p, 4) == sessions_machine(p, 3),
	    "the machine of a session with two machines is unknown");
	sessions_free(p);
	sessions_free(NULL);
}

int
main(void)
{
	steadiness();
	quantiles();
	merging();
	machines();
	return tap_done();
}
