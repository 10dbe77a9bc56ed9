/*
 * A fast, non-cryptographic 64-bit hash that detects changes of a file. The
 * result does not depend on how the bytes are split over checksum_write calls.
 */
#ifndef CHECKSUM_H
#define CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#define CHECKSUM_BLOCK 32

struct str;

struct checksum {
	int fd;           /* of the file that checksum_write writes */
	const char *name; /* of that file, for messages; borrowed */
	uint64_t lane[CHECKSUM_BLOCK / 8];
	uint64_t bytes;
	unsigned char rest[CHECKSUM_BLOCK];
};

/* 'fd' and 'name' are of the file to be written; -1 and NULL: no file. */
void checksum_init(struct checksum *, int fd, const char *name);
uint64_t checksum_end(struct checksum *);

/* Writes 's' to the file and adds it. Returns 0, or -1 (error reported). */
int checksum_write(struct checksum *, const struct str *s);

/* Hashes at most 'most' bytes of a file. Returns 0, or -1 (error reported). */
int checksum_file(const char *path, uint64_t most, uint64_t *sum);

#endif
