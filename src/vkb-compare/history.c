#include "history.h"
#include "cases.h"
#include "intern.h"
#include "mem.h"
#include "sample.h"
#include "stats.h"

#include <math.h>
#include <stdbool.h>
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
	int rc = cases_read(&h->cases, NULL, files, n, CASES_VALUES);

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

/* Returns the case of the i-th subject from the newest, or NULL. */
static const struct kase *
find_case(const struct history *h, size_t i, const char *key)
{
	return cases_get(&h->cases, key, h->order[h->cases.nsubjects - 1 - i]);
}

double
history_margin(const struct history *h, const char *key, const char *metric)
{
	double deltas[HISTORY_DELTAS], last = NAN, q[2];
	size_t n = 0;

	for (size_t i = 0; i < h->cases.nsubjects && n < HISTORY_DELTAS; i++) {
		const struct kase *k = find_case(h, i, key);
		double median = k ? sample_median(cases_runs(k, metric)) : NAN;

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
		const struct kase *of = find_case(h, i, key);
		size_t before = all.n;

		if (of)
			sample_add(&all, cases_runs(of, metric)->v, NULL,
			    cases_runs(of, metric)->n);
		subjects += all.n > before;
	}
	return all;
}

void
history_add_build(
    struct history_spread *b, const struct sample *s, const char *key)
{
	struct intern *names = intern_new();
	double *means = mem_array(s->n + 1, sizeof *means), mean;
	double *n = mem_array(s->n + 1, sizeof *n);
	size_t sessions;
	bool whole = true;

	for (size_t i = 0; i < s->n && whole; i++) {
		whole = s->rounds[i].session && s->v[i] > 0;
		if (whole) {
			size_t id = intern_id(names, s->rounds[i].session);

			means[id] += (log(s->v[i]) - means[id]) / ++n[id];
		}
	}
	sessions = whole ? intern_count(names) : 0;
	if (sessions > 1) {
		double df = (double)(sessions - 1);

		b->squares += stats_squares(means, sessions, &mean);
		b->df += df;
		b->of = key == b->last ? b->of + df : df;
		b->most = fmax(b->most, b->of);
		b->last = key;
	}
	free(means);
	free(n);
	intern_free(names);
}

struct moderate
history_variance(const struct history_spread *b)
{
	if (b->most < HISTORY_DF)
		return (struct moderate){NAN, 0};
	return (struct moderate){b->squares / b->df, b->most};
}

/* Are all runs of the case of this machine? NULL: it is not known. */
static bool
is_on_host(const struct kase *k, const char *host)
{
	char *own = cases_fact(k, "host");
	bool same = own && host ? strcmp(own, host) == 0 : own == host;

	free(own);
	return same;
}

struct moderate
history_sessions(
    const struct history *h, const char *metric, const struct kase *like)
{
	char *host = cases_fact(like, "host");
	struct history_spread b = {0};

	for (size_t i = 0; i < h->cases.n; i++) {
		const struct kase *k = &h->cases.v[i];

		if (is_on_host(k, host))
			history_add_build(&b, cases_runs(k, metric), k->key);
	}
	free(host);
	return history_variance(&b);
}
