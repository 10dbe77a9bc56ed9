/*
 * Transforms make the content of a field. One table holds every transform of
 * vkb-gendata(1) with its parameters; content_apply_transform applies them.
 */
#ifndef TRANSFORM_H
#define TRANSFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct configwalk;
struct json;

enum transform_kind {
	TRANSFORM_WIKIPEDIA,
	TRANSFORM_INJECT,
	TRANSFORM_REPEAT,
	TRANSFORM_PREFIX_GEN,
	TRANSFORM_PROXIMITY,
	TRANSFORM_PHRASE_LABEL,
	TRANSFORM_EXPANSION,
	TRANSFORM_FUZZY,
	TRANSFORM_NUMERIC,
	TRANSFORM_TAGS,
	TRANSFORM_REPEATED,
	TRANSFORM_CYCLIC,
	TRANSFORM_UNIQUE,
	TRANSFORM_UUID,
	TRANSFORM_PROGRESSIVE,
	TRANSFORM_RANDOM_SET,
	TRANSFORM_STEMMABLE,
	TRANSFORM_VECTOR,
	TRANSFORM_NAMED, /* number of those above; only queries use the rest */
	TRANSFORM_TERM = TRANSFORM_NAMED, /* phraseQ_termI, I is 'first' */
	TRANSFORM_LABEL,                  /* phraseQ */
	TRANSFORM_EXPANDED,               /* term001 */
	TRANSFORM_SPELT,                  /* the correct fuzzy word */
	TRANSFORM_IN_TURN,                /* entries of 'list' in turn */
	TRANSFORM_WORD                    /* word of the vocabulary */
};

/* Parameters of all kinds; the table says which ones a kind uses. */
struct transform {
	enum transform_kind kind;
	long long count;   /* tokens, copies, variants */
	long long each;    /* rows of one phrase or variant; cycle, leaves */
	long long terms;   /* terms of a phrase */
	long long combos;  /* of a phrase; only whether it is 1 matters */
	long long min_len; /* letters of a word */
	long long max_len;
	long long edits;
	long long offset;
	long long dims;
	double share; /* fraction of the rows */
	double lo, hi;
	const char *text; /* borrowed from the recipe */
	char **list;
	size_t nlist, list_cap;
	int decimals;        /* decimals of a number */
	long long least;     /* least number, in units of the last decimal */
	uint64_t steps;      /* how many numbers there are from 'least' on */
	bool single_tag;     /* never two */
	unsigned long first; /* number of the term, or rank of the first word */
};

/*
 * Reads one transform of a field. Problems are reported and counted in 'w';
 * texts are borrowed from 'j'.
 */
void transform_read(
    struct transform *, const struct json *j, struct configwalk *w);
void transform_free(struct transform *);

/* Adds a text to the list, and takes it. */
void transform_add_text(struct transform *, char *);

/*
 * Adapts the transform to a field of 'size' characters. 'fixed' is NPY, whose
 * columns have a fixed width and whose numbers have two decimals. Problems are
 * reported and counted in 'w'.
 */
void transform_fit(
    struct transform *, size_t size, bool fixed, struct configwalk *w);

#endif
