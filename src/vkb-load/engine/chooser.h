/* Key choosers: which numbers of the key space the commands use. */
#ifndef CHOOSER_H
#define CHOOSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine_work;
struct rng;

struct chooser {
	bool ordered; /* each number comes once before any comes again */
	/*
	 * Chooses n numbers below 'space', the first of them the 'at'th in
	 * order.
	 */
	void (*draw)(
	    struct rng *, uint64_t at, uint64_t space, uint64_t *to, size_t n);
};

extern const struct chooser chooser_sequential, chooser_uniform;

/* Returns the chooser that the work wants. */
const struct chooser *chooser_find(const struct engine_work *);

#endif
