/*
 * Why the program should stop: SIGINT, SIGTERM or SIGHUP (blocked, read from a
 * descriptor), or the end of the process that started it.
 */
#ifndef HALT_H
#define HALT_H

#include <stdbool.h>

struct halt;

/* NULL on error, after reporting it. 'caller': watch the parent process too. */
struct halt *halt_open(bool caller);
void halt_close(struct halt *);
int halt_fd(const struct halt *); /* readable once there is a reason */

enum { HALT_CALLER = -1 };
/* Returns 0, a signal number or HALT_CALLER, and from then on always the same.
 * *tty (or NULL): the signal came from the terminal, so other processes have it
 * too. */
int halt_reason(struct halt *, bool *tty);

/* Ends the program by that signal; returns for HALT_CALLER: exit with 2. */
void halt_raise(int reason);

/* Closes it, and ends the program if a signal is the reason. NULL: nothing. */
void halt_finish(struct halt *);

#endif
