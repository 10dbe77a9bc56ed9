/*
 * Groups the changes that several series show, and gives groups and changes
 * their keys.
 */
#ifndef GROUPING_H
#define GROUPING_H

#include <stdbool.h>

struct branch;
struct findings;

/* Makes the groups of all findings; 'latest' as in struct finding_group. */
void grouping_make(struct findings *, const struct branch *, bool latest);

/* For qsort of pointers to findings: by kind, direction, and end of the range.
 */
int grouping_compare_ends(const void *, const void *);

#endif
