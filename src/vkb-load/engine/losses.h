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

#include "err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conn;
struct redirected;
struct run;
struct worker;

/*
 * Counts n events against what the run may lose, for all its streams together.
 * The first one explains the failure; beyond the limit no stream sends more.
 */
void losses_add(struct run *, uint64_t n, const char *fmt, ...)
    ERR_PRINTF(3, 4);

/*
 * A connection broke, or could not be made; n of its requests have no reply.
 * Returns false if the run has failed. losses_break does this for a connection
 * of a client, whose requests will be sent again.
 */
bool losses_count_break(
    struct worker *, struct conn *, uint32_t n, const char *why, int64_t now);
bool losses_break(struct conn *, const char *why, int64_t now);

/* The bytes were not a reply: the run fails. */
void losses_fail_on_nonsense(struct conn *, const char *why);

/*
 * Called at each tick: opens a connection that is down, and fails the run if
 * that takes too long. Returns true if the connection is ready.
 */
bool losses_check(struct worker *, struct conn *, int64_t now);

/*
 * losses_is_expired returns true if the oldest unanswered request, sent at
 * 'oldest', is older than the timeout. losses_count_unanswered counts n of them
 * and closes the connection, since late replies would be taken for those of
 * other requests. losses_expire does both for a connection of a client.
 */
bool losses_is_expired(
    struct worker *, const struct conn *, int64_t oldest, int64_t now);
void losses_count_unanswered(
    struct worker *, struct conn *, uint64_t n, int64_t now);
void losses_expire(struct worker *, struct conn *, int64_t now);

/* Sends c->again requests again; the connection is ready. */
void losses_resend(struct worker *, struct conn *, int64_t now);

/* Records the age of a redirected request that has no reply. */
void losses_give_up(struct worker *, const struct redirected *, int64_t now);

/* Counts the requests in flight when a thread ends its part. */
void losses_count_unfinished(struct worker *, int64_t now);

/*
 * Returns true after reporting that the runs lost more than allowed. Call it
 * after the threads have ended.
 */
bool losses_fail(const struct run *runs, size_t n);

/*
 * Connections that are reopened on purpose: each after a number of requests,
 * or all at once every so many seconds. A connection is closed when it awaits
 * no reply, so no request is lost, and reset, so that its port is free at once.
 * While it is reopened it counts in worker.again, so that a run does not end
 * before all connections are back.
 */

/* Prepares a thread, and then each slice of its run. */
void losses_init_thread(struct worker *);
void losses_start_slice(struct worker *);

/*
 * Counts n answers; after enough of them marks the connection by setting 'next'
 * to its own node, when a part of a mix ends. Only called for runs in which
 * connections are reopened.
 */
void losses_count_served(struct worker *, struct conn *, uint32_t n);

/* Moves an idle connection to 'next', which is another node or its own. */
void losses_reopen(struct worker *, struct conn *, int64_t now);

/* The connection is ready. Returns true if it was reopened on purpose. */
bool losses_end_reopening(struct worker *, struct conn *);

/* Called at each tick: begins a storm that is due. */
void losses_check_storm(struct worker *, int64_t now);

#endif
