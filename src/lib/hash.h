/* Digests of files and of bytes in memory (OpenSSL). */
#ifndef HASH_H
#define HASH_H

#include <stdbool.h>
#include <stddef.h>

struct stat;

enum hash_kind { HASH_SHA1, HASH_SHA256 };

#define HASH_HEX 65 /* bytes of the longest digest as text, with its NUL */
#define HASH_SHA1_HEX 41

/* Writes the digest of the whole file as hex. Returns 0, or -1 with errno. */
int hash_file(enum hash_kind, const char *path, char hex[HASH_HEX]);

/* The same for what can still be read from 'fd', which stays open. */
int hash_fd(enum hash_kind, int fd, char hex[HASH_HEX]);

/* Is it the same file, unchanged, so that its hash is the same? */
bool hash_is_same_file(const struct stat *, const struct stat *);

/* The digest of bytes that come one after the other. hash_end writes it as hex,
 * unless 'hex' is NULL, and frees. */
struct hash;
struct hash *hash_begin(enum hash_kind);
void hash_add(struct hash *, const void *, size_t n);
void hash_end(struct hash *, char hex[HASH_HEX]);

/* Writes the SHA-256 of n bytes as hex. */
void hash_hex(const void *, size_t n, char hex[HASH_HEX]);

/* Computes the SHA-256 of n bytes. */
void hash_bytes(const void *, size_t n, unsigned char sum[32]);

#endif
