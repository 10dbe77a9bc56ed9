/* Parses the header of a NumPy file. */
#ifndef NPYHEAD_H
#define NPYHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NPYHEAD_DIMENSIONS 8

struct npyhead_field {
	char *name;
	char kind;   /* f i u b S U V */
	bool swap;   /* the other byte order */
	size_t size; /* of one element, in bytes */
	size_t n;    /* elements; more than one: a vector */
	bool vector;
	size_t at; /* offset in the row, in bytes */
};

struct npyhead {
	struct npyhead_field *fields;
	size_t nfields;
	bool fortran;
	uint64_t shape[NPYHEAD_DIMENSIONS];
	size_t dimensions;
	size_t row; /* bytes of an element of the array */
};

/*
 * Parses the dictionary of the header. 0, or -1 with *why (static). A plain
 * array has one field, without a name. Call npyhead_free in either case.
 */
int npyhead_parse(
    struct npyhead *, const char *text, size_t n, const char **why);
void npyhead_free(struct npyhead *);

#endif
