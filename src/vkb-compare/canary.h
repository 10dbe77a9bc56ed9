/*
 * Canaries: cases that no build should change. If one changed, the machine has
 * changed, and the comparison of the other cases is not valid.
 */
#ifndef CANARY_H
#define CANARY_H

#include <stddef.h>

struct comparison;
struct opt_list;
struct rules;

/*
 * Fills c->canaries with the judged rows of cases whose names match a pattern.
 * They have the verdicts of their rows, unless the rules have a history, which
 * replaces the baseline. Returns -1, after reporting it, if a canary changed,
 * is missing or has too few runs.
 */
int canary_check(
    struct comparison *, const struct opt_list *patterns, const struct rules *);

#endif
