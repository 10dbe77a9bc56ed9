/*
 * Reads the fields of a dataset file that a template names into a rowset.
 *
 * The file name gives the format: .csv, .tsv, .xml, .npy, .jsonl (or .ndjson);
 * any other file is read as CSV. CSV and TSV are RFC 4180 with field names in
 * the first row. In XML each element of the given name ("doc" by default) is a
 * row; a field is the text of the first element of its name in the row. NPY has
 * a structured array: strings end at a NUL, vectors and other binary data are
 * copied; or a plain array: numbers become text in a field "value", vectors a
 * field "vector". In JSON lines a row is an object; strings are decoded, other
 * values are copied as text.
 */
#ifndef DATASET_H
#define DATASET_H

#include <stdbool.h>

struct datasets;
struct intern;
struct json;
struct rowset;

struct dataset_want {
	const char *path;
	const char *xml_element;   /* NULL: "doc" */
	long long maxdocs;         /* most rows to read; 0: all */
	const char *const *fields; /* ends with NULL; at least one */
};

/*
 * Returns NULL, error reported, if the file cannot be read or has no row, a row
 * is malformed, or a field is unknown (the known ones are listed). Returns NULL
 * without a message if 'stop' (may be NULL), called for each row, was true.
 * Caller frees with rowset_free.
 */
typedef bool dataset_stop_fn(void *arg);
struct rowset *dataset_read(
    const struct dataset_want *, dataset_stop_fn *stop, void *arg);

/*
 * A cache for further runs. datasets_get works as dataset_read, but reads a
 * file again only if it has changed, or not the same fields are wanted in the
 * same order: templates address a field by its place. The result is borrowed,
 * until datasets_drop_stale frees the rows of files that have changed or are
 * gone.
 */
struct datasets *datasets_new(void);
void datasets_free(struct datasets *);
const struct rowset *datasets_get(struct datasets *,
    const struct dataset_want *, dataset_stop_fn *stop, void *arg);
void datasets_drop_stale(struct datasets *);

/* Recipes of a configuration: how vkb-gendata makes its datasets. */

/*
 * Returns the recipes of the files that a case names, as a configuration for
 * vkb-gendata: {"dataset_generation": ..., "query_generation": ...}; NULL if
 * there are none. Owned by the caller.
 */
struct json *dataset_recipes(const struct json *cfg, const struct json *config);

/*
 * Runs vkb-gendata for each dataset of a case that is not in 'made' (empty at
 * first), and adds it there. Returns NULL if all files can be read, else why
 * not; caller frees. *stop ends it.
 */
char *dataset_make(
    const struct json *cas, struct intern *made, const volatile int *stop);

#endif
