#include "rare.h"
#include "judge.h"
#include "tail.h"

#include <math.h>
#include <string.h>

#define LEAST 1 /* slow requests of a run, as the tail has them */

/* Returns the mean share of slow requests in the runs of a side; 'typical': the
 * geometric mean, with half a request more as none may be slow. */
static double
find_share(const struct sample *of, size_t time, bool typical)
{
	double sum = 0;

	for (size_t i = 0; i < of->n; i++) {
		const struct tail *t = of->rounds[i].tail;
		double share = tail_share(t, time);

		sum += typical ? log(share + .5 / t->requests) : share;
	}
	sum /= (double)of->n;
	return typical ? exp(sum) : sum;
}

/* Returns the requests of all runs of a side; 0: a run does not say it. */
static double
count_requests(const struct sample *of)
{
	double sum = 0;

	for (size_t i = 0; i < of->n; i++) {
		if (!of->rounds[i].tail)
			return 0;
		sum += of->rounds[i].tail->requests;
	}
	return sum;
}

void
rare_measure(struct row *row)
{
	struct rare *of = &row->rare;
	double n[2], typical[2], tail = 1 - row->metric.quantile;

	*of = (struct rare){0};
	if (!(row->metric.rare_margin > 0) || row->exact ||
	    !metric_has_rate(row->pair->side[0]->config) ||
	    strcmp(row->margin_from, "table") != 0)
		return;
	for (size_t j = 0; j < 2; j++)
		n[j] = count_requests(&row->used[j]);
	of->lacking = (n[0] > 0) != (n[1] > 0);
	for (size_t j = 0; j < 2; j++)
		if (n[j] * tail < LEAST * (double)row->used[j].n)
			return;
	do {
		for (size_t j = 0; j < 2; j++)
			typical[j] = find_share(&row->used[j], of->time, true);
	} while (
	    fmin(typical[0], typical[1]) > tail && ++of->time < TAIL_TIMES);
	of->above_ms = tail_time(of->time) / 1e6;
	for (size_t j = 0; j < 2; j++) {
		of->share[j] = find_share(&row->used[j], of->time, false);
		of->least_var +=
		    of->share[j] / n[j] / pow(of->share[j] + tail, 2);
	}
	row->margin = row->metric.rare_margin;
}

double
rare_value(const struct row *row, size_t side, size_t run)
{
	const struct tail *t = row->used[side].rounds[run].tail;

	return log(tail_share(t, row->rare.time) + 1 - row->metric.quantile);
}
