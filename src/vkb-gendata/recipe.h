/*
 * What to make: the files of dataset_generation and query_generation in
 * configurations, checked. Both are tables of rows and fields; a query file
 * has fields that a dataset cannot have.
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
	size_t size; /* characters at most; bytes of a column of NPY */
	struct transform *t;
	size_t nt;
	size_t dims; /* of a vector; 0: it is text */
};

struct recipe_file {
	char *name;              /* of the file */
	const char *key;         /* what the configuration calls it; borrowed */
	const struct json *spec; /* borrowed */
	char *where;             /* "FILE: $[0].dataset_generation.KEY" */
	bool query;
	enum recipe_format format;
	uint64_t rows;
	struct recipe_field *fields;
	size_t n;
	bool articles; /* some of it is Wikipedia's, or stands for it */

	/* prefix and suffix queries: parts of the terms in a file */
	const char *source; /* NULL: it is none; borrowed */
	bool suffix;

	/* the nearest neighbours of the vectors of one file in another */
	const char *base, *queries; /* NULL: it is none; borrowed */
	size_t k;
	enum recipe_metric metric;
};

struct recipes {
	struct recipe_file *v;
	size_t n, cap;
	struct json **docs;
	size_t ndocs;
};

/* Adds those of a configuration, or an array of them. 0, or -1 and said. */
int recipe_read(struct recipes *, const char *file);
/* The same of a document, which is taken. */
int recipe_parse(struct recipes *, struct json *doc, const char *name);
void recipe_free(struct recipes *);

/*
 * Once all are read: that what recipes say of each other holds. 0, or -1 and
 * said.
 */
int recipe_link(const struct recipes *);

/* Of that file name; NULL. */
const struct recipe_file *recipe_of(const struct recipes *, const char *name);

/* The first field that is a vector; 'n' where there is none. */
size_t recipe_vector(const struct recipe_file *);

/* Does it take the built-in vocabulary. */
bool recipe_has_words(const struct recipe_file *);

#endif
