/* The dump that texts come from: a file, or one that is fetched first. */
#ifndef WIKIPEDIA_H
#define WIKIPEDIA_H

#include <stdint.h>

struct meter;

/*
 * The path of the dump; a URL is fetched into 'dir' unless it is there. Its
 * SHA-1 must be 'sha1' or, where that is NULL, what the list of sums beside it
 * says, if there is one. Caller frees with free(); NULL, and said.
 */
char *wikipedia_get(
    const char *where, const char *dir, const char *sha1, struct meter *);

/* The path that wikipedia_get gives, without fetching. */
char *wikipedia_path(const char *where, const char *dir);

/* Which dump it is, by its size and first bytes. 0, or -1 and said. */
int wikipedia_id(const char *path, uint64_t *id);

#endif
