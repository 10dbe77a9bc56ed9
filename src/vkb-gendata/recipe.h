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

/* Adds a field, and takes its name; borrowed until the next call. */
struct recipe_field *recipe_add_field(struct recipe_file *, char *name);

/* Returns the recipe of that file name, or NULL. */
const struct recipe_file *recipe_find(const struct recipes *, const char *name);

/* Returns the number of the first vector field, or f->n if there is none. */
size_t recipe_find_vector(const struct recipe_file *);
#endif
