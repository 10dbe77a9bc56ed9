/*
 * The env records among what is to be stored: the table vkb_envs, which the
 * session of a run leads to.
 */
#ifndef MACHINES_H
#define MACHINES_H

#include <stddef.h>

struct json;
struct pg;

struct machines {
	char **records; /* as texts */
	size_t n, cap;
	size_t stored; /* when it is done */
};

void machines_add(struct machines *, const struct json *rec);
void machines_free(struct machines *);

/* The statement that makes the table; static. */
const char *machines_table(void);

/*
 * Within a transaction, alone: makes the table where it is missing, and stores
 * those that are not there. 0, or -1 and said.
 */
int machines_push(struct machines *, struct pg *);

#endif
