/*
 * Open loop: requests are sent when they are due, whatever has become of those
 * before. Private to the engine, like run.h.
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
/* Takes the times of the nth request it awaits; no latency will be counted. */
void openloop_away(struct worker *, struct conn *, uint32_t nth, struct away *);
bool openloop_done(const struct worker *);
int64_t openloop_next(const struct worker *);
/* What was due but never sent waited at least so long. */
void openloop_unsent(struct worker *, int64_t now);

#endif
