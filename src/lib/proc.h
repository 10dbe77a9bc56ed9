/*
 * Child processes that cannot be lost: each is held by a pidfd, may lead a
 * process group of its own and may die with its parent.
 */
#ifndef PROC_H
#define PROC_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct guard;

struct proc_spec {
	const char *const *argv;   /* argv[0] is looked up in PATH */
	const char *const *setenv; /* NAME, VALUE, NAME, VALUE, NULL; or NULL */
	bool clean;                /* see below */
	const char *cwd;           /* NULL: as it is */
	int in, out, err;          /* 0: inherit; otherwise an fd, borrowed */
	bool group;                /* leads a process group of its own */
	bool session;              /* leads a session of its own */
	struct guard *guard;   /* of its group, until it is freed; or NULL */
	int death_signal;      /* sent when the calling thread ends; 0 none */
	bool no_aslr;          /* ADDR_NO_RANDOMIZE */
	const cpu_set_t *cpus; /* NULL: as it is */
};

struct proc;

/*
 * What is measured is code of others: with 'clean' it gets, besides 'setenv',
 * only these variables of ours, so that no token or password reaches it: PATH,
 * TMPDIR, TZ, LANG, LC_*, LD_*, GLIBC_TUNABLES, MALLOC_*, TCMALLOC_*,
 * MIMALLOC_*, OPENSSL_CONF and the options of the sanitizers.
 */

/*
 * NULL, and said, when it cannot be started; a failed exec is such a failure:
 * errno is that of exec (ENOENT: no such program).
 */
struct proc *proc_start(const struct proc_spec *);
pid_t proc_pid(const struct proc *);
int proc_fd(const struct proc *); /* readable when it has ended */

/*
 * 1 it has ended, *status as from waitpid; 0 it still runs after timeout_ms
 * (-1 waits for ever); may be called again after 1.
 */
int proc_wait(struct proc *, int timeout_ms, int *status);

/* To the process, or to its group where it leads one. */
void proc_signal(struct proc *, int sig);

/* SIGTERM, grace_ms to end, SIGKILL; returns the wait status. */
int proc_stop(struct proc *, int grace_ms);

/* Stops it if it runs (SIGKILL), frees; NULL does nothing. */
void proc_free(struct proc *);

/*
 * Runs it to its end, what it prints (of both kinds) is added to *out.
 * It does not outlive this program. proc_ask does the same in a clean
 * environment, for programs that are code of others. 0, or -1 and said: it
 * cannot be started, or was killed after timeout_ms.
 */
struct str;
int proc_read(
    const char *const *argv, int timeout_ms, struct str *out, int *status);
int proc_ask(
    const char *const *argv, int timeout_ms, struct str *out, int *status);

/* The program of that name in the folder of this one, where there is one; else
 * the name, for PATH. Caller frees with free(). */
char *proc_beside(const char *name);

/* "exited with 3", "was killed by signal 9 (Killed)". */
const char *proc_ended(int status, char *buf, size_t n);

#endif
