/*
 * The rows of what all cases have in common (infer.h). Their pair stands for
 * all cases; it was not measured.
 */
#ifndef COMMON_H
#define COMMON_H

#include <stddef.h>

struct comparison;
struct model_metric;
struct row;

/* Stands for all cases where the name of one is expected. */
#define COMMON_NAME "all cases"

enum { COMMON_CASES = 5 }; /* at least, to speak of all */

/* Adds a row to 'commons' with the metric, margin and waiver of 'like', and
 * primary if that is, for what these cases have in common. */
void common_add(struct comparison *, const struct row *like,
    const struct model_metric *, size_t cases);

/* Moves 'commons' behind the other rows. */
void common_append(struct comparison *);

/* Frees the common changes. */
void common_free(struct comparison *);

#endif
