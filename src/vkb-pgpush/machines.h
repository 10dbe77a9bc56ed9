/* Stores env records in the table vkb_envs; the session joins them to runs. */
#ifndef MACHINES_H
#define MACHINES_H

#include <stddef.h>

struct json;
struct pg;

struct machines {
	char **records; /* JSON texts */
	size_t n, cap;
	size_t stored; /* set by machines_push: records that were new */
};

void machines_add(struct machines *, const struct json *rec);
void machines_free(struct machines *);

/* Returns the statement that creates the table; static. */
const char *machines_table(void);

/*
 * Creates the table if it is missing and stores the records that are not there.
 * Needs a transaction that holds the lock. Returns 0, or -1 (error reported).
 */
int machines_push(struct machines *, struct pg *);

#endif
