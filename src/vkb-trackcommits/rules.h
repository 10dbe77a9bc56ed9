/*
 * The states of a commit and their transitions, independent of the store.
 * Times are seconds since 1970 by the clock of the store.
 *
 *	(no row) -> in_progress -> complete
 *	                        -> failed -> in_progress, up to 'attempts' times
 *	            in_progress, once its lease has ended, -> in_progress
 */
#ifndef RULES_H
#define RULES_H

#include <stddef.h>
#include <stdbool.h>

enum rules_status {
	RULES_NONE, /* there is no row */
	RULES_IN_PROGRESS,
	RULES_COMPLETE,
	RULES_FAILED
};

extern const char *const rules_names[]; /* by status; NULL ends them */

/* Returns the status of that name, or RULES_NONE. */
enum rules_status rules_find_status(const char *name);

/* One commit under one configuration on one architecture. All texts owned. */
struct row {
	long long id; /* of the store */
	char *sha;
	double time; /* of the commit */
	enum rules_status status;
	char *config_hash, *architecture; /* NULL if another tool wrote it */
	char *owner;        /* last holder of the claim, or NULL */
	double lease_until; /* or 0 */
	long long attempts; /* times it was claimed */
	char *reason;       /* of a failure, or NULL */
	double created, updated;
};

void rules_copy_row(struct row *to, const struct row *);
void rules_free_row(struct row *); /* frees its texts, not the row itself */

struct rules {
	double now, lease; /* seconds */
	const char *owner;
	long long attempts; /* most claims of a failed commit */
	bool again;         /* also claim complete and failed commits */
	bool resume;        /* also claim what the owner holds already */
};

/* Returns when the claim ends; claims of the Python tool have no lease and end
 * a day after their last update. */
double rules_lease_end(const struct row *);

enum rules_chance {
	RULES_TAKEN, /* held, complete, or failed too often */
	RULES_FREE,
	RULES_LATE, /* free, but 'attempts' leases ended: take it last */
	RULES_MINE  /* the owner holds it and resumes */
};
enum rules_chance rules_find_chance(const struct rules *, const struct row *);

/*
 * Each changes the row and returns NULL, or leaves it and returns the reason,
 * for a message; caller frees with free().
 */
char *rules_claim(const struct rules *, struct row *);
char *rules_mark(const struct rules *, struct row *, enum rules_status to,
    const char *reason);
char *rules_prolong(const struct rules *, struct row *);

/* Returns whether the row is a claim of the owner, or one that has ended. */
bool rules_may_drop(const struct rules *, const struct row *);

enum order { ORDER_NEWEST, ORDER_OLDEST, ORDER_BISECT };

enum order_state { ORDER_FREE, ORDER_LATE, ORDER_KNOWN };

#define ORDER_END ((size_t)-1)

/*
 * Returns the index of the next commit that is free, else late, else ORDER_END.
 * ORDER_BISECT chooses the newest commit first, then the middle of the longest
 * stretch between known commits or to the oldest end; of equally long ones the
 * newest.
 */
size_t rules_next(enum order, const enum order_state *, size_t n);

#endif
