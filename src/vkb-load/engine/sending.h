/* The batches of requests that a thread makes and sends; private, like run.h.
 */
#ifndef SENDING_H
#define SENDING_H

#include <stdint.h>

struct conn;
struct worker;

/* Sends n commands, with refills where due. */
void sending_batch(struct worker *, struct conn *, uint32_t n, int64_t now);
/* The same where c->course says already what a template makes. */
void sending_same(struct worker *, struct conn *, uint32_t n, int64_t now);
/* Makes and sends what is left of the batch, as far as there is room. */
void sending_go_on(struct worker *, struct conn *, int64_t now);

#endif
