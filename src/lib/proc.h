/*
 * Child processes: each is held by a pidfd, may lead its own process group, and
 * ends when this program ends, however that ends. So does whatever it has
 * started, even in a session of its own: such processes live until proc_free or
 * the end of this program, and no longer.
 */
#ifndef PROC_H
#define PROC_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PROC_NULL = -2 }; /* /dev/null, in place of a descriptor */

struct proc_spec {
	const char *const *argv;   /* argv[0] is looked up in PATH */
	const char *const *setenv; /* NAME, VALUE, NAME, VALUE, NULL; or NULL */
	bool untrusted;            /* code under test; see below */
	const char *cwd;           /* NULL: inherit */
	int in, out, err;      /* 0: inherit; PROC_NULL; else an fd, borrowed */
	bool group;            /* leads a process group of its own */
	bool session;          /* leads a session of its own */
	int death_signal;      /* sent when this program ends; see below */
	int gate[2];           /* a pipe: the program waits for a byte; or 0 */
	bool no_aslr;          /* ADDR_NO_RANDOMIZE */
	const cpu_set_t *cpus; /* NULL: inherit */
};

/* 'setenv' of programs whose output is parsed: no words or decimal commas of
 * the user's language. */
extern const char *const proc_plain[];

struct proc;

/*
 * An untrusted child runs as the user of runas.h, if there is one, and gets,
 * besides 'setenv', only these variables of the environment, so that no token
 * or password reaches it: PATH, TMPDIR, TZ, LANG, LC_*, LD_*, GLIBC_TUNABLES,
 * MALLOC_*, TCMALLOC_*, MIMALLOC_*, OPENSSL_CONF and the options of the
 * sanitizers.
 */

/*
 * A child that still runs when this program has ended gets the death signal, if
 * there is one, and is killed unless it ends within 20 s.
 *
 * With a gate the child reports itself that its program cannot be executed, and
 * ends with 126, or 127 if there is no such program.
 */

/*
 * Returns NULL after reporting that it cannot be started. A failed exec is such
 * a failure; errno is that of exec (ENOENT: no such program).
 */
struct proc *proc_start(const struct proc_spec *);

/* Starts it with its stdout, whatever 'out' is, in a pipe. Returns the end to
 * read from, which the caller closes, or -1 after reporting as proc_start. */
int proc_pipe(const struct proc_spec *, struct proc **);
pid_t proc_pid(const struct proc *);
int proc_fd(const struct proc *); /* poll: readable after it has ended */

/*
 * Returns 1 if it has ended, *status as from waitpid; 0 if it still runs after
 * timeout_ms (-1: no limit). May be called again after 1.
 */
int proc_wait(struct proc *, int timeout_ms, int *status);

/* Waits for its end. Does anything that it has started still run? True, too, if
 * its reaper was killed. */
bool proc_left(struct proc *);

/* Signals the process, or its group if it leads one. */
void proc_signal(struct proc *, int sig);

/* Sends SIGTERM and, after grace_ms, SIGKILL. Returns the wait status. */
int proc_stop(struct proc *, int grace_ms);

/* Kills it if it runs (SIGKILL), then all that it has started, and frees it.
 * NULL does nothing. */
void proc_free(struct proc *);

/*
 * Runs a program to its end, with proc_plain, and adds its stdout and stderr to
 * *out; 'untrusted' is as above. The program does not outlive this process.
 * Returns 0, or -1 after reporting that it cannot be started or was killed
 * after timeout_ms.
 */
struct str;
int proc_read(const char *const *argv, bool untrusted, int timeout_ms,
    struct str *out, int *status);

/* Returns the path of the program of that name in the folder of this program,
 * or the name, for PATH, if there is none. Caller frees with free(). */
char *proc_beside(const char *name);

/* Runs the program named argv[0] of that folder with proc_read. Returns its
 * exit status; or after reporting it, with the output, -1 if it is above
 * 'worst', -2 if the file 'made' (NULL: any) does not exist then. */
int proc_call(const char **argv, int worst, const char *made, int timeout_ms);

/* Returns the path of a file in ../lib/vkb, seen from that folder, where a
 * library is that servers are run with (caller frees with free()); or NULL with
 * errno. */
char *proc_library(const char *name);

/* Returns the path of the program that exec would take from 'dirs', the value
 * of PATH (caller frees with free()), or NULL with errno: ENOENT, or EACCES if
 * it cannot be run. */
char *proc_find(const char *name, const char *dirs);

/* Does the file begin with "#!"? False if it cannot be read. */
bool proc_is_script(const char *path);

/* Returns the exit status that a shell gives for a wait status: that of the
 * process, or 128 and the signal. */
int proc_exit_status(int status);

/* Returns buf: "exited with 3", "was killed by signal 9 (Killed)". */
const char *proc_ended(int status, char *buf, size_t n);

#endif
