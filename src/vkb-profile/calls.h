/*
 * How often functions of a program are called: uprobes that the kernel counts
 * for this process alone, and that go with us, whatever happens.
 */
#ifndef CALLS_H
#define CALLS_H

#include <stddef.h>
#include <sys/types.h>

struct calls;
struct json;

/* The kernel takes a tenth of a second to end each, in each thread. */
enum { CALLS_MOST = 200 }; /* functions */

/*
 * The functions of the program at 'path' that match a pattern, as of a shell,
 * in all threads there are now; not in those that come, nor in children. NULL,
 * and said.
 */
struct calls *calls_open(
    pid_t, const char *path, const char *const *patterns, size_t n);
void calls_close(struct calls *);

/* From now on, until then. 0, or -1 and said. */
int calls_enable(struct calls *);
int calls_disable(struct calls *);

/* FUNCTION: count, the most called first; NULL, and said. Caller frees with
 * json_free. */
struct json *calls_read(const struct calls *);

#endif
