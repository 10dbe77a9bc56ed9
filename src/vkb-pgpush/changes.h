/*
 * Stores change records in the table vkb_changes: the last results of
 * vkb-detect for each table of runs.
 */
#ifndef CHANGES_H
#define CHANGES_H

#include <stddef.h>

struct json;
struct pg;

struct changes {
	char **records; /* JSON texts */
	size_t n, cap;
};

void changes_add(struct changes *, const struct json *rec);
void changes_free(struct changes *);

/* Returns the statement that creates the table; static. */
const char *changes_table(void);

/*
 * Creates the table if it is missing and stores the records as those of
 * 'metrics_table'; a record with a known key replaces the old one. Needs a
 * transaction that holds the lock. Returns 0, or -1 (error reported).
 */
int changes_push(
    const struct changes *, struct pg *, const char *metrics_table);

#endif
