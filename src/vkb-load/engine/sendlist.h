/*
 * The commands of a trace that one connection sends: in order, those that wait
 * for their reply first, then those that are to be sent. They are kept until
 * they are answered.
 */
#ifndef SENDLIST_H
#define SENDLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sendlist_item {
	int64_t due_ns; /* since the first command of the trace, as recorded */
	size_t n;
	size_t part; /* its command, see mixparts_name */
	char *bytes; /* RESP; owned */
};

struct sendlist {
	struct sendlist_item *ring; /* 'cap' of them, a power of two */
	size_t head, n, cap;
	size_t nsent; /* the first ones, whose replies are awaited */
	size_t late;  /* at recorded times: the next ones, which are due */
	uint32_t db;  /* after all its commands */
	bool listed;  /* see outbox_add_ready */
	bool waits;   /* closed loop: idle, because it had nothing to send */
};

struct sendlist *sendlist_new(uint32_t db);
void sendlist_free(struct sendlist *); /* NULL does nothing */

void sendlist_push(
    struct sendlist *, const struct sendlist_item *); /* takes the bytes */

/* Frees the n oldest items, which were answered. Returns their bytes. */
size_t sendlist_drop(struct sendlist *, uint32_t n);

/* Returns the i-th item, below n. */
static inline struct sendlist_item *
sendlist_at(const struct sendlist *f, size_t i)
{
	return &f->ring[(f->head + i) & (f->cap - 1)];
}

/* Returns how many are to be sent. */
static inline size_t
sendlist_count(const struct sendlist *f)
{
	return f->n - f->nsent;
}

#endif
