/*
 * A quick 64-bit hash of a file's content, to notice changes; not for secrets.
 * The same however the bytes are cut into pieces.
 */
#ifndef CHECKSUM_H
#define CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#define CHECKSUM_BLOCK 32

struct checksum {
	uint64_t lane[CHECKSUM_BLOCK / 8];
	uint64_t bytes;
	unsigned char rest[CHECKSUM_BLOCK];
};

void checksum_init(struct checksum *);
void checksum_add(struct checksum *, const void *, size_t n);
uint64_t checksum_end(struct checksum *);

/* Of a file, and its size. 0, or -1 with errno. */
int checksum_file(const char *path, uint64_t *sum, uint64_t *bytes);

#endif
