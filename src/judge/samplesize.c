#include "samplesize.h"
#include "model.h"
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
	/* What the other cases tell of the noise of one (model.c). */
	if (s->cases >= MODEL_SEPARATE)
		df *= fmin(2.5, .5 * (double)s->cases);
	return plan_change(
	    &(struct plan){.error = {2 * s->noise * s->noise / n, df},
		.runs = runs,
		.margin = s->margin,
		.unchanged = fmin(.95, 1 - 1 / (tests + 2.5)),
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
