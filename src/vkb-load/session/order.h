/* The order of runs: which scene runs on which build, when. */
#ifndef ORDER_H
#define ORDER_H

#include <stddef.h>
#include <stdint.h>

struct turn {
	size_t scene, build;
	size_t index; /* repetition of this scene and build, from 1 */
	size_t block; /* 0: not interleaved */
};

enum order_how {
	ORDER_INTERLEAVED, /* rounds; in each, every scene over all builds */
	ORDER_RANDOM,      /* everything in any order */
	ORDER_SEQUENTIAL   /* build by build, scene by scene */
};

/* Parses "interleaved", "random" or "sequential"; NULL is interleaved. */
enum order_how order_parse(const char *s);

/* Repetitions first..last of each scene on each build. */
struct order {
	enum order_how how;
	size_t nscenes, nbuilds;
	size_t first, last; /* from 1 */
	uint64_t seed;
};

/* Returns all n slots; caller frees with free(). */
struct turn *order_make(const struct order *, size_t *n);

#endif
