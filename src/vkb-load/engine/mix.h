/*
 * Mixes: a source whose requests are drawn from several commands, its parts, by
 * weight, or come in turn. A part is a template, of which each command is a
 * step; once begun, its steps are sent one behind the other.
 *
 * Which requests come next is planned batch by batch in a ring of each
 * connection, which also says to which part a reply belongs.
 */
#ifndef MIX_H
#define MIX_H

#include "cmdsource.h"
#include "rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct compiled;
struct conn;
struct engine_work;
struct piece_text;
struct template;
struct worker;

#define MIX_STEPS 255 /* most, of all parts */

#define MIX_BITS 12   /* of a random number that choose steps, mostly */
#define MIX_AT_ONCE 4 /* most steps that they choose */

struct mix_step {
	const struct compiled *command;
	size_t part;
	bool first, last; /* of its part */
	bool line;        /* the part uses {key} */
	bool whole;       /* the part has a transaction */
};

struct mix_part {
	size_t first;   /* step */
	double until;   /* its share and those of the parts before it */
	unsigned items; /* possible misses per reply; 0: unknown */
	bool zero_miss; /* 0 is a miss, see scan.h */
};

struct mix {
	struct mix_step *steps;
	struct mix_part *parts;
	size_t nsteps, nparts;
	uint8_t *turns; /* first steps in turn, or NULL */
	size_t nturns;
	bool single; /* each part has one step */
	/*
	 * A cell has so many steps in a row, as random bits choose them; the
	 * first is MIX_STEPS if they are not the same for the whole cell.
	 */
	uint32_t at_once;
	uint8_t cells[1 << MIX_BITS][MIX_AT_ONCE];
};

/* What a connection sends: steps, the newest at position 'at' - 1. */
struct mix_ring {
	uint8_t *steps; /* owned, plus MIX_SLACK bytes; NULL without a mix */
	uint32_t mask, at;
	bool fresh; /* a new connection: the next step begins a part */
	uint64_t turn;
	struct rng rng;
};

/*
 * Makes the mix of a template whose texts, the parts of the work, are compiled.
 * Returns why it cannot be, which the caller frees, or NULL.
 */
char *mix_fill(struct template *, const struct piece_text *,
    const struct engine_work *, bool cluster);
void mix_free(struct mix *); /* NULL does nothing */

/* As cmdsource_ops.takes. */
uint64_t mix_count_taken(const struct mix *, enum cmdsource_counter,
    const struct cursor *, uint64_t n);

/*
 * Makes the ring of a connection, with room for n requests without a reply; in
 * turn it begins at 'turn'.
 */
void mix_ring_init(struct mix_ring *, const struct mix *, uint32_t n,
    uint64_t seed, uint64_t turn);

/* Chooses the next n steps. */
void mix_plan(const struct mix *, struct mix_ring *, uint32_t n);

/* Returns the part to which a request at random belongs. */
size_t mix_draw_part(const struct mix *, struct rng *);

/* The part and the step of the request at a position of a ring. */
static inline const struct mix_step *
mix_step(const struct mix *m, const struct mix_ring *r, uint32_t at)
{
	return &m->steps[r->steps[at & r->mask]];
}

/*
 * Returns how many steps before the last n ones belong to the same transaction
 * as the first of these.
 */
static inline uint32_t
mix_count_begun(const struct mix *m, const struct mix_ring *r, uint32_t n)
{
	uint32_t more = 0;

	while (mix_step(m, r, r->at - n)->whole &&
	    !mix_step(m, r, r->at - n - more)->first)
		more++;
	return more;
}

/*
 * Transactions: a text with MULTI is sent whole. A batch has whole texts only,
 * however short the pipeline is; a number of requests is rounded up to whole
 * texts; with a rate, all commands of a text are due at the same time. After a
 * broken connection the text that was under way is sent again from its first
 * command; what was answered of it is not counted twice.
 *
 * In a mix a batch may end within a transaction, and each command is due by
 * itself; what follows holds there, too.
 *
 * No command of such a text is redirected or sent again by itself: MOVED, ASK,
 * TRYAGAIN and so on are errors, the server then refuses EXEC with EXECABORT,
 * which is one too, and nothing of the transaction is done. After a MOVED the
 * slots are read again, so the next ones find their node.
 */

/*
 * Sets 'together' and 'execs' of the source of a compiled template. Returns
 * NULL, or why its transactions are not valid, which the caller frees.
 */
char *mix_find_transactions(
    struct template *, const struct engine_work *, bool cluster);

/* Is the nth awaited reply of a client's connection that of an EXEC? */
bool mix_is_exec(const struct worker *, const struct conn *, uint32_t nth);

/* Is the nth awaited request of a client's connection in a transaction? */
bool mix_is_whole(const struct worker *, const struct conn *, uint32_t nth);

/*
 * Before n lost requests are sent again, the last of 'batch': returns how many
 * more to begin with a whole text.
 */
uint32_t mix_complete(const struct worker *, struct conn *, uint32_t n);

/* Returns how many of n replies are not of requests that were sent again. */
uint32_t mix_count_new(struct conn *, uint32_t n);

#endif
