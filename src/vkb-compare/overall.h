/*
 * The change over all matched cases: geometric means, one for each gate.
 */
#ifndef OVERALL_H
#define OVERALL_H

struct comparison;

/* Of the rows that there are. */
void overall_add(struct comparison *);

#endif
