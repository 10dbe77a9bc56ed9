/*
 * Judges what was found: which of it a report claims (judge/claim.h).
 *
 * The prior odds of a change are shared by the series that are judged, so that
 * many series give no more false alarms than one. With the evidence of a
 * finding they give the probability of its change. At most one report in 20
 * without a change claims one: tests/bench/reports.
 */
#ifndef DECIDING_H
#define DECIDING_H

#include <stdbool.h>
#include <stddef.h>

struct findings;

/* Removes the changes of a history that are not claimed. 'series': how many
 * were judged, of gates [1] and of other metrics [0]. */
void deciding_claim(struct findings *, const size_t series[2]);

/*
 * Judges the findings about the newest point by the model of vkb-compare, sets
 * their kinds by the verdicts and removes those that are not a change.
 * 'virtual': the runs are of a virtual machine.
 */
void deciding_judge(struct findings *, bool virtual);

#endif
