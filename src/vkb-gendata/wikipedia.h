/* The wiki dump that texts come from: a file, or a URL that is fetched. */
#ifndef WIKIPEDIA_H
#define WIKIPEDIA_H

#include <stdint.h>

struct articles;
struct meter;
struct str;

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

/*
 * Reads the articles of a dump (XML of MediaWiki's export), plain or
 * compressed, in order, as the Python tool does: all pages whose text is not
 * empty and does not begin with #REDIRECT. Returns NULL (error reported).
 */
struct articles *wikipedia_open(const char *file);
void wikipedia_close(struct articles *);

/* Replaces *to by the text of the next article. Returns 1, 0 at the end, or -1
 * (error reported). */
int wikipedia_read_next(struct articles *, struct str *to);

#endif
