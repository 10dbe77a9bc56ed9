#include "reference.h"
#include "infer.h"
#include "json.h"
#include "judge.h"
#include "mem.h"
#include "metric.h"
#include "sample.h"
#include "stats.h"
#include "str.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 12   /* digits of a hash */
#define SOUGHT .05 /* a change of one case, of which the sentence speaks */

/* Has the case a ratio to a reference? */
static bool
has_ratio(const struct kase *k)
{
	for (const struct metric *m = metric_table; m->name; m++)
		if (m->instead_of && cases_have_metric(k, m->name))
			return true;
	return false;
}

/* Have the sides runs of one session? */
static bool
share_session(const struct pairing *p)
{
	const char *name = metric_primary(cases_config(p->side[0]));
	const struct sample *a = cases_runs(p->side[0], name);
	const struct sample *b = cases_runs(p->side[1], name);

	for (size_t i = 0; i < a->n; i++)
		for (size_t k = 0; k < b->n; k++) {
			const char *x = a->rounds[i].session;
			const char *y = b->rounds[k].session;

			if (x && y && strcmp(x, y) == 0)
				return true;
		}
	return false;
}

enum reference_state
reference_compare(const struct pairing *p)
{
	char *hash[2];
	bool same;

	if (!has_ratio(p->side[0]) || !has_ratio(p->side[1]) ||
	    share_session(p))
		return REFERENCE_NONE;
	for (size_t j = 0; j < 2; j++)
		hash[j] = cases_fact(p->side[j], "reference_sha256");
	same = hash[0] && hash[1] && strcmp(hash[0], hash[1]) == 0;
	free(hash[0]);
	free(hash[1]);
	return same ? REFERENCE_SAME : REFERENCE_OTHER;
}

/* Writes "version 8.0.1 (SHA-256 57b96a22bc4b)". */
static void
write_reference(struct str *s, const struct kase *k)
{
	char *version = cases_fact(k, "reference_version");
	char *hash = cases_fact(k, "reference_sha256");

	if (hash) {
		str_add(s, "version ");
		str_visible(s, version ? version : "unknown");
		str_add(s, " (SHA-256 ");
		hash[strnlen(hash, SHOWN)] = '\0';
		str_visible(s, hash);
		str_addc(s, ')');
	} else
		str_add(s, "a version that is not the same in all runs");
	free(version);
	free(hash);
}

/* Returns the first case in this state, or NULL. */
static const struct pairing *
find_state(const struct comparison *c, enum reference_state state)
{
	for (size_t i = 0; i < c->npairs; i++)
		if (c->pairs[i].reference == state)
			return &c->pairs[i];
	return NULL;
}

bool
reference_replaces(const struct pairing *p, const char *metric)
{
	const struct metric *ratio = metric_ratio(metric);

	return ratio && p->reference == REFERENCE_SAME &&
	    cases_have_metric(p->side[0], ratio->name) &&
	    cases_have_metric(p->side[1], ratio->name);
}

/* Returns the median number of sessions of each side that find a change of
 * SOUGHT in a case by this metric; 1: these do; INFINITY: too many; NAN: the
 * metric is not compared. */
static double
count_sessions(const struct comparison *c, const char *metric)
{
	double *v = mem_array(c->nrows + 1, sizeof *v), median;
	size_t n = 0;

	for (size_t i = 0; i < c->nrows; i++) {
		const struct row *row = &c->rows[i];
		const size_t *k = row->model->sessions_of;
		struct plan p;
		size_t more;

		if (row->common || !row->gate || !row->of || !k[0] ||
		    strcmp(row->name, metric) != 0)
			continue;
		p = infer_plan(row);
		more = plan_sessions(&p, k, row->of->cases, SOUGHT);
		v[n++] = plan_change(&p) <= SOUGHT ? 1
		    : more                         ? (double)more
						   : INFINITY;
	}
	stats_sort(v, n);
	median = n ? v[n / 2] : NAN;
	free(v);
	return median;
}

/* Adds how many sessions find a change of one case, by the better metric. */
static void
describe_effort(struct str *s, const struct comparison *c)
{
	double n = fmin(
	    count_sessions(c, "rps_ratio"), count_sessions(c, "cpu_ratio"));

	if (n == 1)
		str_printf(s, " They show a change of %.0f%% in one case.",
		    100 * SOUGHT);
	else if (n < INFINITY)
		str_printf(s,
		    " To show a change of %.0f%% in one case takes %.0f "
		    "sessions of each side.",
		    100 * SOUGHT, n);
	else if (!isnan(n))
		str_printf(s,
		    " A change of %.0f%% in one case is not shown by 100 "
		    "sessions of each side.",
		    100 * SOUGHT);
}

void
reference_describe(struct str *s, const struct comparison *c)
{
	const struct pairing *p = find_state(c, REFERENCE_SAME);

	if (!p)
		return;
	str_printf(s,
	    "throughput%s are compared as ratios to the reference server, ",
	    reference_replaces(p, "p50_latency_ms")
		? ", CPU per request and latencies"
		: " and CPU per request");
	write_reference(s, p->side[0]);
	str_addc(s, '.');
	describe_effort(s, c);
}

void
reference_warn(struct str *s, const struct comparison *c)
{
	const struct pairing *p = find_state(c, REFERENCE_OTHER);

	if (!p)
		return;
	str_add(s, "the baseline was measured beside a reference server of ");
	write_reference(s, p->side[0]);
	str_add(s, ", the contender beside one of ");
	write_reference(s, p->side[1]);
	str_add(s, ": ratios to them are not compared");
}
