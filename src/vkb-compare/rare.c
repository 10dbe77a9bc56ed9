#include "rare.h"
#include "judge.h"
#include "mem.h"
#include "stats.h"
#include "tail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-9
#define LEAST 1 /* slow requests of a run, as the tail has them */

/* Returns what is added to each share. */
static double
get_more(const struct row *row)
{
	return 1 - row->metric->quantile;
}

/* Returns the geometric mean of the shares of slow requests in the runs of a
 * side, with half a request more as none may be slow. */
static double
find_typical(const struct sample *of, size_t time)
{
	double sum = 0;

	for (size_t i = 0; i < of->n; i++) {
		const struct tail *t = of->rounds[i].tail;

		sum += log(tail_share(t, time) + .5 / t->requests);
	}
	return exp(sum / (double)of->n);
}

/* Returns the share that the mean of the values of a side stands for. */
static double
find_share(const struct row *row, size_t side)
{
	size_t n = row->used[side]->n;
	double sum = 0, more = get_more(row);

	for (size_t i = 0; i < n; i++)
		sum += rare_value(row, side, i) - log(more);
	return more * expm1(sum / (double)n);
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
	struct rare *of;
	size_t time = 0;
	double n[2], typical[2], tail = get_more(row);

	if (!(row->metric->rare_margin > 0) || row->exact ||
	    !metric_has_rate(cases_config(row->pair->side[0])) ||
	    strcmp(row->margin_from, "table") != 0 ||
	    (row->waiver.reason && !isinf(row->waiver.limit)))
		return;
	for (size_t j = 0; j < 2; j++)
		n[j] = count_requests(row->used[j]);
	row->lacks_slow = (n[0] > 0) != (n[1] > 0);
	for (size_t j = 0; j < 2; j++)
		if (n[j] * tail < LEAST * (double)row->used[j]->n)
			return;
	do {
		for (size_t j = 0; j < 2; j++)
			typical[j] = find_typical(row->used[j], time);
	} while (fmin(typical[0], typical[1]) > tail && ++time < TAIL_TIMES);
	of = row->rare = mem_new(sizeof *of);
	of->time = time;
	of->above_ms = tail_time(time) / 1e6;
	for (size_t j = 0; j < 2; j++) {
		double share = of->share[j] = find_share(row, j);

		/* Where none was slow, one may have been. */
		of->least_var +=
		    fmax(share, 1 / n[j]) / n[j] / pow(share + tail, 2);
	}
	row->margin = row->metric->rare_margin;
}

double
rare_value(const struct row *row, size_t side, size_t run)
{
	const struct tail *t = row->used[side]->rounds[run].tail;

	return log(tail_share(t, row->rare->time) + get_more(row));
}

double
rare_change(const struct row *row, double ratio)
{
	double more = get_more(row);
	double share = (row->rare->share[0] + more) * ratio - more;

	return share > ROUNDING ? share : 0;
}

double
rare_variation(const struct row *row, size_t side)
{
	size_t n = row->used[side]->n;
	double *v = mem_array(n + 1, sizeof *v), sd;

	for (size_t i = 0; i < n; i++)
		v[i] = rare_value(row, side, i);
	sd = stats_sd(v, n);
	free(v);
	return expm1(sd);
}
