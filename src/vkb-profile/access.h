/* What the kernel lets this program profile, and which setting prevents it. */
#ifndef ACCESS_H
#define ACCESS_H

#include <stdbool.h>
#include <sys/types.h>

struct json;

struct access {
	double paranoid;           /* kernel.perf_event_paranoid; NAN unknown */
	double kptr_restrict;      /* kernel.kptr_restrict; NAN unknown */
	bool perfmon;              /* has CAP_PERFMON or CAP_SYS_ADMIN */
	bool ptrace;               /* has CAP_SYS_PTRACE, or 'perfmon' */
	uid_t own_uid, target_uid; /* of this program and of the process */
};

enum access_level {
	ACCESS_NONE, /* nothing; see access_explain_refusal */
	ACCESS_USER, /* user space only */
	ACCESS_ALL   /* user space and kernel */
};

/* Reads the permissions for a process; pid 0: for children of this one. */
void access_read(struct access *, pid_t);
enum access_level access_decide(const struct access *);

/*
 * Returns why access is refused and which setting allows it, for ACCESS_NONE,
 * or for ACCESS_USER if the kernel is to be profiled too. Caller frees with
 * free().
 */
char *access_explain_refusal(const struct access *);

/* Returns how to make kernel function names visible; NULL if they are. */
const char *access_explain_hidden(const struct access *);

/* Returns the permissions for the record; caller frees with json_free. */
struct json *access_describe(const struct access *);

#endif
