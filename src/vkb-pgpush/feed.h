/* Copies the rows of a spool that fit and are not stored yet to the tables. */
#ifndef FEED_H
#define FEED_H

#include <stdbool.h>
#include <stddef.h>

struct pg;
struct schema;
struct spool;

struct feed {
	struct spool *spool;
	bool quiet;          /* do not report refused rows again */
	size_t refused;      /* number of refused rows */
	bool *is_refused;    /* for each row */
	const char *rounded; /* a column that rounds some times, or NULL */
	size_t cut;          /* values left out because their row is too long */
};

/*
 * Stores the rows. Needs a transaction that holds the lock, after the plan was
 * carried out. Returns the number of rows stored, or -1 (error reported). If
 * 'pg' is NULL, only reports the rows that would be refused.
 */
long long feed_metrics(struct feed *, struct pg *, const struct schema *);
/* Stores the same rows in vkb_runs; call it after feed_metrics. */
long long feed_records(struct feed *, struct pg *, const struct schema *);
void feed_free(struct feed *);

#endif
