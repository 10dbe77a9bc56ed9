/*
 * A child process that executes its command only when it is released, so that
 * a profile covers the command from its first instruction.
 */
#ifndef HELD_H
#define HELD_H

#include <stdbool.h>
#include <sys/types.h>

struct held;

struct held *held_start(char *const *argv); /* NULL: error reported */
void held_free(struct held *); /* sends SIGTERM if it runs; NULL is allowed */
pid_t held_pid(const struct held *);
int held_fd(const struct held *); /* readable once it has ended */
void held_release(struct held *);
void held_signal(struct held *, int sig);

/*
 * Waits for the end of the command. Returns its status; 128 + its signal; 126
 * or 127, reported, if it could not be run; 125 if it was never released.
 */
int held_wait(struct held *);

#endif
