/*
 * Joins what several machines show of one change.
 *
 * Each machine has series of its own, and its noise is independent of that of
 * the others, so that the evidence of machines that show the same change adds
 * up.
 */
#ifndef JOINING_H
#define JOINING_H

struct branch;
struct finding_rules;
struct findings;

/* Sets which findings are of one change: of one case, metric, kind and
 * direction, with overlapping ranges. */
void joining_match(struct findings *);

/*
 * Makes one finding of those of each change. The one that counts, or has the
 * most evidence, stands for all, with the range that they share. Sets its
 * parts, and the machines without the change: those with enough points on both
 * sides, or one with --latest. Returns -1, after reporting it, if some could
 * not be read. Does nothing if the history is of one machine.
 */
int joining_make(
    struct findings *, const struct branch *, const struct finding_rules *);

#endif
