/*
 * Takes the rows of a dataset from the readers of the formats. Private to
 * dataset.c and dataset_*.c.
 */
#ifndef INTAKE_H
#define INTAKE_H

#include <stdbool.h>
#include <stddef.h>

struct intake;

/*
 * Returns the index of a field of the file among the wanted ones, or -1. Its
 * name has n bytes and is kept for the message about an unknown field.
 */
int intake_name(struct intake *, const char *name, size_t n);

/* After the last name: 0, or -1, error reported, if a wanted one is missing. */
int intake_names_end(struct intake *);

/* Sets a field of the current row; the first value stays. */
void intake_field(struct intake *, int field, const void *value, size_t n);
bool intake_has(const struct intake *, int field);

/* Ends a row. 0; 1: it was the last wanted; -1: error reported, or stopped. */
int intake_row(struct intake *);

const char *intake_path(const struct intake *);
const char *intake_element(const struct intake *);

/* The readers of the formats. 0, or -1, error reported. */
int dataset_csv(struct intake *, char delimiter);
int dataset_xml(struct intake *);
int dataset_npy(struct intake *);
int dataset_json(struct intake *);

#endif
