/*
 * Joins what several machines show of one change, and drops what only one shows
 * and chance explains.
 *
 * Each machine is tested by itself, so that more machines would give more false
 * alarms. Therefore a change is kept if one machine shows it at the stricter
 * level of finding_strictness; or if two, and at least a third of all, show it
 * at the same place in the same direction: false alarms of one case rarely
 * meet.
 */
#ifndef JOINING_H
#define JOINING_H

#include <stdbool.h>
#include <stddef.h>

struct branch;
struct finding_rules;
struct findings;

/*
 * Joins the findings of each case and metric that have the same kind and
 * direction and overlapping ranges. Of those the one that counts, or has the
 * smallest p, stands for all, with the range that they share. Sets its parts,
 * and the machines without the change: those with enough points on both sides,
 * or one with --latest. Returns -1, after reporting it, if some could not be
 * read. Does nothing if the history is of one machine.
 */
int joining_make(
    struct findings *, const struct branch *, const struct finding_rules *);

#endif
