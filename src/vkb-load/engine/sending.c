#include "sending.h"
#include "clock.h"
#include "run.h"
#include "slotmap.h"
#include "supply.h"

#include <sys/uio.h>

/*
 * Makes and sends the batch in slices that stay in the cache, until all is sent
 * or the socket is full. Refills are sent with the last slice.
 */
void
sending_go_on(struct worker *w, struct conn *c, int64_t now)
{
	struct run *r = w->run;
	const struct command *cmd = r->command;
	struct iovec iov[2];
	uint32_t n;
	size_t len;

	while (c->todo && !conn_waits(c) && c->state == CONN_READY) {
		n = c->todo < w->slice ? c->todo : w->slice;
		len = n * cmd->len;
		if (r->template)
			n = template_make(r->template, &c->course,
			    &c->node->keys, w->batch, c->todo, RUN_SLICE, &len);
		else
			command_fill(cmd, w->batch, n, &c->node->keys, &w->rng,
			    c->sequence, &w->turn);
		c->todo -= n;
		if (c->todo || !c->refills) {
			conn_put_batch(c, w->batch, len, cmd->bytes + cmd->len,
			    cmd->len - cmd->constant, now);
			continue;
		}
		iov[0] = (struct iovec){w->batch, n * cmd->len};
		command_fill(r->refill, w->refill, c->refills,
		    w->refill_keys + (c->node - w->map->nodes), &w->rng,
		    &w->refill_at, &w->refill_turn);
		w->refilled += (uint64_t)c->refills * r->refill->values;
		iov[1] = (struct iovec){w->refill, c->refills * r->refill->len};
		conn_put_parts(c, iov, 2, now);
	}
}

static inline void
send_batch(
    struct run *r, struct worker *w, struct conn *c, uint32_t n, int64_t now)
{
	uint32_t refills = 0;

	if (r->refill) {
		c->popped += n;
		if (!c->awaited)
			refills = (uint32_t)(c->popped / r->refill->values);
		c->popped -= (uint64_t)refills * r->refill->values;
	}
	conn_await(c, n + refills);
	c->refills = refills;
	c->todo += n;
	c->batch = r->work->rate > 0 ? 0 : n;
	c->first_ns = 0;
	c->start_ns = clock_ns();
	sending_go_on(w, c, now);
}

void
sending_batch(struct worker *w, struct conn *c, uint32_t n, int64_t now)
{
	struct run *r = w->run;

	if (r->template)
		supply_course(w, c, n);
	send_batch(r, w, c, n, now);
}

void
sending_same(struct worker *w, struct conn *c, uint32_t n, int64_t now)
{
	send_batch(w->run, w, c, n, now);
}
