#include "vectors.h"
#include "rng.h"

#include <math.h>

void
vectors_make_row(
    uint64_t salt, uint64_t row, size_t field, size_t dims, float *to)
{
	struct rng r;
	double sum = 0, scale;

	rng_seed(&r, salt + row * UINT64_C(0x9e3779b97f4a7c15), field);
	/* Two normal numbers at a time: Box and Muller, 1958. */
	for (size_t i = 0; i < dims; i += 2) {
		double length = sqrt(2 * rng_exponential(&r));
		double angle = 2 * M_PI * rng_unit(&r);
		double x[2] = {length * cos(angle), length * sin(angle)};

		for (size_t k = 0; k < 2 && i + k < dims; k++) {
			to[i + k] = (float)x[k];
			sum += x[k] * x[k];
		}
	}
	scale = sum > 0 ? 1 / sqrt(sum) : 0;
	for (size_t i = 0; i < dims; i++)
		to[i] = (float)(to[i] * scale);
}
