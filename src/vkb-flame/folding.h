/*
 * Samples as stacks of a call tree: what a frame is called, which event is
 * counted, and how a process is named, as stackcollapse-perf.pl has it.
 */
#ifndef FOLDING_H
#define FOLDING_H

#include <stdbool.h>
#include <stddef.h>

struct calltree;
struct folding;

struct folding_opts {
	bool pid, tid;     /* in the name of the process */
	bool kernel, jit;  /* _[k] and _[j] behind names */
	bool addrs;        /* of frames without a symbol */
	bool inlined;      /* by addr2line: see inlined.h */
	const char *event; /* NULL: the first there is */
};

/* Adds to 'column' of the tree what samples weigh, and to 'samples' how many
 * there are (-1: nowhere). Borrows both pointers. */
struct folding *folding_new(struct calltree *, size_t column, long samples,
    const struct folding_opts *);
void folding_free(struct folding *);

/* Is a sample of this event counted? Modifiers (":u") are no difference. */
bool folding_event(struct folding *, const char *name, size_t n);

/* A text that is borrowed; it has no NUL behind it. */
struct text {
	const char *s;
	size_t n;
};

/*
 * One sample: the process, its frames from the innermost, its weight. An empty
 * pid is not known. 'symbol' may end in "+0x1f"; that of an unknown one is
 * "[unknown]", and so is its module; "outer->inner" are several frames.
 */
void folding_begin(
    struct folding *, struct text comm, struct text pid, struct text tid);
void folding_frame(
    struct folding *, struct text pc, struct text symbol, struct text module);
void folding_end(struct folding *, double weight);

/* Samples of other events that were left out. */
unsigned long long folding_others(const struct folding *);
const char *folding_counted(const struct folding *); /* the event, or NULL */

#endif
