/*
 * Writes the runs of a table to stdout as run records, ordered by time, then
 * insertion. Pushed runs are unchanged; rows of the Python tool are converted
 * as vkb-parse does.
 */
#ifndef EXPORT_H
#define EXPORT_H

struct schema;

/* 'since': a time, or NULL for all. Returns 0, or -1 (errors reported). */
int export_runs(const char *database, struct schema *, const char *since);

#endif
