/*
 * The operations start, stop and status: a background process, the supervisor,
 * keeps a server running. The supervisor's folder has a lock file, locked while
 * it runs, and a file with its 'server' record.
 */
#ifndef SUPERVISOR_H
#define SUPERVISOR_H

#include <stdbool.h>

struct json;

/* Returns the default folder; caller frees with free(). */
char *supervisor_folder(void);

/*
 * Makes and locks the folder until the end of this process. Returns 0, or -1
 * after reporting an error.
 */
int supervisor_lock(const char *folder);

/* Writes the record into the folder. Returns 0, or -1 after reporting an error.
 */
int supervisor_write_state(const char *folder, const struct json *record);

/* Removes the record, the lock, and the folder if it is empty then. */
void supervisor_remove_state(const char *folder);

/* Return exit statuses; write records to stdout. */
int supervisor_stop(const char *folder, int timeout_ms, bool quiet);
int supervisor_status(const char *folder, bool quiet);

#endif
