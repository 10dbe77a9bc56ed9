/*
 * Reads and checks which files dataset_generation and query_generation of
 * configurations ask for. Both are tables of rows and fields; some kinds of
 * fields exist only in query files.
 */
#ifndef RECIPE_H
#define RECIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;
struct transform;

enum recipe_format {
	RECIPE_CSV,
	RECIPE_TSV,
	RECIPE_XML,
	RECIPE_JSONL,
	RECIPE_NPY,
	RECIPE_FVECS,
	RECIPE_IVECS
};

enum recipe_metric { RECIPE_L2, RECIPE_IP, RECIPE_COSINE };

struct recipe_field {
	char *name;
	size_t size; /* most characters; in NPY bytes of the column */
	struct transform *t;
	size_t nt;
	size_t dims; /* dimensions of a vector; 0: text */
};

struct recipe_file {
	char *name;              /* file name in the output folder */
	const char *key;         /* its name in the configuration; borrowed */
	const struct json *spec; /* borrowed */
	char *where;             /* "FILE: $[0].dataset_generation.KEY" */
	bool query;
	enum recipe_format format;
	uint64_t rows;
	struct recipe_field *fields;
	size_t n;
	bool articles; /* some field has a wikipedia transform */
	bool words;    /* some field may need the built-in vocabulary */

	/* Prefix and suffix queries: made of the terms in another file. */
	const char *source; /* that file; NULL: another kind; borrowed */
	bool suffix;

	/* Nearest neighbours of the vectors of 'queries' among 'base'. */
	const char *base, *queries; /* NULL: another kind; borrowed */
	size_t k;
	enum recipe_metric metric;
};

struct recipes {
	struct recipe_file *v;
	size_t n, cap;
	struct json **docs;
	size_t ndocs;
};

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

/* Adds the recipes of a file; "-" is stdin. 0, or -1 (errors reported). */
int recipe_read(struct recipes *, const char *file);
/* The same for a parsed document, which it takes over. */
int recipe_parse(struct recipes *, struct json *doc, const char *name);
void recipe_free(struct recipes *);

/*
 * Checks, after all are read, that the files which neighbours refer to fit.
 * Returns 0, or -1 (errors reported).
 */
int recipe_check_sources(const struct recipes *);

/* Returns the recipe of that file name, or NULL. */
const struct recipe_file *recipe_find(const struct recipes *, const char *name);

/* Returns the number of the first vector field, or f->n if there is none. */
size_t recipe_find_vector(const struct recipe_file *);

/* Adds a text to the list, and takes it. */
void recipe_add_text(struct transform *, char *);

#endif
