/* The schedule: which case runs on which build, when. */
#ifndef ORDER_H
#define ORDER_H

#include <stddef.h>
#include <stdint.h>

struct slot {
	size_t cas, build;
	size_t index; /* repetition of this case and build, from 1 */
	size_t block; /* 0: not interleaved */
};

enum order_how {
	ORDER_INTERLEAVED, /* rounds; in each, every case over all builds */
	ORDER_RANDOM,      /* everything in any order */
	ORDER_SEQUENTIAL   /* build by build, case by case */
};

/* "interleaved|random|sequential", as the option has it. */
enum order_how order_parse(const char *s);

/* Repetitions first..last of each case on each build. */
struct order {
	enum order_how how;
	size_t ncases, nbuilds;
	size_t first, last; /* from 1 */
	uint64_t seed;
};

/* All of them; caller frees with free(). */
struct slot *order_make(const struct order *, size_t *n);

#endif
