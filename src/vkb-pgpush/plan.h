/*
 * Plans the changes that the tables need before the rows of a spool fit: SQL
 * statements in the schema for what is missing or too narrow. Also counts there
 * the keys that get no column because the table is full.
 */
#ifndef PLAN_H
#define PLAN_H

struct schema;
struct spool;

/* Returns 0, or -1 if the key's columns do not fit (error reported). */
int plan_make(struct schema *, const struct spool *);

#endif
