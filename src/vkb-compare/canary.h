/*
 * Cases that must not change, whatever was built: where one does, the machine
 * is not the one it was, and what it says about the others means nothing.
 */
#ifndef CANARY_H
#define CANARY_H

#include <stddef.h>

struct comparison;
struct opt_list;
struct rules;

/*
 * Judged rows of cases whose names match a pattern, against the history where
 * the rules have one, else as they are: c->canaries. 0, or -1 and said: one
 * changed, is missing or has too few runs.
 */
int canary_check(
    struct comparison *, const struct opt_list *patterns, const struct rules *);

#endif
