/* A cache of SHA-256 hashes of files; an entry is valid until the file changes
 * (device, inode, size or time). */
#ifndef FILEHASH_H
#define FILEHASH_H

struct filehash;

struct filehash *filehash_new(void);
void filehash_free(struct filehash *);

/* Returns the hash as hex, borrowed until the next call, or NULL if the file
 * cannot be read. */
const char *filehash_get(struct filehash *, const char *path);

#endif
