/*
 * Runs that PostgreSQL keeps, as vkb-pgpush(1) --export writes them: that is
 * run beside this program, and only what it said it read to the end counts.
 */
#ifndef STORED_H
#define STORED_H

struct branch;

/* NULL: the environment says the database; core. 0, or -1 and said. */
int stored_read(struct branch *, const char *database, const char *table);

#endif
