/* The process between a child of proc.c and this program; for proc.c. */
#ifndef PROCREAPER_H
#define PROCREAPER_H

struct proc_spec;

/*
 * Runs in a child of reaper_fork: starts the process of the spec, whose error
 * of exec goes to the pipe 'error', and adopts what that starts and leaves (as
 * a "child subreaper"). Sends two packets of one int to 'socket': the pid, or
 * the negative errno of fork; and the wait status, when it has ended. It does
 * not reap it, so that its pid and process group cannot be of others. When the
 * other end of the socket is closed, it ends all that is left, and exits with
 * 0; with 1 if something does not end.
 */
_Noreturn void procreaper_run(const struct proc_spec *, int socket, int error);

#endif
