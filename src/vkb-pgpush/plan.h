/*
 * What must be done to the tables before the rows of a spool fit: what is
 * missing or too narrow becomes statements in the schema. Keys that the table
 * has no room for are counted there.
 */
#ifndef PLAN_H
#define PLAN_H

struct schema;
struct spool;

/* 0, or -1 and said: the table has no room for the key. */
int plan_make(struct schema *, const struct spool *);

#endif
