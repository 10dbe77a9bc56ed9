/*
 * Key choosers: which numbers of the key space the commands use.
 *
 * Where some keys are more popular than others, the ranks of popularity are
 * scattered over the key space, so that neither neighbours nor the keys of one
 * node are popular together. With 'latest' the newest number, keyspacelen - 1
 * and then the last of __seq__, has rank 0, and with 'gaussian' the ranks lie
 * around the middle. Otherwise the key of rank v is found by
 *
 *	v = (v * 0x9e3779b97f4a7c15 + 0x632be59bd9b4e019) mod 2^b
 *	v = v xor (v >> h)
 *
 * where 2^b is the smallest power of two that is not below keyspacelen (at
 * least 2), and h = (b + 1) / 2; again and again until v is below keyspacelen.
 * Each step is a bijection, so that is one, too. It is the same for all
 * connections, roles and sessions.
 */
#ifndef CHOOSER_H
#define CHOOSER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine_work;
struct ranks;
struct rng;

struct chooser {
	bool ordered;  /* each number comes once before any comes again */
	bool weighted; /* some numbers come more often than others */
	/*
	 * Chooses n numbers below 'space', the first of them the 'at'th in
	 * order. If weighted, 'space' is that for which it was made, and with
	 * 'latest' numbers go up to it and what was inserted.
	 */
	void (*draw)(const struct chooser *, struct rng *, uint64_t at,
	    uint64_t space, uint64_t *to, size_t n);

	/* if weighted */
	struct ranks *ranks;
	uint64_t mask;
	unsigned half;
	const _Atomic uint64_t *newest; /* of 'latest'; borrowed */
};

extern const struct chooser chooser_sequential, chooser_uniform;

/*
 * Returns the chooser of the work for a key space. 'newest' is the number after
 * the newest one, if the work has the keys 'latest'. Free it with
 * chooser_free.
 */
const struct chooser *chooser_new(
    const struct engine_work *, uint64_t space, const _Atomic uint64_t *newest);
void chooser_free(const struct chooser *);

#endif
