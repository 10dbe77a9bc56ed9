/*
 * Requests without an answer. Private to the engine, like run.h.
 *
 * 'lost' counts the requests whose connection broke before their reply; they
 * are sent again and keep their first start. 'unanswered' counts those without
 * a reply after the timeout, or at the end of the run; the histogram has their
 * age, a lower bound of the latency. 'reconnects' counts the connections that
 * broke and have to be opened again. The sum over all streams of a run is
 * compared with engine_work.max_lost: beyond it no stream sends more, all wait
 * for the replies in flight, and the run has failed.
 */
#ifndef LOSSES_H
#define LOSSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct away;
struct conn;
struct run;
struct worker;

/* The command of the load as it was given, for messages; borrowed. */
const char *losses_command(const struct run *);

/* A connection that was ready broke; conn_close follows. */
void losses_break(struct worker *, struct conn *, const char *why, int64_t now);

/*
 * Gives up what a connection has to answer when the oldest of it is older than
 * the timeout. The connection is closed, since late replies would be taken for
 * those of other requests.
 */
void losses_expire(struct worker *, struct conn *, int64_t now);

/* Sends c->again requests again; the connection is ready. */
void losses_resend(struct worker *, struct conn *, int64_t now);

/* Records the age of a request that was sent elsewhere, and has no reply. */
void losses_give_up(struct worker *, const struct away *, int64_t now);

/* Counts all that is in flight when a thread ends its part of the run. */
void losses_end(struct worker *, int64_t now);

/* True, and reported, when the runs lost more than they may. Threads ended. */
bool losses_fail(const struct run *runs, size_t n);

#endif
