/* Normal random numbers. */
#ifndef NORMAL_H
#define NORMAL_H

#include "rng.h"

#include <math.h>

/* Of mean 0 and standard deviation 1 (Box and Muller, 1958). */
static inline double
normal_draw(struct rng *r)
{
	return sqrt(2 * rng_exponential(r)) * cos(2 * M_PI * rng_unit(r));
}

#endif
