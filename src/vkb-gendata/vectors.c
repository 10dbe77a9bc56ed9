#include "vectors.h"
#include "mem.h"
#include "rng.h"

#include <math.h>
#include <stdlib.h>

/* Marsaglia and Tsang, "The Ziggurat Method for Generating Random Variables",
 * 2000, with 128 layers; x1 and the area are from that paper. */
#define LAYERS 128
#define TAIL 3.442619855899
#define AREA 9.91256303526217e-3

struct vectors {
	double x[LAYERS + 1]; /* right ends of the layers, descending */
	double y[LAYERS + 1]; /* the density at x */
};

static double
compute_density(double x)
{
	return exp(-.5 * x * x);
}

struct vectors *
vectors_new(void)
{
	struct vectors *v = mem_new(sizeof *v);

	v->x[0] = AREA / compute_density(TAIL);
	v->x[1] = TAIL;
	for (int i = 2; i < LAYERS; i++)
		v->x[i] = sqrt(-2 *
		    log(AREA / v->x[i - 1] + compute_density(v->x[i - 1])));
	v->x[LAYERS] = 0;
	for (int i = 0; i <= LAYERS; i++)
		v->y[i] = compute_density(v->x[i]);
	return v;
}

void
vectors_free(struct vectors *v)
{
	free(v);
}

static double
draw_tail(struct rng *r)
{
	double x, y;

	do {
		x = rng_exponential(r) / TAIL;
		y = rng_exponential(r);
	} while (2 * y < x * x);
	return TAIL + x;
}

static double
draw_normal(const struct vectors *v, struct rng *r)
{
	for (;;) {
		uint64_t bits = rng_next(r);
		unsigned i = bits & (LAYERS - 1);
		double sign = bits & LAYERS ? -1 : 1;
		double x = (double)(bits >> 11) * 0x1p-53 * v->x[i];

		if (x < v->x[i + 1])
			return sign * x;
		if (i == 0)
			return sign * draw_tail(r);
		if (v->y[i] + rng_unit(r) * (v->y[i + 1] - v->y[i]) <
		    compute_density(x))
			return sign * x;
	}
}

void
vectors_make_row(const struct vectors *v, uint64_t salt, uint64_t row,
    size_t field, size_t dims, float *to)
{
	struct rng r;
	double sum = 0, scale;

	rng_seed(&r, salt + row * UINT64_C(0x9e3779b97f4a7c15), field);
	for (size_t i = 0; i < dims; i++) {
		double x = draw_normal(v, &r);

		to[i] = (float)x;
		sum += x * x;
	}
	scale = sum > 0 ? 1 / sqrt(sum) : 0;
	for (size_t i = 0; i < dims; i++)
		to[i] = (float)(to[i] * scale);
}
