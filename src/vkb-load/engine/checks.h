/*
 * Verification of replies: what a connection is to read, in the order of its
 * requests, and what of it was not what had been written. Private to the
 * engine, like run.h.
 */
#ifndef CHECKS_H
#define CHECKS_H

#include "engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct values;
struct written;

/* What was found by a thread. */
struct checks {
	const struct values *sizes; /* borrowed */
	struct written *written; /* what was written is added; or NULL; owned */
	bool required;           /* a value that is not there is an error */
	bool kept; /* so is one that had been written before it was asked for */
	const struct written *known; /* written before the load; or NULL */
	struct engine_verified found;
};

/* What a connection awaits: a queue of requests, each with the values that it
 * asks for. Zeroed: nothing. */
struct checks_queue {
	char *bytes; /* from 'at' to 'end' */
	size_t at, end, cap;
	size_t last;     /* where the newest request is, if there is any */
	uint32_t passed; /* requests answered by the bytes being read */
	uint32_t values; /* of the oldest request, those that came */
	size_t next;     /* where the next of them is, in the request */
	uint64_t done;   /* bytes of it that came */
	bool excused;    /* the reply to the oldest request is an error */
	const struct written *written; /* of its thread, or NULL; borrowed */
	uint64_t wrong; /* offset of the first byte that differs, or NONE */
	unsigned char got;
};

void checks_free(struct checks_queue *); /* NULL does nothing */

/*
 * Adds a request, which reads or writes values, and a value that the newest
 * one reads or writes: that of a key, or of a field of the hash at a key. The
 * field is NULL for a key. A write is done if its reply is neither an error nor
 * nil.
 */
void checks_add_request(struct checks_queue *, bool writes);
void checks_add_value(struct checks_queue *, const char *key, size_t nkey,
    const char *field, size_t nfield);

/* The connection was opened again: nothing is awaited. */
void checks_forget(struct checks_queue *);

/*
 * Of the nth request from now on: bytes of a string in its reply, with 'left'
 * more of that string to come; a nil instead; the reply is an error.
 */
void checks_take(struct checks *, struct checks_queue *, uint32_t nth,
    const char *p, size_t n, uint64_t left);
void checks_miss(struct checks *, struct checks_queue *, uint32_t nth);
void checks_excuse(struct checks *, struct checks_queue *, uint32_t nth);
/* The value cannot be read, which counts as an error: 'why' says how. */
void checks_refuse(
    struct checks *, struct checks_queue *, uint32_t nth, const char *why);

/* n requests were answered, which are no longer awaited. */
void checks_end(struct checks *, struct checks_queue *, uint32_t n);

#endif
