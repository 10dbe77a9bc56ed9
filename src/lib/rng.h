/*
 * Reproducible random numbers: xoshiro256** (Blackman and Vigna, "Scrambled
 * Linear Pseudorandom Number Generators", 2021), seeded by splitmix64. Not for
 * secrets.
 */
#ifndef RNG_H
#define RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng_quick {
	uint64_t lower, upper;
};

struct rng {
	uint64_t s[4];
	struct rng_quick quick; /* see rng_quick */
};

#define RNG_QUICK UINT64_C(0xda942042e4dd58b5) /* Steele and Vigna, 2021 */

/* Streams of one seed are independent: use one for each thread. */
void rng_seed(struct rng *, uint64_t seed, uint64_t stream);

static inline uint64_t
rng_next(struct rng *r)
{
	uint64_t *s = r->s, x = s[1] * 5, t = s[1] << 17;

	x = (x << 7 | x >> 57) * 9;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = s[3] << 45 | s[3] >> 19;
	return x;
}

/*
 * The same in a third of the instructions, for what is drawn for each request:
 * the upper half of a congruential generator modulo 2^128 (L'Ecuyer, "Tables of
 * Linear Congruential Generators", 1999), with a state of its own.
 */
static inline uint64_t
rng_quick(struct rng_quick *q)
{
	unsigned __int128 lower = (unsigned __int128)q->lower * RNG_QUICK;

	q->lower = (uint64_t)lower;
	q->upper = q->upper * RNG_QUICK + (uint64_t)(lower >> 64);
	return q->upper;
}

/*
 * Uniform in 0..n-1 without bias; n >= 1. By multiplication (Lemire, "Fast
 * Random Integer Generation in an Interval", 2019).
 */
static inline uint64_t
rng_below(struct rng *r, uint64_t n)
{
	unsigned __int128 m = (unsigned __int128)rng_next(r) * n;

	if ((uint64_t)m < n)
		while ((uint64_t)m < -n % n)
			m = (unsigned __int128)rng_next(r) * n;
	return (uint64_t)(m >> 64);
}

/* Brings the n values of 'size' bytes each into a random order. */
void rng_shuffle(struct rng *, void *v, size_t n, size_t size);

/*
 * Writes the numbers 0 to n - 1 in the order of a round, from 0. In n rounds
 * each number comes once at each place (a Latin square, whose first row is
 * drawn from the seed and the stream), so that the effect of a place cancels.
 */
void rng_order(
    size_t *v, size_t n, uint64_t seed, uint64_t stream, size_t round);

double rng_unit(struct rng *);        /* 0 <= x < 1, 53 bits */
double rng_exponential(struct rng *); /* mean 1: gaps of a Poisson process */

#endif
