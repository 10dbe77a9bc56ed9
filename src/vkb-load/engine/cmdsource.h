/*
 * Sources of commands: where the requests of a stream come from. cmdsource.c
 * chooses among the kinds.
 */
#ifndef CMDSOURCE_H
#define CMDSOURCE_H

#include "rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct verify_queue;
struct chooser;
struct engine_target;
struct engine_work;
struct keys;
struct cmdsource;
struct mix;
struct mix_ring;
struct routes;

#define CMDSOURCE_SLACK 64 /* bytes behind the end of a buffer */

/* What commands take from counters that all streams share. */
enum cmdsource_counter { CMDSOURCE_ROWS, CMDSOURCE_SEQ, CMDSOURCE_COUNTERS };

/* Where a connection is in the source; a copy makes the same commands again. */
struct cursor {
	const struct chooser *chooser;
	struct rng rng;
	uint64_t number; /* of the next command, for choosers with an order */
	uint64_t next[CMDSOURCE_COUNTERS];
	uint64_t turn; /* commands before it on this connection */
	uint64_t key;  /* the number of {key} in this cycle */
	/* In a cluster: all keys are in this slot, whatever is chosen. */
	bool in_slot;
	uint16_t slot;
	uint64_t place; /* see cmdsource_place */
	/* Of a mix: the next command, in what was planned; see mix.h. */
	uint32_t step;
	const struct mix_ring *ring; /* borrowed from the connection */
	/* What is made is added here; NULL: it is not verified. Borrowed. */
	struct verify_queue *expected;
};

/* 'make' and 'takes' are NULL in the source of a trace, see dealer.h. */
struct cmdsource_ops {
	/* Returns the buffer size for commands that begin before 'bytes'. */
	size_t (*room)(const struct cmdsource *, size_t bytes);
	/*
	 * Makes up to n commands, until 'full' bytes are reached; returns how
	 * many and sets *len to their length. A buffer is zeroed before its
	 * first use, and used for one source only.
	 */
	uint32_t (*make)(const struct cmdsource *, struct cursor *,
	    const struct keys *, char *buf, uint32_t n, size_t full,
	    size_t *len);
	/* Returns how much of a counter the next n commands take. */
	uint64_t (*takes)(const struct cmdsource *, enum cmdsource_counter,
	    const struct cursor *, uint64_t n);
	void (*free)(struct cmdsource *);
};

/* A request that was rendered in advance, but for its numbers and tags. */
struct cmdsource_request {
	const char *bytes; /* the next one follows; then CMDSOURCE_SLACK */
	uint32_t len;
	uint32_t at; /* of the first number or tag; 'len': none */
};

struct cmdsource {
	const struct cmdsource_ops *ops;
	struct cmdsource *inner; /* see cmdsource_wrap; owned; or NULL */
	const char *end; /* of a command, if all have one length, else NULL */
	size_t len;      /* bytes of a command, on average */
	size_t constant; /* offset after the last byte that differs */
	uint64_t cycle;  /* commands in turn */
	bool counted[CMDSOURCE_COUNTERS]; /* it takes from this counter */
	bool tagged;                      /* its keys have the tag of a slot */
	bool keyed;                       /* a number decides the slot */
	bool fixed;                       /* all keys are one, in 'slot' */
	uint16_t slot;
	const struct routes *routes; /* a key without a tag is drawn; or NULL */
	bool line;                   /* {key}: one number for a cycle */
	bool zero_miss;              /* 0 is a miss, see scan.h */
	unsigned items; /* possible misses per reply; 0: they are not counted */
	unsigned values; /* keys or elements written by one command */
	size_t places;   /* see cmdsource_place; 0: none */
	/* Their requests, and the first ones again. */
	const struct cmdsource_request *requests;
	size_t nrequests;
	uint32_t together; /* commands that are sent together, see mix.h */
	const bool *execs; /* is a turn of the cycle an EXEC? NULL: none is */
	const struct mix *mix; /* NULL: its commands come in one order */
};

/* Returns a buffer for cmdsource_place and 'full' bytes; caller frees. */
char *cmdsource_buffer(const struct cmdsource *, size_t full);

/*
 * Returns where in a buffer the next commands are made. Those whose values
 * differ have many places, each with values of its own that stay there, so that
 * only the numbers are written anew for a request. A copy of a cursor, and
 * another buffer, get the same values.
 */
static inline char *
cmdsource_place(const struct cmdsource *s, const struct cursor *c, char *buf)
{
	const struct cmdsource_request *r = s->requests;

	if (!s->places)
		return buf;
	return buf + (r[(c->place + c->turn) % s->places].bytes - r->bytes);
}

/*
 * Returns the source of the work, or NULL after reporting an error. The
 * caller frees it with ops->free.
 */
struct cmdsource *cmdsource_open(
    const struct engine_target *, const struct engine_work *);

/*
 * Returns the slot of a request at random, made in 'buf', of cmdsource_buffer,
 * where a key without a tag is drawn.
 */
unsigned cmdsource_draw_slot(
    const struct routes *, struct cursor *, const struct keys *, char *buf);

/* The same for the commands that fill the server, see template_open_seed. */
struct cmdsource *cmdsource_open_seed(
    const struct engine_target *, const struct engine_work *, unsigned many);

/*
 * Makes a source whose commands are those of another one, each made by itself
 * and then changed or chosen by 'ops'.
 */
static inline void
cmdsource_wrap(struct cmdsource *s, struct cmdsource *inner,
    const struct cmdsource_ops *ops)
{
	*s = *inner;
	s->ops = ops;
	s->inner = inner;
	s->end = NULL;
	s->places = 0;
	s->constant = s->len;
}

/* Is 'takes' of such a source. */
static inline uint64_t
cmdsource_count_inner(const struct cmdsource *s, enum cmdsource_counter kind,
    const struct cursor *c, uint64_t n)
{
	return s->inner->ops->takes(s->inner, kind, c, n);
}

#endif
