/*
 * Which process is meant: by its id, by the port it listens on, by its name.
 * Never the first of several.
 */
#ifndef TARGET_H
#define TARGET_H

#include <sys/types.h>

struct json;

/* The only process that listens on the TCP port, or -1 and said. */
pid_t target_by_port(int port);

/* The only one with that command name, program or argv[0], or -1 and said. */
pid_t target_by_name(const char *name);

/* 0, or -1 and said: there is no such process, or it has ended. */
int target_check(pid_t);

/* Path of its program, as it can be opened now; NULL: not known. Caller frees
 * with free(). */
char *target_exe(pid_t);

/* The program that a command runs, by PATH; the same. */
char *target_in_path(const char *name);

/*
 * pid, comm, exe; what is not known is absent. Not its arguments, which are
 * nobody's business. Caller frees with json_free.
 */
struct json *target_describe(pid_t);

#endif
