/*
 * Names and order of subjects, cases and deltas: most notable first, a baseline
 * before its contender, the rest by time.
 */
#ifndef ORDER_H
#define ORDER_H

struct model;

/* Requires a model with all its cells. */
void order_all(struct model *);

#endif
