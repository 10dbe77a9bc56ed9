#include "sendlist.h"
#include "mem.h"

#include <stdlib.h>

struct sendlist *
sendlist_new(uint32_t db)
{
	struct sendlist *f = mem_new(sizeof *f);

	f->db = db;
	return f;
}

void
sendlist_free(struct sendlist *f)
{
	if (!f)
		return;
	while (f->n)
		sendlist_drop(f, 1);
	free(f->ring);
	free(f);
}

static void
grow_ring(struct sendlist *f)
{
	size_t cap = f->cap ? 2 * f->cap : 8;
	struct sendlist_item *v = mem_array(cap, sizeof *v);

	for (size_t i = 0; i < f->n; i++)
		v[i] = *sendlist_at(f, i);
	free(f->ring);
	f->ring = v;
	f->head = 0;
	f->cap = cap;
}

void
sendlist_push(struct sendlist *f, const struct sendlist_item *item)
{
	if (f->n == f->cap)
		grow_ring(f);
	*sendlist_at(f, f->n++) = *item;
}

size_t
sendlist_drop(struct sendlist *f, uint32_t n)
{
	struct sendlist_item *item;
	size_t bytes = 0;

	for (; n && f->n; n--) {
		item = sendlist_at(f, 0);
		bytes += item->n;
		free(item->bytes);
		f->head = (f->head + 1) & (f->cap - 1);
		f->n--;
		f->nsent -= f->nsent > 0;
	}
	return bytes;
}
