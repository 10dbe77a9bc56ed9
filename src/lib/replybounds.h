/*
 * Limits of what a server may announce, which are checked before the bytes
 * reach a reader that allocates what they announce. RESP2 and RESP3.
 */
#ifndef REPLYBOUNDS_H
#define REPLYBOUNDS_H

#include <stddef.h>
#include <stdint.h>

#define REPLYBOUNDS_DEPTH 7 /* arrays, maps, ... within each other */
#define REPLYBOUNDS_ELEMENTS ((uint64_t)1 << 24) /* of a whole reply */
#define REPLYBOUNDS_BYTES ((uint64_t)1 << 30)    /* of a whole reply */

/* Where a stream of replies is; zeroed before the first byte. */
struct replybounds {
	uint64_t left[REPLYBOUNDS_DEPTH]; /* elements, innermost last */
	unsigned depth;
	uint64_t skip;            /* bytes of a string, its CR LF included */
	uint64_t bytes, elements; /* of this reply, as far as announced */
	char type;                /* of the line being read; 0: none */
	unsigned nline;
	char line[24]; /* the start of its rest, behind the type */
};

/*
 * Looks at the next n bytes. Returns NULL, or why the reply must not be read:
 * static text. Bytes that are not RESP are left to the reader.
 */
const char *replybounds_check(struct replybounds *, const char *p, size_t n);

#endif
