/*
 * Counts the replies in a stream of RESP2 or RESP3, fed in pieces of any size.
 * Payloads are skipped by length; only the line of an error is kept. Push
 * messages may come between any two elements; they are not replies, and their
 * contents are neither misses nor errors. Attributes belong to the reply that
 * follows.
 */
#ifndef SCAN_H
#define SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCAN_LINE 192
#define SCAN_BYTES_MOST (UINT64_C(1) << 30)    /* of one string */
#define SCAN_ELEMENTS_MOST (UINT64_C(1) << 27) /* of one array, map, ... */

/* 'nth': whole replies before it in this piece; zero: it is a ":0". */
typedef void scan_missed_fn(void *arg, uint32_t nth, bool zero);

/* Bytes of a string in the nth reply, at any depth; 'left' more are to come. An
 * empty string is reported once. */
typedef void scan_value_fn(
    void *arg, uint32_t nth, const char *p, size_t n, uint64_t left);

struct scan {
	uint64_t left;   /* elements still to come; 0 between replies */
	uint64_t outer;  /* 'left' of the reply that a push interrupts */
	uint64_t skip;   /* bytes of payload, its CR LF included */
	uint64_t number; /* of the line being read */
	uint8_t state;
	char type;              /* first byte of the line */
	bool inside;            /* an array */
	bool pushed;            /* inside a push message */
	bool zero_miss;         /* ":0" is a miss; set by the user */
	bool tell_nil;          /* a whole reply that is nil is reported; set by
				 * the user */
	scan_missed_fn *missed; /* called for each; NULL; set by the user */
	scan_value_fn *value;   /* NULL; set by scan_tell_values */
	uint16_t nline;
	char line[SCAN_LINE]; /* of an error reply, cut; NUL-terminated */
};

struct scan_counters {
	uint32_t replies;
	uint32_t misses; /* nil at any depth, an empty array as the reply */
	uint32_t pushes; /* whole push messages */
};

/* 'nth': whole replies before it in this piece. */
#define SCAN_NIL "NIL reply to EXEC: a watched key had changed"
typedef void scan_error_fn(void *arg, const char *line, uint32_t nth);

/* Before the first reply: reports the bytes of all strings, which is slow. */
void scan_tell_values(struct scan *, scan_value_fn *);

/*
 * Scans at most 'want' replies, and the push messages before and after them.
 * Returns the bytes used: fewer than n only if 'want' was reached; -1 if the
 * bytes are not RESP or exceed the limits above; then scan->line says what was
 * found. 'error' is called for each error reply (also nested ones) with its
 * line without "-", and with tell_nil for a nil array, or a nil of RESP3, that
 * is a whole reply, with SCAN_NIL. Counts are added to *counters.
 */
ptrdiff_t scan_feed(struct scan *, const char *p, size_t n, uint32_t want,
    struct scan_counters *counters, scan_error_fn *error, void *arg);

#endif
