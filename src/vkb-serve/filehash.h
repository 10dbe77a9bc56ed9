/*
 * The SHA-256 of files that are asked for again with each server: kept until
 * the file is another one.
 */
#ifndef FILEHASH_H
#define FILEHASH_H

struct filehash;

struct filehash *filehash_new(void);
void filehash_free(struct filehash *);

/* As hex, borrowed until the next call; NULL: it cannot be read. */
const char *filehash_get(struct filehash *, const char *path);

#endif
