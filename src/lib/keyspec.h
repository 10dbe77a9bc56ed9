/* Distributions of keys as configurations write them: vkb-config(5). */
#ifndef KEYSPEC_H
#define KEYSPEC_H

enum keyspec_kind {
	KEYSPEC_UNIFORM,
	KEYSPEC_SEQUENTIAL,
	KEYSPEC_ZIPF,
	KEYSPEC_LATEST,
	KEYSPEC_GAUSSIAN,
	KEYSPEC_HOT,
	KEYSPEC_KINDS
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
