/* Chooses the next commit of a history, whose index 0 is the newest. */
#ifndef ORDER_H
#define ORDER_H

#include <stddef.h>

enum order { ORDER_NEWEST, ORDER_OLDEST, ORDER_BISECT };

enum order_state { ORDER_FREE, ORDER_LATE, ORDER_KNOWN };

#define ORDER_END ((size_t)-1)

/*
 * Returns the index of the next commit that is free, else late, else ORDER_END.
 * ORDER_BISECT chooses the newest commit first, then the middle of the longest
 * stretch between known commits or to the oldest end; of equally long ones the
 * newest.
 */
size_t order_next(enum order, const enum order_state *, size_t n);

#endif
