/*
 * The states of a commit and what may become of them, whatever keeps the rows.
 * Times are seconds since 1970 by the clock of the store.
 *
 *	(no row) -> in_progress -> complete
 *	                        -> failed -> in_progress, some times
 *	            in_progress, once its lease has ended, -> in_progress
 */
#ifndef RULES_H
#define RULES_H

#include <stdbool.h>
#include <stddef.h>

enum rules_status {
	RULES_NONE, /* there is no row */
	RULES_IN_PROGRESS,
	RULES_COMPLETE,
	RULES_FAILED
};

extern const char *const rules_names[]; /* by status; NULL ends them */

/* One commit under one configuration on one architecture. All texts owned. */
struct row {
	long long id; /* of the store */
	char *sha;
	double time; /* of the commit */
	enum rules_status status;
	char *config_hash, *architecture; /* may be NULL: another tool's */
	char *owner;                      /* who holds or held it, or NULL */
	double lease_until;               /* 0: none */
	long long attempts;               /* times it was taken */
	char *reason;                     /* of a failure, or NULL */
	double created, updated;
};

void row_free(struct row *); /* what is in it */

struct rules {
	double now, lease; /* seconds */
	const char *owner;
	long long attempts; /* a failed commit is taken so often */
	bool again;         /* what is complete or failed too */
	bool resume;        /* what the owner holds already too */
};

/* When the claim ends: the Python tool's claims, without a lease, in a day. */
double rules_lease_end(const struct row *);

enum rules_chance {
	RULES_TAKEN, /* held, complete, or failed too often */
	RULES_FREE,
	RULES_LATE, /* free, but its runners died often: after all others */
	RULES_MINE  /* the owner holds it, and wants to go on */
};
enum rules_chance rules_chance(const struct rules *, const struct row *);

/*
 * Each changes the row and gives NULL, or leaves it and gives the reason why
 * not, for people; free().
 */
char *rules_claim(const struct rules *, struct row *);
char *rules_mark(const struct rules *, struct row *, enum rules_status to,
    const char *reason);
char *rules_prolong(const struct rules *, struct row *);

/* May the row go: a claim of the owner, or one that has ended? */
bool rules_droppable(const struct rules *, const struct row *);

#endif
