#include "samplesize.h"
#include "plan.h"
#include "verdict.h"

#include <math.h>
#include <stdbool.h>

double
samplesize_visible_change(const struct samplesize *s, size_t runs)
{
	double n = (double)runs, df = n - 1;
	double tests =
	    (double)s->cases * (s->builds > 1 ? (double)(s->builds - 1) : 1);

	if (runs < VERDICT_RUNS)
		return NAN;
	/* The other cases tell as much of the noise again (effect.h). */
	if (tests >= 3)
		df *= 2;
	return plan_change(
	    &(struct plan){.error = {2 * s->noise * s->noise / n, df},
		.runs = runs,
		.margin = s->margin,
		.unchanged = fmin(.93, 1 - 1 / (tests + 2)),
		.p = PLAN_P,
		.known = true});
}

size_t
samplesize_find_runs(
    const struct samplesize *s, double change, size_t least, size_t most)
{
	while (least < most && !(samplesize_visible_change(s, least) <= change))
		least++;
	return least;
}
