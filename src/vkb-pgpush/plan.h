/*
 * What must be done to the tables before the rows of a spool fit: what is
 * missing or too narrow becomes statements in the schema.
 */
#ifndef PLAN_H
#define PLAN_H

struct schema;
struct spool;

void plan_make(struct schema *, const struct spool *);

#endif
