/* Values as configurations write them: VALUES in vkb-config(5). */
#ifndef VALUESPEC_H
#define VALUESPEC_H

#include <stdbool.h>
#include <stddef.h>

#define VALUESPEC_MOST 32             /* sizes in a list */
#define VALUESPEC_LONGEST (1LL << 29) /* bytes, as servers allow */
#define VALUESPEC_RATIO 100           /* the highest */

struct valuespec_size {
	long long low, high; /* bytes; 1 <= low <= high */
	double share;        /* of the values, above 0; the sum is 1 */
};

/* Zeroed: the sizes and contents of engine_work.data_size. */
struct valuespec {
	size_t n; /* sizes, in order; no two are equal */
	struct valuespec_size sizes[VALUESPEC_MOST];
	bool random;  /* each value is another one */
	double ratio; /* of random ones; 1: not compressible */
};

/* Returns NULL, or why the text is not valid; static. */
const char *valuespec_parse(const char *text, struct valuespec *);

/*
 * Returns the text in its only form: lists in order, with weights of 100 in
 * all. Caller frees.
 */
char *valuespec_format(const struct valuespec *);

double valuespec_mean(const struct valuespec *);       /* bytes */
long long valuespec_longest(const struct valuespec *); /* bytes */

/* Have both the same sizes, shares and contents? */
bool valuespec_equal(const struct valuespec *, const struct valuespec *);

/* Is it one size of constant bytes? */
bool valuespec_is_plain(const struct valuespec *);

/*
 * Parses seconds, "60" or "10-60". Returns NULL, or why the text is not valid;
 * static.
 */
const char *valuespec_parse_span(
    const char *text, long long *low, long long *high);

#endif
