/* Lists the series of a history and the cases with failed runs. */
#ifndef LISTING_H
#define LISTING_H

struct branch;

/* Makes the series, the losses and the names of cases, after the points and
 * machines are made. */
void listing_make(struct branch *);

#endif
