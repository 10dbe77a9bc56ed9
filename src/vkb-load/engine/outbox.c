#include "outbox.h"
#include "mem.h"
#include "run.h"

#include <stdlib.h>
#include <string.h>

struct outbox_list *
outbox_list_new(uint32_t db)
{
	struct outbox_list *f = mem_new(sizeof *f);

	f->db = db;
	return f;
}

static void
grow_ring(struct outbox_list *f)
{
	size_t cap = f->cap ? 2 * f->cap : 8;
	struct outbox_item *v = mem_array(cap, sizeof *v);

	for (size_t i = 0; i < f->n; i++)
		v[i] = *outbox_at(f, i);
	free(f->ring);
	f->ring = v;
	f->head = 0;
	f->cap = cap;
}

static void
push_item(struct outbox_list *f, const struct outbox_item *item)
{
	if (f->n == f->cap)
		grow_ring(f);
	*outbox_at(f, f->n++) = *item;
}

/* Frees the n oldest items, which were answered. Returns their bytes. */
static size_t
drop_items(struct outbox_list *f, uint32_t n)
{
	struct outbox_item *item;
	size_t bytes = 0;

	for (; n && f->n; n--) {
		item = outbox_at(f, 0);
		bytes += item->n;
		free(item->bytes);
		f->head = (f->head + 1) & (f->cap - 1);
		f->n--;
		f->nsent -= f->nsent > 0;
	}
	return bytes;
}

void
outbox_list_free(struct outbox_list *f)
{
	if (!f)
		return;
	while (f->n)
		drop_items(f, 1);
	free(f->ring);
	free(f);
}

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
outbox_push(struct worker *w, struct conn *c, const struct outbox_item *item)
{
	struct outbox *o = w->outbox;

	push_item(c->list, item);
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
	return outbox_at(c->list, c->list->nsent + c->list->late)->due_ns;
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
	const struct outbox_item *item;
	size_t len = 0;

	while (c->todo) {
		item = outbox_at(c->list, c->list->nsent);
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
	o->bytes -= drop_items(c->list, n);
	if (c->list->late)
		outbox_add_ready(o, c);
}
