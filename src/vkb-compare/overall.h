/*
 * The change over all matched cases: a geometric mean for each gate metric.
 */
#ifndef OVERALL_H
#define OVERALL_H

struct comparison;

/* Fills c->overall from the rows; those without a ratio above 0 are left out.
 */
void overall_add(struct comparison *);

#endif
