/*
 * The guardian: a small process in a session of its own that ignores signals.
 * When this program ends without having dismissed it, it kills the process
 * groups and removes the folder it was told of.
 */
#ifndef GUARD_H
#define GUARD_H

#include <sys/types.h>

struct guard;

struct guard *guard_start(void);                    /* NULL, and said */
int guard_folder(struct guard *, const char *path); /* -1, said: it is gone */
/*
 * For proc.c, between fork and exec too: one that is added by itself, before
 * its program begins, is missed by no kill of ours. -1, with errno.
 */
int guard_add(struct guard *, pid_t group);
int guard_drop(struct guard *, pid_t group);
/* All is in order; taken; NULL does nothing. */
void guard_dismiss(struct guard *);

#endif
