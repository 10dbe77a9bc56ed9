/* Copying short texts of different lengths. */
#ifndef BLOCKS_H
#define BLOCKS_H

#include <stddef.h>
#include <string.h>

#define BLOCKS_BYTES 64
#define BLOCKS_SHORT 256 /* bytes that are faster copied in blocks */

/*
 * Copies n bytes in whole blocks, up to BLOCKS_BYTES - 1 too many: lengths that
 * differ by row or command would cost mispredicted branches. Returns the end.
 */
static inline char *
blocks_copy(char *to, const char *from, size_t n)
{
	char *end = to + n;

	if (n > BLOCKS_SHORT) {
		memcpy(to, from, n);
		return end;
	}
	do {
		memcpy(to, from, BLOCKS_BYTES);
		to += BLOCKS_BYTES;
		from += BLOCKS_BYTES;
	} while (to < end);
	return end;
}

#endif
