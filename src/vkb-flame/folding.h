/*
 * Converts samples to stacks of a call tree: names frames and processes, and
 * chooses the event, as stackcollapse-perf.pl does.
 */
#ifndef FOLDING_H
#define FOLDING_H

#include <stdbool.h>
#include <stddef.h>

#include "perfscript.h"

struct calltree;
struct folding;

struct folding_opts {
	bool pid, tid;     /* append them to the name of the process */
	bool kernel, jit;  /* append _[k] and _[j] to names */
	bool addrs;        /* name frames without a symbol by their address */
	const char *event; /* NULL: the first in the profile */
};

/* Samples add their weight to 'column' of the tree, and 1 to the column
 * 'samples' (or -1). Borrows both pointers. */
struct folding *folding_new(struct calltree *, size_t column, long samples,
    const struct folding_opts *);
void folding_free(struct folding *);

/* Returns true if samples of this event are counted, modifiers (":u") aside. */
bool folding_choose_event(struct folding *, const char *name, size_t n);

/*
 * Adds one sample: the process, its frames from the innermost, its weight.
 * 'pid' is empty if unknown. 'symbol' may end in "+0x1f"; an unknown symbol or
 * module is "[unknown]"; "outer->inner" is several frames.
 */
void folding_begin(struct folding *, struct perfscript_text comm,
    struct perfscript_text pid, struct perfscript_text tid);
void folding_frame(struct folding *, struct perfscript_text pc,
    struct perfscript_text symbol, struct perfscript_text module);
void folding_end(struct folding *, double weight);

/* Returns the number of samples of other events that were left out. */
unsigned long long folding_count_others(const struct folding *);
const char *folding_get_event(const struct folding *); /* or NULL */
bool folding_has_event(const struct folding *);        /* in any sample */

#endif
