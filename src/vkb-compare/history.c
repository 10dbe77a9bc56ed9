#include "history.h"
#include "between.h"
#include "cases.h"
#include "json.h"
#include "mem.h"
#include "sample.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct history {
	struct cases cases;
	size_t *order; /* indexes of the subjects, the oldest first */
};

static int
compare_by_arrival(const void *a, const void *b, void *arg)
{
	const size_t *arrival = arg;
	size_t x = arrival[*(const size_t *)a];
	size_t y = arrival[*(const size_t *)b];

	return (x > y) - (x < y);
}

struct history *
history_read(const char *const *files, size_t n)
{
	struct history *h = mem_new(sizeof *h);
	int rc = cases_read(&h->cases, files, n, CASES_VALUES);

	h->order = mem_array(h->cases.nsubjects + 1, sizeof *h->order);
	for (size_t i = 0; i < h->cases.nsubjects; i++)
		h->order[i] = i;
	if (h->cases.nsubjects)
		qsort_r(h->order, h->cases.nsubjects, sizeof *h->order,
		    compare_by_arrival, h->cases.arrival);
	if (rc == 0)
		return h;
	history_free(h);
	return NULL;
}

void
history_free(struct history *h)
{
	if (!h)
		return;
	cases_free(&h->cases);
	free(h->order);
	free(h);
}

/* Returns the values of the i-th subject from the newest; n may be 0. */
static struct sample
sample_subject(
    const struct history *h, size_t i, const char *key, const char *metric)
{
	size_t who = h->order[h->cases.nsubjects - 1 - i];
	const struct kase *k = cases_get(&h->cases, key, who);
	struct sample none = {0};

	return k ? sample_metric(k, metric) : none;
}

double
history_margin(const struct history *h, const char *key, const char *metric)
{
	double deltas[HISTORY_DELTAS], last = NAN, q[2];
	size_t n = 0;

	for (size_t i = 0; i < h->cases.nsubjects && n < HISTORY_DELTAS; i++) {
		struct sample s = sample_subject(h, i, key, metric);
		double median;

		stats_sort(s.v, s.n);
		median = stats_median(s.v, s.n);
		sample_free(&s);
		if (!(median > 0))
			continue;
		if (!isnan(last))
			deltas[n++] = fabs(log(last / median));
		last = median;
	}
	if (n < HISTORY_LEAST)
		return NAN;
	stats_sort(deltas, n);
	q[0] = stats_quantile(deltas, n, .25);
	q[1] = stats_quantile(deltas, n, .75);
	return -expm1(-(q[1] + 3 * (q[1] - q[0])));
}

struct sample
history_sample(const struct history *h, const char *key, const char *metric)
{
	struct sample all = {0};
	size_t subjects = 0;

	for (size_t i = 0; i < h->cases.nsubjects && subjects < HISTORY_DELTAS;
	     i++) {
		struct sample s = sample_subject(h, i, key, metric);

		all.v = mem_resize(all.v, all.n + s.n + 1, sizeof *all.v);
		for (size_t k = 0; k < s.n; k++)
			all.v[all.n++] = s.v[k];
		subjects += s.n > 0;
		sample_free(&s);
	}
	return all;
}

/* Returns the machine of all runs of a case; NULL: it is not known, or there
 * are several. Caller frees. */
static char *
find_host(const struct kase *k)
{
	struct json *env = json_object(), *varied = json_object();
	char *host;

	cases_env(k, env, varied);
	host = json_get(varied, "host") ? NULL
					: mem_str(json_get_str(env, "host"));
	json_free(env);
	json_free(varied);
	return host;
}

static bool
is_on_host(const struct kase *k, const char *host)
{
	char *own = find_host(k);
	bool same = own && host ? strcmp(own, host) == 0 : own == host;

	free(own);
	return same;
}

static int
compare_by_key(const void *a, const void *b)
{
	const struct kase *x = *(const struct kase *const *)a;
	const struct kase *y = *(const struct kase *const *)b;

	return strcmp(x->key, y->key);
}

struct moderate
history_sessions(
    const struct history *h, const char *metric, const struct kase *like)
{
	size_t all = h->cases.n, n = 0;
	const struct kase **at = mem_array(all + 1, sizeof *at);
	struct sample *builds = mem_array(all + 1, sizeof *builds);
	struct between b = {0};
	char *host = find_host(like);

	for (size_t i = 0; i < all; i++)
		at[i] = &h->cases.v[i];
	if (all)
		qsort(at, all, sizeof *at, compare_by_key);
	for (size_t i = 0; i < all; i++) {
		if (is_on_host(at[i], host))
			builds[n++] = sample_metric(at[i], metric);
		if (i + 1 < all && strcmp(at[i]->key, at[i + 1]->key) == 0)
			continue;
		between_add(&b, builds, n);
		while (n)
			sample_free(&builds[--n]);
	}
	free(host);
	free(builds);
	free(at);
	return between_get(&b);
}
