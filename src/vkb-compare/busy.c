#include "busy.h"
#include "cases.h"
#include "judge.h"
#include "mem.h"
#include "part.h"
#include "sample.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_DIFFERENCE .02
#define LEAST_LEFT .01 /* of the CPU time, to the load and the server */
#define LUCK .2

void
busy_measure(struct pairing *p)
{
	for (size_t j = 0; j < 2; j++) {
		struct sample s =
		    sample_metric(p->side[j], "foreign_cpu_percent");

		stats_sort(s.v, s.n);
		p->busy[j] = stats_median(s.v, s.n);
		sample_free(&s);
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

/* Returns the session of the first run of a side, or NULL if it is not known.
 * Borrowed. */
static const char *
get_session(const struct kase *k)
{
	struct sample s = k->nparts && k->parts[0].nmetrics
	    ? sample_metric(k, k->parts[0].metrics[0].name)
	    : (struct sample){0};
	const char *session = s.n ? s.rounds[0].session : NULL;

	sample_free(&s);
	return session;
}

/* The cases that two sessions share, by the one beside which other programs
 * ran most. */
struct shared {
	const char *sessions[2];
	const struct pairing *most;
};

/* Returns the entry of the sessions of a case, or NULL. */
static struct shared *
find_shared(struct shared *v, size_t n, const char *const sessions[2])
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(v[i].sessions[0], sessions[0]) == 0 &&
		    strcmp(v[i].sessions[1], sessions[1]) == 0)
			return &v[i];
	return NULL;
}

/* Sets the sessions of a judged case. Returns false if one is not known. */
static bool
get_sessions(const struct pairing *p, const char *sessions[2])
{
	for (size_t j = 0; j < 2 && p->rows; j++)
		sessions[j] = get_session(p->side[j]);
	return p->rows && sessions[0] && sessions[1];
}

void
busy_share(struct comparison *c)
{
	struct shared *v = NULL, *of;
	const char *sessions[2];
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < c->npairs; i++) {
		const struct pairing *p = &c->pairs[i];

		if (isnan(get_difference(p)) || !get_sessions(p, sessions))
			continue;
		of = find_shared(v, n, sessions);
		if (!of) {
			v = mem_grow(v, n, &cap, sizeof *v);
			v[n] = (struct shared){{sessions[0], sessions[1]}, p};
			of = &v[n++];
		}
		if (get_difference(p) > get_difference(of->most))
			of->most = p;
	}
	for (size_t i = 0; n && i < c->npairs; i++) {
		struct pairing *p = &c->pairs[i];

		if (!isnan(get_difference(p)) || !get_sessions(p, sessions))
			continue;
		of = find_shared(v, n, sessions);
		if (of)
			memcpy(p->busy, of->most->busy, sizeof p->busy);
	}
	free(v);
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
