/*
 * Connections that are reopened on purpose: each after a number of requests,
 * or all at once every so many seconds. A connection is closed when it awaits
 * no reply, so no request is lost, and reset, so that its port is free at once.
 * While it is reopened it counts in worker.again, so that a run does not end
 * before all connections are back. Private to the engine, like run.h.
 */
#ifndef RECONNECT_H
#define RECONNECT_H

#include <stdbool.h>
#include <stdint.h>

struct conn;
struct engine_result;
struct run;
struct worker;

/* Prepares a thread, and then each slice of its run. */
void reconnect_init(struct worker *);
void reconnect_start(struct worker *);

/*
 * Counts n answers; after enough of them marks the connection by setting 'next'
 * to its own node, when a part of a mix ends. Only called for runs in which
 * connections are reopened.
 */
void reconnect_count(struct worker *, struct conn *, uint32_t n);

/* Moves an idle connection to 'next', which is another node or its own. */
void reconnect_open(struct worker *, struct conn *, int64_t now);

/* The connection is ready. Returns true if it was reopened on purpose. */
bool reconnect_finish(struct worker *, struct conn *);

/* Called at each tick: begins a storm that is due. */
void reconnect_check(struct worker *, int64_t now);

/* Sets what the threads of a run have counted; they have ended. */
void reconnect_collect(const struct run *, struct engine_result *);

#endif
