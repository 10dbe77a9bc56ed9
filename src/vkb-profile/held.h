/*
 * A command that is started but does not begin until it is let go, so that
 * nothing of it is missed.
 */
#ifndef HELD_H
#define HELD_H

#include <stdbool.h>
#include <sys/types.h>

struct held;

struct held *held_start(char *const *argv); /* NULL, and said */
void held_free(struct held *); /* SIGTERM if it runs; NULL does nothing */
pid_t held_pid(const struct held *);
int held_fd(const struct held *); /* readable when it has ended */
void held_release(struct held *);
void held_signal(struct held *, int sig);

/* Waits for its end; what we exit with: its status, 128 + its signal, 126 or
 * 127 (which was said): it could not be run; 125: it was never let go. */
int held_wait(struct held *);

#endif
