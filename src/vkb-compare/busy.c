#include "busy.h"
#include "cases.h"
#include "json.h"
#include "judge.h"
#include "part.h"
#include "sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_DIFFERENCE .02
#define LEAST_LEFT .01 /* of the CPU time, to the load and the server */
#define LUCK .2

void
busy_measure(struct pairing *p)
{
	for (size_t j = 0; j < 2; j++)
		p->busy[j] = sample_median(
		    cases_runs(p->side[j], "foreign_cpu_percent"));
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

/* Are the first runs of both sides of two judged cases of the same sessions? */
static bool
share_sessions(const struct pairing *p, const struct pairing *q)
{
	bool same = p->rows && q->rows;

	for (size_t j = 0; j < 2 && same; j++) {
		const char *a = json_str(json_first(
		    json_get(p->side[j]->parts[0].rest, "sessions")));
		const char *b = json_str(json_first(
		    json_get(q->side[j]->parts[0].rest, "sessions")));

		same = a && b && strcmp(a, b) == 0;
	}
	return same;
}

void
busy_share(struct comparison *c)
{
	for (size_t i = 0; i < c->npairs; i++) {
		struct pairing *p = &c->pairs[i];

		if (!isnan(get_difference(p)))
			continue;
		for (size_t k = 0; k < c->npairs; k++) {
			const struct pairing *q = &c->pairs[k];
			double more = get_difference(q);

			if (!isnan(more) && !(more <= get_difference(p)) &&
			    share_sessions(p, q))
				memcpy(p->busy, q->busy, sizeof p->busy);
		}
	}
}

/* What other programs multiply it by; 0: nothing. */
static double
find_weight(const struct metric *m)
{
	static const char *const times[] = {"req/s", "us", "cycles"};

	if (strcmp(m->unit, "ms") == 0)
		return strncmp(m->name, "p99", 3) == 0 ||
			strncmp(m->name, "max", 3) == 0
		    ? 2
		    : 1;
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		if (strcmp(m->unit, times[i]) == 0)
			return 1;
	return 0;
}

double
busy_own_noise(const struct row *row)
{
	double by = find_weight(&row->metric), sum = 0;

	if (row->exact || row->common || by == 0)
		return 0;
	for (size_t j = 0; j < 2; j++)
		sum += pow(LUCK * by * pow(get_loss(row->pair, j), 2), 2);
	return sqrt(sum) >= LEAST_DIFFERENCE ? sum : 0;
}

double
busy_noise(const struct row *row)
{
	double by = find_weight(&row->metric), ln, luck = busy_own_noise(row);

	if (row->exact || row->common || by == 0)
		return 0;
	ln = get_difference(row->pair);
	return luck + (ln >= LEAST_DIFFERENCE ? by * by * ln * ln : 0);
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
