#include "between.h"
#include "intern.h"
#include "mem.h"
#include "sample.h"
#include "stats.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Adds the squares of the session means of a build around their mean. Returns
 * their degrees of freedom; 0: the build is left out. */
static double
add_build(struct between *b, const struct sample *s)
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
	if (sessions > 1)
		b->squares += stats_squares(means, sessions, &mean);
	free(means);
	free(n);
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
