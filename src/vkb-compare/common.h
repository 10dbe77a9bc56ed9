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

/*
 * Adds a row behind the others, which may move, for what the cases of these n
 * rows of a metric have in common, if one of them is judged and one has enough
 * runs. It has the margin of the judged one with the widest, is primary if one
 * of them is, and is waived if all judged ones have the same waiver.
 */
void common_add(struct comparison *, struct row *const *rows, size_t n,
    const struct model_metric *);

/* Frees the common changes. */
void common_free(struct comparison *);

#endif
