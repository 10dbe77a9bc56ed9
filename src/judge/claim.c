#include "claim.h"
#include "mem.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>

/* Chooses among those that are only shown, or the others. */
static double
choose_among(struct claim *v, const double *wrong, const size_t *order,
    size_t n, bool shown, bool strict)
{
	double sum = 0, most = CLAIM_WRONG;
	bool more = true;

	for (size_t i = 0; i < n; i++) {
		struct claim *c = &v[order[i]];
		double one = wrong[order[i]];

		if (c->shown != shown)
			continue;
		more = more && one <= CLAIM_ONE && sum + one <= most;
		c->word = more            ? CLAIM_CHANGE
		    : one <= CLAIM_LIKELY ? CLAIM_LIKELY_CHANGE
					  : CLAIM_NONE;
		sum += more ? one : 0;
		most += more && !strict ? CLAIM_WRONG : 0;
	}
	/* What one more claim may add to the sum. */
	return 1 - fmin(CLAIM_ONE, fmax(0, most - sum));
}

double
claim_choose(struct claim *v, size_t n, bool strict)
{
	double *wrong = mem_array(n + 1, sizeof *wrong), needs;
	size_t *order;

	for (size_t i = 0; i < n; i++)
		wrong[i] = v[i].beyond ? 1 - v[i].p : 1;
	order = stats_order(wrong, n);
	choose_among(v, wrong, order, n, true, strict);
	needs = choose_among(v, wrong, order, n, false, strict);
	free(order);
	free(wrong);
	return needs;
}
