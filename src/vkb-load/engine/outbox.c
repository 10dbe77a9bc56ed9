#include "outbox.h"
#include "sendlist.h"
#include "mem.h"
#include "run.h"

#include <stdlib.h>
#include <string.h>

void
outbox_free(struct outbox *o)
{
	free(o->order);
	free(o->ready);
}

void
outbox_add_ready(struct outbox *o, struct conn *c)
{
	if (c->list->listed)
		return;
	c->list->listed = true;
	o->ready =
	    mem_grow(o->ready, o->nready, &o->ready_cap, sizeof *o->ready);
	o->ready[o->nready++] = c;
}

struct conn *
outbox_take_ready(struct outbox *o)
{
	struct conn *c;

	if (!o->nready)
		return NULL;
	c = o->ready[--o->nready];
	c->list->listed = false;
	return c;
}

static void
add_order(struct outbox *o, struct conn *c)
{
	size_t cap = o->order_cap ? 2 * o->order_cap : 1024, i;
	struct conn **v;

	if (o->norder == o->order_cap) { /* its size is a power of two */
		v = mem_array(cap, sizeof(struct conn *));
		for (i = 0; i < o->norder; i++)
			v[i] = o->order[(o->order_at + i) & (o->order_cap - 1)];
		free(o->order);
		o->order = v;
		o->order_at = 0;
		o->order_cap = cap;
	}
	o->order[(o->order_at + o->norder++) & (o->order_cap - 1)] = c;
}

void
outbox_push(struct worker *w, struct conn *c, const struct sendlist_item *item)
{
	struct outbox *o = w->outbox;

	sendlist_push(c->list, item);
	o->waiting++;
	o->bytes += item->n;
	if (run_is_open(w->run))
		add_order(o, c);
	else if (c->list->waits)
		outbox_add_ready(o, c);
}

/* Returns when the next command of a connection is due that is not late. */
static int64_t
get_due(const struct conn *c)
{
	return sendlist_at(c->list, c->list->nsent + c->list->late)->due_ns;
}

void
outbox_expire(struct outbox *o, int64_t due_ns)
{
	struct conn *c;

	while (o->norder) {
		c = o->order[o->order_at];
		if (get_due(c) > due_ns)
			break;
		o->order_at = (o->order_at + 1) & (o->order_cap - 1);
		o->norder--;
		o->late++;
		c->list->late++;
		outbox_add_ready(o, c);
	}
}

int64_t
outbox_get_next(const struct outbox *o)
{
	return o->norder ? get_due(o->order[o->order_at]) : -1;
}

void
outbox_take_late(struct outbox *o, struct conn *c, uint32_t n)
{
	c->list->late -= n;
	o->late -= n;
}

void
outbox_send(struct worker *w, struct conn *c, int64_t now)
{
	struct outbox *o = w->outbox;
	const struct sendlist_item *item;
	size_t len = 0;

	while (c->todo) {
		item = sendlist_at(c->list, c->list->nsent);
		if (len && item->n > RUN_SLICE - len)
			break;
		c->list->nsent++;
		c->todo--;
		o->waiting--;
		if (item->n > RUN_SLICE) {
			conn_put(c, item->bytes, item->n, now);
			return;
		}
		memcpy(w->batch + len, item->bytes, item->n);
		len += item->n;
	}
	conn_put(c, w->batch, len, now);
}

void
outbox_answer(struct outbox *o, struct conn *c, uint32_t n)
{
	o->bytes -= sendlist_drop(c->list, n);
	if (c->list->late)
		outbox_add_ready(o, c);
}
