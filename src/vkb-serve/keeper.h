/*
 * start, stop, status: a server that outlives the command that started it,
 * held by a process in the background. Its folder has a lock, held while it
 * runs, and its record in state.json.
 */
#ifndef KEEPER_H
#define KEEPER_H

#include <stdbool.h>

struct json;

/* Where, when it is not said: caller frees with free(). */
char *keeper_folder(void);

/*
 * In the background process: 0 the lock is held until the end of the process;
 * -1 and said.
 */
int keeper_lock(const char *folder);

/* Writes the record. 0, or -1 and said. */
int keeper_note(const char *folder, const struct json *record);
void keeper_forget(const char *folder);

/* Exit statuses; records go to stdout. */
int keeper_stop(const char *folder, int timeout_ms, bool quiet);
int keeper_status(const char *folder, bool quiet);

#endif
