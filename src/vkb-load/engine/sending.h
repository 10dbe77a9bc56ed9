/* Makes and sends batches of requests. Private to the engine, like run.h. */
#ifndef SENDING_H
#define SENDING_H

#include <stdint.h>

struct conn;
struct worker;

/* Sends n commands, with refills where due. */
void sending_batch(struct worker *, struct conn *, uint32_t n, int64_t now);
/* As sending_batch, but continues from c->cursor. */
void sending_repeat(struct worker *, struct conn *, uint32_t n, int64_t now);
/* Makes and sends the rest of the batch, as far as there is room. */
void sending_continue(struct worker *, struct conn *, int64_t now);

#endif
