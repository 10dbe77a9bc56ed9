#include "busy.h"
#include "cases.h"
#include "json.h"
#include "judge.h"
#include "sample.h"

#include <math.h>
#include <string.h>

#define LEAST_DIFFERENCE .02
#define LEAST_LEFT .01 /* of the CPU time, to the load and the server */
#define LUCK .2
#define BESIDE 25 /* percent of the CPU time beside paired sides */

/* The scenario whose commands have cases of their own beside it, or NULL. */
static const char *
get_scenario(const struct kase *k)
{
	const char *mix = k ? json_get_str(cases_config(k), "mix") : NULL;

	return mix || !k ? mix : json_get_str(cases_config(k), "replay");
}

/* Returns the median over the runs of one side; NAN: they do not say it. */
static double
measure_case(const struct kase *k)
{
	return k ? sample_median(cases_runs(k, "foreign_cpu_percent")) : NAN;
}

/* Gives the cases of one side that do not say it what those of the same
 * scenario do, by 'shares' of the scenarios. */
static void
share_load(struct comparison *c, size_t side)
{
	struct json *shares = json_object();

	for (size_t i = 0; i < c->npairs; i++) {
		const struct pairing *p = &c->pairs[i];
		const char *scenario = get_scenario(p->side[side]);

		if (scenario && !isnan(p->busy[side]))
			json_set_num(shares, scenario, p->busy[side]);
	}
	for (size_t i = 0; i < c->npairs; i++) {
		struct pairing *p = &c->pairs[i];
		const char *scenario = get_scenario(p->side[side]);

		if (scenario && isnan(p->busy[side]))
			p->busy[side] = json_get_num(shares, scenario, NAN);
	}
	json_free(shares);
}

void
busy_measure(struct comparison *c)
{
	for (size_t j = 0; j < 2; j++) {
		for (size_t i = 0; i < c->npairs; i++)
			c->pairs[i].busy[j] = measure_case(c->pairs[i].side[j]);
		share_load(c, j);
	}
}

/* Returns ln of how many times less CPU time other programs left to a side;
 * NAN: not known. */
static double
get_loss(const struct pairing *p, size_t side)
{
	double left = 1 - p->busy[side] / 100;

	return isnan(left) ? NAN : -log(fmax(LEAST_LEFT, left));
}

/* Returns ln of how many times more CPU time other programs left to one side.
 */
static double
get_difference(const struct pairing *p)
{
	return fabs(get_loss(p, 1) - get_loss(p, 0));
}

/* How much of it other programs do to the row: nothing to one without noise, or
 * if it is not known; the row of all cases has it from these. */
static double
find_weight(const struct row *row)
{
	if (row->exact || row->common ||
	    isnan(row->pair->busy[0] + row->pair->busy[1]))
		return 0;
	if (row->rare)
		return 2 * RARE_SIZES;
	return metric_foreign_weight(row->metric);
}

double
busy_own_noise(const struct row *row)
{
	double by = find_weight(row), sum = 0;

	for (size_t j = 0; j < 2 && by > 0; j++)
		sum += pow(LUCK * by * pow(get_loss(row->pair, j), 2), 2);
	return sqrt(sum) >= LEAST_DIFFERENCE ? sum : 0;
}

double
busy_noise(const struct row *row)
{
	double by = find_weight(row);
	double ln = by > 0 ? get_difference(row->pair) : 0;

	return busy_own_noise(row) +
	    (ln >= LEAST_DIFFERENCE ? by * by * ln * ln : 0);
}

size_t
busy_find(const struct comparison *c, double percent[2])
{
	const struct pairing *last = NULL;
	double most = -1;
	size_t n = 0;

	for (size_t i = 0; i < c->nrows; i++) {
		const struct row *row = &c->rows[i];

		if (row->pair == last || !row->busy)
			continue;
		last = row->pair;
		n++;
		if (get_difference(last) <= most)
			continue;
		most = get_difference(last);
		for (size_t j = 0; j < 2; j++)
			percent[j] = last->busy[j];
	}
	return n;
}

double
busy_beside(const struct comparison *c)
{
	double most = 0;

	for (size_t i = 0; i < c->nrows; i++) {
		const struct row *row = &c->rows[i];
		const double *busy = row->pair->busy;

		if (row->facts.paired && find_weight(row) > 0 &&
		    (row->verdict == VERDICT_REGRESSION ||
			row->verdict == VERDICT_IMPROVEMENT ||
			verdict_is_likely(row->verdict)) &&
		    (busy[0] + busy[1]) / 2 >= BESIDE)
			most = fmax(most, (busy[0] + busy[1]) / 2);
	}
	return most;
}
