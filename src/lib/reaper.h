/*
 * Reapers: small processes named "vkb-reaper", in a session of their own and
 * with all signals blocked, that clean up after this program when it ends,
 * however it ends. proc.c has one for each child: it ends whatever the child
 * has started. The one of reaper_start runs after those.
 */
#ifndef REAPER_H
#define REAPER_H

#include <sys/types.h>

#define REAPER_NAME "vkb-reaper"

/*
 * Starts the process that calls clean(arg), once, when this program and the
 * reapers of its children have ended without reaper_dismiss. There is one at a
 * time. It has no stdin, stdout and stderr. Returns 0, or -1 after reporting an
 * error.
 */
int reaper_start(void (*clean)(void *), void *arg);
/* Ends that process, if there is one, without calling 'clean'. */
void reaper_dismiss(void);

/* For proc.c. Forks, with all signals blocked in the child. Returns as fork. */
pid_t reaper_fork(void);
/*
 * Gives up the name, session and files of the caller, a child of reaper_fork.
 * Keeps only 'fd', which becomes 3, and what the process of reaper_start waits
 * for.
 */
void reaper_detach(int fd);

#endif
