/*
 * Open loop: requests are sent when they are due, even if earlier ones have no
 * reply. Private to the engine, like run.h.
 */
#ifndef OPENLOOP_H
#define OPENLOOP_H

#include <stdbool.h>
#include <stdint.h>

struct away;
struct conn;
struct worker;

void openloop_start(struct worker *, int64_t now);
void openloop_dispatch(struct worker *, int64_t now);
void openloop_replies(
    struct worker *, struct conn *, int64_t now, uint32_t replies);
void openloop_back(struct worker *, const struct away *, int64_t now);
/*
 * Takes the times of the nth awaited request; its latency is not counted here.
 */
void openloop_away(struct worker *, struct conn *, uint32_t nth, struct away *);
bool openloop_done(const struct worker *);
int64_t openloop_next(const struct worker *);
/* Records the age of requests that were due but never sent. */
void openloop_unsent(struct worker *, int64_t now);

#endif
