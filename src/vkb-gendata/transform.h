/*
 * What makes the content of a field: one table holds every transform of
 * vkb-gendata(1) with its parameters, and what a row gets from each.
 */
#ifndef TRANSFORM_H
#define TRANSFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "str.h"

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
	TRANSFORM_NAMED, /* those above have names; queries use these too */
	TRANSFORM_TERM = TRANSFORM_NAMED, /* phraseQ_termI, I is 'first' */
	TRANSFORM_LABEL,                  /* phraseQ */
	TRANSFORM_EXPANDED,               /* term001 */
	TRANSFORM_SPELT,                  /* the fuzzy word */
	TRANSFORM_IN_TURN,                /* those of 'list' */
	TRANSFORM_WORD                    /* of the vocabulary */
};

/* Parameters; what each kind makes of them is in the table. */
struct transform {
	enum transform_kind kind;
	long long count;   /* tokens, copies, variants */
	long long each;    /* rows, or copies, of one */
	long long terms;   /* of a phrase */
	long long combos;  /* of a phrase: 1, or any other number */
	long long min_len; /* of a word */
	long long max_len;
	long long edits;
	long long offset;
	long long dims;
	double share; /* of the rows */
	double lo, hi;
	const char *text; /* borrowed from the recipe */
	char **list;
	size_t nlist;
	int decimals;        /* of numbers */
	long long least;     /* number, in units of the last decimal */
	uint64_t steps;      /* numbers from there on */
	bool one;            /* a tag, not one or two */
	unsigned long first; /* place of the term, or of the field's words */
};

/*
 * One transform of a field. Problems are said and counted in 'w'; the texts
 * are borrowed from 'j'.
 */
void transform_read(
    struct transform *, const struct json *j, struct configwalk *w);
void transform_free(struct transform *);

/*
 * What the field's width does to it: 'fixed' is NPY, where columns have a
 * width and numbers two decimals.
 */
void transform_fit(
    struct transform *, size_t size, bool fixed, struct configwalk *w);

#endif
