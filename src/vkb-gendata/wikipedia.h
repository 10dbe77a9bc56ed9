/* The wiki dump that texts come from: a file, or a URL that is fetched. */
#ifndef WIKIPEDIA_H
#define WIKIPEDIA_H

#include <stdint.h>

struct meter;

/*
 * Returns the path of the dump; a URL is fetched into 'dir' unless its file is
 * there. The SHA-1 of a fetched dump must be 'sha1' or, if that is NULL, the
 * published one, if any. Caller frees; NULL (error reported).
 */
char *wikipedia_fetch_dump(
    const char *where, const char *dir, const char *sha1, struct meter *);

/* Returns the same path without fetching. Caller frees. */
char *wikipedia_find_path(const char *where, const char *dir);

/* Sets *id to a hash of size and first MiB. 0, or -1 (error reported). */
int wikipedia_hash_dump(const char *path, uint64_t *id);

#endif
