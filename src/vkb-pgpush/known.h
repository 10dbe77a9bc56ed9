/* Finds which runs a table has already, by their keys. */
#ifndef KNOWN_H
#define KNOWN_H

#include <stddef.h>

struct intern;
struct pg;
struct hashset;

/*
 * The key of a run: session, case, subject, index. known_hash ignores case and
 * subject if the session is made of the whole run (frames_object): they differ
 * between a metrics.json and the more detailed records it was made of.
 */
struct known_key {
	const char *text[4];
	size_t len[4];
};
unsigned long long known_hash(const struct known_key *);

/*
 * Adds the keys of the n sessions to the set, from the rows of 'table' that
 * match the SQL condition 'where'. Returns 0, or -1 (error reported).
 */
int known_read(struct hashset *, struct pg *, const char *table,
    const char *where, const struct intern *, size_t n);

#endif
