/*
 * What the kernel lets us watch, and which setting to change where it does not.
 */
#ifndef ACCESS_H
#define ACCESS_H

#include <stdbool.h>
#include <sys/types.h>

struct json;

struct access {
	long long paranoid; /* kernel.perf_event_paranoid; -9 unknown */
	long long kptr;     /* kernel.kptr_restrict; -9 unknown */
	bool perfmon;       /* CAP_PERFMON or CAP_SYS_ADMIN is held */
	bool ptrace;        /* CAP_SYS_PTRACE, or one of those before 5.9 */
	uid_t us, them;     /* users: ours, and of the process */
};

enum access_sky {
	ACCESS_NONE, /* nothing: access_refusal says why */
	ACCESS_USER, /* what a process does outside of the kernel */
	ACCESS_ALL
};

/* Of a process, or of children of ours: pid 0. */
void access_read(struct access *, pid_t);
enum access_sky access_decide(const struct access *);

/* The reason and the setting, for ACCESS_NONE, or for ACCESS_USER where the
 * kernel's part is wanted. Caller frees with free(). */
char *access_refusal(const struct access *);

/* Are the names of kernel functions hidden? Then what mends it, else NULL. */
const char *access_hidden(const struct access *);

/* For the record; caller frees with json_free. */
struct json *access_describe(const struct access *);

#endif
