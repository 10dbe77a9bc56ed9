/*
 * Distributions of keys as configurations and options write them:
 *
 *	uniform       each key equally often
 *	sequential    in order, each once before any comes again
 *	zipf:THETA    rank k (1, 2, ...) in proportion to k^-THETA
 *	latest:THETA  the same, where the newest key has rank 1
 *	gaussian:SD   normal, around the middle of the key space; SD is a
 *	              share of the key space
 *	hot:Q%:P%     P % of the requests use Q % of the keys
 *
 * Without a number zipf and latest have THETA .99, and gaussian SD .15.
 */
#ifndef KEYSPEC_H
#define KEYSPEC_H

enum keyspec_kind {
	KEYSPEC_UNIFORM,
	KEYSPEC_SEQUENTIAL,
	KEYSPEC_ZIPF,
	KEYSPEC_LATEST,
	KEYSPEC_GAUSSIAN,
	KEYSPEC_HOT
};

struct keyspec {
	enum keyspec_kind kind;
	double shape;    /* THETA or SD; of 'hot' the share of the keys */
	double requests; /* of 'hot': their share */
};

/* Returns NULL, or why the text is not valid; static. */
const char *keyspec_parse(const char *text, struct keyspec *);

/* Returns the text in its only form, with all numbers. Caller frees. */
char *keyspec_format(const struct keyspec *);

#endif
