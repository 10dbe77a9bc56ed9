/*
 * The change records among what is to be stored: the table vkb_changes, what
 * vkb-detect last said of a table of runs.
 */
#ifndef CHANGES_H
#define CHANGES_H

#include <stddef.h>

struct json;
struct pg;

struct changes {
	char **records; /* as texts */
	size_t n, cap;
};

void changes_add(struct changes *, const struct json *rec);
void changes_free(struct changes *);

/* The statement that makes the table; static. */
const char *changes_table(void);

/*
 * Within a transaction, alone: makes the table where it is missing, and stores
 * them as those of the table of runs. One that is there is brought up to date,
 * and seen again. 0, or -1 and said.
 */
int changes_push(
    const struct changes *, struct pg *, const char *metrics_table);

#endif
