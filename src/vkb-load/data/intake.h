/*
 * Where the readers of the formats put the rows of a dataset. Private to
 * dataset.c and dataset_*.c.
 */
#ifndef INTAKE_H
#define INTAKE_H

#include <stdbool.h>
#include <stddef.h>

struct intake;

/*
 * A name of a field in the file, n bytes: the number it has among the wanted,
 * or -1. Names are kept for the message that one is unknown.
 */
int intake_name(struct intake *, const char *name, size_t n);

/* All names are known: -1, and said, where one is wanted that is not there. */
int intake_names_end(struct intake *);

/* A field of the row in work; what was given first stays. */
void intake_field(struct intake *, int field, const void *value, size_t n);
bool intake_has(const struct intake *, int field);

/* The row is whole: 0; 1: enough; -1: said, or stopped. */
int intake_row(struct intake *);

const char *intake_path(const struct intake *);
const char *intake_element(const struct intake *);

/* Of one format each: 0, or -1 and said. */
int dataset_csv(struct intake *, char delimiter);
int dataset_xml(struct intake *);
int dataset_npy(struct intake *);
int dataset_json(struct intake *);

#endif
