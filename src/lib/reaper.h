/*
 * The reaper: a small process in a session of its own that ignores signals. If
 * this program ends without dismissing it, the reaper kills the process groups
 * and removes the folder that it was given.
 */
#ifndef REAPER_H
#define REAPER_H

#include <sys/types.h>

struct reaper;

/* NULL or -1 on error, after reporting it. */
struct reaper *reaper_start(void);
int reaper_folder(struct reaper *, const char *path);
/* For proc.c, between fork and exec too: a child that adds itself before its
 * program begins is always killed. Returns 0, or -1 with errno. */
int reaper_add(struct reaper *, pid_t group);
int reaper_drop(struct reaper *, pid_t group);
/* Ends the reaper, which then does nothing. Takes it; NULL does nothing. */
void reaper_dismiss(struct reaper *);

#endif
