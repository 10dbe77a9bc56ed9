/*
 * Why the program should stop: SIGINT, SIGTERM or SIGHUP (blocked, read from a
 * descriptor), or the end of the process that started it.
 */
#ifndef HALT_H
#define HALT_H

#include <stdbool.h>

struct halt;

/* NULL, and said. 'caller': the end of the parent process counts too. */
struct halt *halt_open(bool caller);
void halt_close(struct halt *);
int halt_fd(const struct halt *); /* readable: there is a reason */

enum { HALT_CALLER = -1 };
/*
 * 0 none; a signal number; HALT_CALLER. Once there is a reason it stays.
 * *tty: the signal came from the terminal, so others have it too; may be NULL.
 */
int halt_reason(struct halt *, bool *tty);

/* Ends the program by that signal; of HALT_CALLER it returns: exit with 2. */
void halt_raise(int reason);

#endif
