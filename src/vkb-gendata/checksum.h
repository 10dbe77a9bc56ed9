/*
 * A fast, non-cryptographic 64-bit hash that detects changes of a file. The
 * result does not depend on how the bytes are split over checksum_add calls.
 */
#ifndef CHECKSUM_H
#define CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#define CHECKSUM_BLOCK 32

struct str;

struct checksum {
	uint64_t lane[CHECKSUM_BLOCK / 8];
	uint64_t bytes;
	unsigned char rest[CHECKSUM_BLOCK];
};

void checksum_init(struct checksum *);
void checksum_add(struct checksum *, const void *, size_t n);
uint64_t checksum_end(struct checksum *);

/* Writes 's' to the file 'name' and adds it. Returns 0, or -1 (reported). */
int checksum_write(
    struct checksum *, int fd, const struct str *s, const char *name);

/* Sets hash and size in bytes of a file. Returns 0, or -1 with errno set. */
int checksum_file(const char *path, uint64_t *sum, uint64_t *bytes);

#endif
