#include "family.h"

#include <math.h>

/*
 * The shares of FAMILY_ALPHA if there are tests in both families: as simulated,
 * a report of equal builds is then wrong in at most one of 20.
 */
static const double shares[FAMILY_SHOWN] = {.03, .02, .02};

double
family_level(enum test_family k, bool both)
{
	bool shared = k < FAMILY_SHOWN && (both || k == FAMILY_COMMON);

	return shared ? shares[k] : FAMILY_ALPHA;
}

double
family_rank_limit(double level, size_t tests)
{
	return level / 2 / (double)tests;
}

double
family_next_level(double level, size_t tests, size_t found, bool strict)
{
	if (strict)
		return level / (double)(found < tests ? tests - found : 1);
	return level * fmin(1, (double)(found + 1) / (double)tests);
}
