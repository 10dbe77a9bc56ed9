/* Runs a command, with the server's address in its environment. */
#ifndef COMMAND_H
#define COMMAND_H

struct fleet;
struct shared;

/*
 * Returns the exit status: the command's; 128 + its signal; 125 if the server
 * ended before the command, or a signal stopped it; 126 or 127 if it cannot be
 * run. Errors are reported.
 */
int command_run(struct shared *, struct fleet *, char **argv);

#endif
