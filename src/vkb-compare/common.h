/*
 * The rows of what all cases have in common (apart.h). Their pair stands for
 * all cases; it was not measured.
 */
#ifndef COMMON_H
#define COMMON_H

#include <stdbool.h>
#include <stddef.h>

#include "judge/moderate.h"

struct comparison;
struct row;

/* Stands for all cases where the name of one is expected. */
#define COMMON_NAME "all cases"

/* Adds a row to 'commons' with the metric, margin and waiver of 'like', and
 * primary if that is: the change of ln(value) that these cases have in common,
 * its variance, and whether that is assumed. */
void common_add(struct comparison *, const struct row *like, double change,
    struct moderate noise, bool assumed, size_t cases);

/* Moves 'commons' behind the other rows. */
void common_append(struct comparison *);

/* Frees the common changes. */
void common_free(struct comparison *);

#endif
