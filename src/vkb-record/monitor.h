/* What MONITOR prints: from a file, or from a server while it works. */
#ifndef MONITOR_H
#define MONITOR_H

#include <stdint.h>
#include <stdio.h>

#include "str.h"
#include "tracefile.h"

struct client;
struct recorder;

/* Record all lines. Return 0, or -1 after reporting an error; what came before
 * is recorded. */
int monitor_read(struct recorder *, FILE *in, const char *name);

/* Until 'seconds' are over (0: without end), or *stop is set. */
int monitor_live(struct recorder *, struct client *, double seconds,
    const volatile int *stop);

struct monitor_line {
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
const char *monitor_parse(const char *, size_t n, struct monitor_line *);
void monitor_free_line(struct monitor_line *);

/* Appends a line without its end, which monitor_parse reads back. */
void monitor_append_line(struct str *, const struct monitor_line *);

#endif
