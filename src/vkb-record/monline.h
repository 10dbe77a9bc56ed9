/* A line of MONITOR. */
#ifndef MONLINE_H
#define MONLINE_H

#include "str.h"
#include "tracefile.h"

#include <stdint.h>

struct monline {
	uint64_t us; /* since 1970 */
	unsigned db;
	const char *address; /* borrowed from the line */
	size_t naddress;
	struct tracefile_word *words; /* n of them, in 'bytes' */
	size_t n, cap;
	struct str bytes;
};

/*
 * Parses a line without its end. Returns NULL, or why it is not one; static.
 * The struct is zeroed before its first use and keeps its memory.
 */
const char *monline_parse(const char *, size_t n, struct monline *);
void monline_free(struct monline *);

/* Appends a line without its end, which monline_parse reads back. */
void monline_append(struct str *, const struct monline *);

#endif
