#include "family.h"

#include <math.h>

/*
 * As simulated, a report of equal builds is then wrong in at most one of 20.
 * The levels of a report add up to FAMILY_ALPHA.
 */
#define COMMON_LEVEL .02
static const double levels[2][2][FAMILY_COMMON] = {
    {{.05, .05}, {.03, .02}},   /* alone, both */
    {{.03, .03}, {.018, .012}}, /* the same beside COMMON_LEVEL */
};

double
family_level(enum test_family k, bool both, bool common)
{
	if (k < FAMILY_COMMON)
		return levels[common][both][k];
	return k == FAMILY_COMMON ? COMMON_LEVEL : FAMILY_ALPHA;
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
