/*
 * The rows of a spool as lines of COPY, straight into the tables: those that
 * fit and are not there yet.
 */
#ifndef FEED_H
#define FEED_H

#include <stdbool.h>
#include <stddef.h>

struct pg;
struct schema;
struct spool;

struct feed {
	struct spool *spool;
	bool quiet; /* what is refused was said before */
	size_t refused;
	bool *out;           /* the rows that are */
	const char *rounded; /* a column whose times are too fine for it */
	size_t cut;          /* values that their rows had no room for */
};

/*
 * Within a transaction, alone, the tables as planned. How many rows were
 * stored; -1 and said. Without a 'pg' only what would be refused is told.
 */
long long feed_metrics(struct feed *, struct pg *, const struct schema *);
/* The same rows into vkb_runs; after feed_metrics. */
long long feed_records(struct feed *, struct pg *, const struct schema *);
void feed_free(struct feed *);

#endif
