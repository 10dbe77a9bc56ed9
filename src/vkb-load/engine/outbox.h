/*
 * What a thread has to send of a trace: the commands of all its connections.
 * Private to the engine, like run.h.
 */
#ifndef OUTBOX_H
#define OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conn;
struct worker;

struct outbox_item {
	int64_t due_ns; /* since the first command of the trace, as recorded */
	size_t n;
	size_t part; /* its command, see mixparts_name */
	char *bytes; /* RESP; owned */
};

/* The commands of one connection: in order, those that wait for their reply
 * first, then those that are to be sent. They are kept until they are answered.
 */
struct outbox_list {
	struct outbox_item *ring; /* 'cap' of them, a power of two */
	size_t head, n, cap;
	size_t nsent; /* the first ones, whose replies are awaited */
	size_t late;  /* at recorded times: the next ones, which are due */
	uint32_t db;  /* after all its commands */
	bool listed;  /* see outbox_take_ready */
	bool waits;   /* closed loop: idle, because it had nothing to send */
};

struct outbox_list *outbox_list_new(uint32_t db);
void outbox_list_free(struct outbox_list *); /* NULL does nothing */

/* Returns the i-th item, below n. */
static inline struct outbox_item *
outbox_at(const struct outbox_list *f, size_t i)
{
	return &f->ring[(f->head + i) & (f->cap - 1)];
}

/* Returns how many are to be sent. */
static inline size_t
outbox_count(const struct outbox_list *f)
{
	return f->n - f->nsent;
}

struct outbox {
	size_t waiting;      /* commands that are not sent */
	size_t bytes;        /* of all commands, with those not answered */
	size_t late;         /* due and not sent */
	struct conn **order; /* at recorded times: of each command, a ring */
	size_t order_at, norder, order_cap;
	struct conn **ready; /* see below */
	size_t nready, ready_cap;
};

void outbox_free(struct outbox *);

/* Adds a command of a connection, and takes its bytes. */
void outbox_push(struct worker *, struct conn *, const struct outbox_item *);

/* The connections that have something to send, and may have room. take returns
 * NULL if there is none. */
void outbox_add_ready(struct outbox *, struct conn *);
struct conn *outbox_take_ready(struct outbox *);

/* At recorded times: all commands due up to 'due_ns' are late from now on; the
 * time of the next one, or -1. */
void outbox_expire(struct outbox *, int64_t due_ns);
int64_t outbox_get_next(const struct outbox *);

/* n late commands of a connection are about to be sent. */
void outbox_take_late(struct outbox *, struct conn *, uint32_t n);

/* Sends commands of the connection, c->todo at most: up to RUN_SLICE bytes, or
 * one that is longer. */
void outbox_send(struct worker *, struct conn *, int64_t now);

/* n requests of a connection were answered. */
void outbox_answer(struct outbox *, struct conn *, uint32_t n);

#endif
