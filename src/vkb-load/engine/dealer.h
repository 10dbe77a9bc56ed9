/*
 * Reads a trace and deals its commands to the connections of a thread. Private
 * to the engine, like run.h.
 *
 * A recorded connection is one client, its number modulo the clients; each
 * thread reads the whole trace and keeps what its clients send. So commands of
 * a recorded connection stay in order; in a cluster those for one node, to
 * which a client has a connection of its own. If recorded connections share a
 * client, a transaction of one keeps the commands of the others back until it
 * ends.
 *
 * A recorded SELECT is not sent: the connection is moved to the
 * database that a command was recorded in. Commands that cannot be sent are
 * counted, see cmdargs_refuse.
 *
 * The file is read as it is needed: DEALER_COMMANDS commands and DEALER_BYTES
 * bytes are kept at most, and the commands that transactions hold back.
 */
#ifndef DEALER_H
#define DEALER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cmdsource;
struct conn;
struct dealer;
struct engine_result;
struct engine_work;
struct worker;

/*
 * What a thread has to send of a trace: the commands of all its connections.
 * Private to the engine, like run.h.
 */

struct dealer_item {
	int64_t due_ns; /* since the first command of the trace, as recorded */
	size_t n;
	size_t part; /* its command, see counters_name_part */
	char *bytes; /* RESP; owned */
};

/* The commands of one connection: in order, those that wait for their reply
 * first, then those that are to be sent. They are kept until they are answered.
 */
struct dealer_list {
	struct dealer_item *ring; /* 'cap' of them, a power of two */
	size_t head, n, cap;
	size_t nsent; /* the first ones, whose replies are awaited */
	size_t late;  /* at recorded times: the next ones, which are due */
	uint32_t db;  /* after all its commands */
	bool listed;  /* see dealer_take_ready */
	bool waits;   /* closed loop: idle, because it had nothing to send */
};

struct dealer_list *dealer_list_new(uint32_t db);
void dealer_list_free(struct dealer_list *); /* NULL does nothing */

/* Returns the i-th item, below n. */
static inline struct dealer_item *
dealer_at(const struct dealer_list *f, size_t i)
{
	return &f->ring[(f->head + i) & (f->cap - 1)];
}

struct dealer_outbox {
	size_t waiting;      /* commands that are not sent */
	size_t bytes;        /* of all commands, with those not answered */
	size_t late;         /* due and not sent */
	struct conn **order; /* at recorded times: of each command, a ring */
	size_t order_at, norder, order_cap;
	struct conn **ready; /* see below */
	size_t nready, ready_cap;
};

/* The connections that have something to send, and may have room. take returns
 * NULL if there is none. */
void dealer_add_ready(struct dealer_outbox *, struct conn *);
struct conn *dealer_take_ready(struct dealer_outbox *);

/* At recorded times: all commands due up to 'due_ns' are late from now on. */
void dealer_expire(struct dealer_outbox *, int64_t due_ns);

/* n requests of a connection were answered. */
void dealer_answer(struct dealer_outbox *, struct conn *, uint32_t n);

/* Sets w->outbox. Returns NULL after the run has failed: the trace cannot be
 * read. */
struct dealer *dealer_new(struct worker *w);
void dealer_free(struct dealer *); /* NULL does nothing */

/*
 * Closed loop: a connection has no unanswered requests; it, and others that had
 * nothing to send, send their next batches.
 */
void dealer_next(struct worker *, struct conn *, int64_t now);

/* At recorded times: deals the commands that are due up to 'until_ns' of the
 * trace. */
void dealer_read(struct worker *, int64_t until_ns);
/* The time in the trace at which there is something to do, or INT64_MAX. */
int64_t dealer_get_next(const struct dealer *);

/* Is all of the trace sent? */
bool dealer_is_empty(const struct dealer *);

/* Adds what was not sent to the result; NULL does nothing. */
void dealer_report(const struct dealer *, struct engine_result *);

/* Returns the source of the commands of a trace. Where recorded connections
 * share a client, the trace is read once for the transactions that never end:
 * they would keep the others back, and are not sent. */
struct cmdsource *dealer_open_source(const struct engine_work *);

#endif
