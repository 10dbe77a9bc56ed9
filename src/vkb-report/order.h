/*
 * Names and places of what a model has: the most remarkable first, a baseline
 * before its contender, the rest by time.
 */
#ifndef ORDER_H
#define ORDER_H

struct model;

/* Of a model that has all its cells. */
void order_all(struct model *);

#endif
