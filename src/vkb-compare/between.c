#include "between.h"
#include "intern.h"
#include "mem.h"
#include "sample.h"
#include "stats.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

void
between_add(struct between *b, const struct sample *s, const char *key)
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
between_get(const struct between *b)
{
	if (b->most < BETWEEN_DF)
		return (struct moderate){NAN, 0};
	return (struct moderate){b->squares / b->df, b->most};
}
