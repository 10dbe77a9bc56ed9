/* Makes and sends batches of requests. Private to the engine, like run.h. */
#ifndef SENDING_H
#define SENDING_H

#include <stdint.h>

struct conn;
struct cursor;
struct worker;

/* Sends n commands, with refills where due. */
void sending_batch(struct worker *, struct conn *, uint32_t n, int64_t now);
/* As sending_batch, but continues from c->cursor. */
void sending_repeat(struct worker *, struct conn *, uint32_t n, int64_t now);
/*
 * Open loop: the next n requests of a cursor, which are sent in place of others
 * whose numbers are not known, get numbers that no request has had.
 */
void sending_renew(struct worker *, struct conn *, struct cursor *, uint32_t n);
/* Makes and sends the rest of the batch, as far as there is room. */
void sending_continue(struct conn *, int64_t now);

#endif
