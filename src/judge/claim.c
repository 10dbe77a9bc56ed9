#include "claim.h"
#include "mem.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>

double
claim_choose(struct claim *v, size_t n, bool strict)
{
	double *wrong = mem_array(n + 1, sizeof *wrong), sum = 0;
	size_t *order, i;

	for (i = 0; i < n; i++) {
		wrong[i] = v[i].beyond ? 1 - v[i].p : 1;
		v[i].word = CLAIM_NONE;
	}
	order = stats_order(wrong, n);
	for (i = 0; i < n; i++) {
		double one = wrong[order[i]];

		if (one > CLAIM_ONE ||
		    sum + one > CLAIM_WRONG * (strict ? 1 : (double)(i + 1)))
			break;
		sum += one;
		v[order[i]].word = CLAIM_CHANGE;
	}
	/* What one more claim may add to the sum. */
	sum = CLAIM_WRONG * (strict ? 1 : (double)(i + 1)) - sum;
	for (; i < n && wrong[order[i]] <= CLAIM_LIKELY; i++)
		v[order[i]].word = CLAIM_LIKELY_CHANGE;
	free(order);
	free(wrong);
	return 1 - fmin(CLAIM_ONE, fmax(0, sum));
}
