/*
 * Finds the process to profile by id, port or name. If several match it is an
 * error.
 */
#ifndef TARGET_H
#define TARGET_H

#include <sys/types.h>

struct json;

/* Returns the only process that listens on the TCP port, or -1 after reporting
 * an error. */
pid_t target_by_port(int port);

/* Returns the only process with this comm, program or argv[0], or -1 after
 * reporting an error. */
pid_t target_by_name(const char *name);

/* Returns 0 if the process runs, or -1 after reporting an error. */
int target_check(pid_t);

/* Returns a path by which the program can be opened, or NULL. Caller frees with
 * free(). */
char *target_find_exe(pid_t);

/*
 * Returns pid, comm and exe, as far as they are known; not the arguments, which
 * can contain secrets. Caller frees with json_free.
 */
struct json *target_describe(pid_t);

#endif
