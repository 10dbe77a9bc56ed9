/*
 * Rows of foreign data for requests: the fields that a template names, read
 * once from a file into a rowset.
 *
 * What a file is its name says: .csv, .tsv, .xml, .npy, .jsonl (or .ndjson);
 * any other is read as CSV. CSV and TSV are RFC 4180 with the names in the
 * first row. In XML each element of the given name, "doc" where none is given,
 * is a row; its fields are the first of the elements in it by their names, as
 * text. NPY has one structured array, strings as far as a NUL, vectors and
 * other binary data as they are; or a plain one, numbers as text in a field
 * "value", vectors in a field "vector". In JSON lines a row is an object;
 * strings are what they mean, all else as it is written.
 */
#ifndef DATASET_H
#define DATASET_H

#include <stdbool.h>
#include <stddef.h>

struct datasets;
struct rowset;

struct dataset_want {
	const char *path;
	const char *xml_element;   /* NULL: "doc" */
	long long maxdocs;         /* only so many rows; 0: all */
	const char *const *fields; /* ends with NULL; at least one */
};

/*
 * NULL, and said with FILE:LINE: it cannot be read, has no row, a row is
 * malformed, or a field is unknown (then those there are). NULL and unsaid:
 * 'stop' (may be NULL) was true; it is asked for each row. Caller frees with
 * rowset_free.
 */
typedef bool dataset_stop_fn(void *arg);
struct rowset *dataset_read(
    const struct dataset_want *, dataset_stop_fn *stop, void *arg);

/*
 * What has been read, for further runs: read again where the file has changed
 * or other fields are wanted. As dataset_read, but borrowed.
 */
struct datasets *datasets_new(void);
void datasets_free(struct datasets *);
const struct rowset *datasets_get(struct datasets *,
    const struct dataset_want *, dataset_stop_fn *stop, void *arg);

#endif
