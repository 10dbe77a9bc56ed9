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
#include <stdint.h>

#define DEALER_COMMANDS 65536
#define DEALER_BYTES (64 << 20)

struct cmdsource;
struct conn;
struct dealer;
struct engine_result;
struct worker;

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

/* Returns the source of the commands of any trace: what they have in common. */
struct cmdsource *dealer_open_source(void);

#endif
