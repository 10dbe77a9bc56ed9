/*
 * Counts calls of a program's functions in one process, by uprobes. The kernel
 * removes them when this program ends, even by a crash.
 */
#ifndef CALLS_H
#define CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct calls;
struct json;

/* Most functions; the kernel needs 0.1 s per function and thread to stop. */
enum { CALLS_MOST = 200 };

/*
 * Opens counters, disabled, for the functions of the program at 'path' that
 * match a shell pattern, in the threads that the process has now; later threads
 * and children are not counted. 'path' is borrowed until calls_close. Returns
 * NULL after reporting an error.
 */
struct calls *calls_open(
    pid_t, const char *path, const char *const *patterns, size_t n);
void calls_close(struct calls *);

/* Starts or stops counting. Returns 0, or -1 after reporting an error. */
int calls_control(struct calls *, bool on);

/* Returns an object of FUNCTION: count, most called first, or NULL after
 * reporting an error. Caller frees with json_free. */
struct json *calls_read(const struct calls *);

#endif
