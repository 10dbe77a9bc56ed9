/* Bytes of a file, with their offset for messages. */
#ifndef BYTES_H
#define BYTES_H

#include "err.h"
#include "str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct bytes {
	FILE *in;         /* borrowed */
	const char *name; /* borrowed */
	uint64_t offset;
	bool failed;
};

/*
 * Reports "NAME: offset N: " and the text, or that the file cannot be read or
 * is truncated; once. Return -1.
 */
int bytes_fail(struct bytes *, const char *fmt, ...) ERR_PRINTF(2, 3);
int bytes_fail_short(struct bytes *);

/* Return 0, or -1 after reporting that the file ends or cannot be read. */
int bytes_get(struct bytes *, void *, size_t n);
int bytes_skip(struct bytes *, uint64_t n);
/* Appends n bytes, as they come: 'n' may be wrong. */
int bytes_append(struct bytes *, struct str *, uint64_t n);

/* Returns the next byte, which is not taken, or -1 at the end. */
int bytes_peek(struct bytes *);

#endif
