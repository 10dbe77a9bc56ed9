#include "between.h"
#include "intern.h"
#include "mem.h"
#include "sample.h"
#include "stats.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Sets the medians of the sessions, as logarithms, by the number of their name.
 */
static void
list_medians(const struct sample *s, struct intern *names, double *medians)
{
	double *v = mem_array(s->n + 1, sizeof *v);
	size_t *of = mem_array(s->n + 1, sizeof *of);

	for (size_t i = 0; i < s->n; i++)
		of[i] = intern_id(names, s->rounds[i].session);
	for (size_t k = 0; k < intern_count(names); k++) {
		size_t n = 0;

		for (size_t i = 0; i < s->n; i++)
			if (of[i] == k)
				v[n++] = log(s->v[i]);
		stats_sort(v, n);
		medians[k] = stats_median(v, n);
	}
	free(v);
	free(of);
}

/* Returns the number of sessions, or 0 if the build is left out. */
static size_t
name_sessions(const struct sample *s, struct intern *names)
{
	for (size_t i = 0; i < s->n; i++) {
		if (!s->rounds[i].session || !(s->v[i] > 0))
			return 0;
		intern_id(names, s->rounds[i].session);
	}
	return intern_count(names);
}

/* Adds the squares around the mean of a build's sessions. Returns their degrees
 * of freedom. */
static double
add_build(struct between *b, const struct sample *s)
{
	struct intern *names = intern_new();
	size_t sessions = name_sessions(s, names);
	double *medians = mem_array(sessions + 1, sizeof *medians), mean;

	if (sessions > 1) {
		list_medians(s, names, medians);
		b->squares += stats_squares(medians, sessions, &mean);
	}
	free(medians);
	intern_free(names);
	return sessions > 1 ? (double)(sessions - 1) : 0;
}

void
between_add(struct between *b, const struct sample *builds, size_t n)
{
	double df = 0;

	for (size_t i = 0; i < n; i++)
		df += add_build(b, &builds[i]);
	b->df += df;
	b->most = fmax(b->most, df);
}

struct moderate
between_get(const struct between *b)
{
	if (b->most < BETWEEN_DF)
		return (struct moderate){NAN, 0};
	return (struct moderate){b->squares / b->df, b->most};
}
