/* SHA-1 (FIPS 180-4, section 6.1), which publishers of dumps give. */
#ifndef SHA1_H
#define SHA1_H

#include <stddef.h>
#include <stdint.h>

#define SHA1_HEX 41

struct sha1 {
	uint32_t h[5];
	uint64_t bytes;
	unsigned char block[64];
};

void sha1_init(struct sha1 *);
void sha1_add(struct sha1 *, const void *, size_t n);
void sha1_end(struct sha1 *, char hex[SHA1_HEX]);

/* Of a file. 0, or -1 and said. */
int sha1_file(const char *path, char hex[SHA1_HEX]);

#endif
