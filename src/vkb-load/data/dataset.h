/*
 * Rows of foreign data for requests: the fields that a template names, read
 * once from a file and kept ready to be sent, shared by all threads.
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
#include <stdint.h>

struct dataset;
struct datasets;

struct dataset_want {
	const char *path;
	const char *xml_element;   /* NULL: "doc" */
	long long maxdocs;         /* only so many rows; 0: all */
	const char *const *fields; /* ends with NULL; at least one */
};

/*
 * NULL, and said with FILE:LINE: it cannot be read, has no row, a row is
 * malformed, or a field is unknown (then those there are). NULL and unsaid:
 * 'stop' (may be NULL) was true; it is asked for each row.
 */
typedef bool dataset_stop_fn(void *arg);
struct dataset *dataset_read(
    const struct dataset_want *, dataset_stop_fn *stop, void *arg);
void dataset_free(struct dataset *);

uint64_t dataset_rows(const struct dataset *);
int dataset_field(const struct dataset *, const char *name); /* -1: none */
size_t dataset_mean(const struct dataset *);    /* bytes of a row */
size_t dataset_longest(const struct dataset *); /* of all fields of a row */

/*
 * A row: where each field ends, counted from the end of that list, then the
 * fields, each a RESP bulk string. 64 bytes behind any may be read as well.
 */
struct dataset_row {
	const uint32_t *ends;
	const char *bytes;
};
struct dataset_row dataset_row(const struct dataset *, uint64_t);

/* The value in a bulk string of n bytes; *n becomes its length. */
const char *dataset_value(const char *bulk, size_t *n);

/*
 * What has been read, for further runs: read again where the file has changed
 * or other fields are wanted. As dataset_read, but borrowed.
 */
struct datasets *datasets_new(void);
void datasets_free(struct datasets *);
const struct dataset *datasets_get(struct datasets *,
    const struct dataset_want *, dataset_stop_fn *stop, void *arg);

#endif
