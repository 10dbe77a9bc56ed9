/* Runs a command while a server runs, as env(1) would. */
#ifndef COMMAND_H
#define COMMAND_H

struct fleet;
struct shared;

/*
 * The exit status: the command's (128 + its signal), 125 when the server died
 * under it, 126 or 127 when it cannot be run. A reason to halt stops it.
 */
int command_run(struct shared *, struct fleet *, char **argv);

#endif
