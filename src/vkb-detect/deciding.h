/* Judges what was found about the newest commit, or two, by tests of runs. */
#ifndef DECIDING_H
#define DECIDING_H

struct findings;

/*
 * Tests the findings together, so that many do not make false alarms, sets
 * their kinds by the verdicts and removes those that are not a change.
 * 'session_sd' is the standard deviation of what sessions do to a metric, as a
 * fraction; memory has its own.
 */
void deciding_judge(struct findings *, double session_sd);

#endif
