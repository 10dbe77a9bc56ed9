/*
 * Which runs a table has already, by their keys.
 */
#ifndef KNOWN_H
#define KNOWN_H

#include <stddef.h>

struct names;
struct pg;
struct seen;

/*
 * The key of a run as a number: session, case, subject, index. A session that
 * stands for the whole run says all but the index: metrics.json and the records
 * that it was made of differ by case and subject, of which they say more.
 */
struct known_key {
	const char *text[4];
	size_t len[4];
};
unsigned long long known_hash(const struct known_key *);

/*
 * Adds those of the n sessions to the set, from the rows that are 'where'; 0,
 * or -1 and said.
 */
int known_read(struct seen *, struct pg *, const char *table, const char *where,
    const struct names *, size_t n);

#endif
