/*
 * The runs of a table, as run records on stdout: those that were pushed as
 * they were, those of the Python tool as vkb-parse would have them. In the
 * order of their times, and as they came.
 */
#ifndef EXPORT_H
#define EXPORT_H

struct schema;

/* 'since': a time, or NULL for all. 0, or -1 and said. */
int export_runs(const char *database, struct schema *, const char *since);

#endif
