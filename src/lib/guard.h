/*
 * The reaper: a small process in a session of its own that ignores signals. If
 * this program ends without dismissing it, the reaper kills the process groups
 * and removes the folder that it was given.
 */
#ifndef GUARD_H
#define GUARD_H

#include <sys/types.h>

struct guard;

/* NULL or -1 on error, after reporting it. */
struct guard *guard_start(void);
int guard_folder(struct guard *, const char *path);
/* For proc.c, between fork and exec too: a child that adds itself before its
 * program begins is always killed. Returns 0, or -1 with errno. */
int guard_add(struct guard *, pid_t group);
int guard_drop(struct guard *, pid_t group);
/* Ends the reaper, which then does nothing. Takes it; NULL does nothing. */
void guard_dismiss(struct guard *);

#endif
