/* Which commit of a history comes next. The newest one is the first. */
#ifndef ORDER_H
#define ORDER_H

#include <stddef.h>

enum order { ORDER_NEWEST, ORDER_OLDEST, ORDER_BISECT };

enum order_state { ORDER_FREE, ORDER_LATE, ORDER_KNOWN };

#define ORDER_END ((size_t)-1)

/*
 * The place of the next one that is free, or when there is none, late;
 * ORDER_END: none. ORDER_BISECT: the newest one of all; then the middle of the
 * longest stretch between known ones or to the oldest end, of equal ones the
 * newest.
 */
size_t order_next(enum order, const enum order_state *, size_t n);

#endif
