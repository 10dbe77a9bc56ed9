/* The inputs of this program, of which some can be read only once. */
#ifndef INPUTS_H
#define INPUTS_H

/*
 * Notes that a file ("-": stdin) is about to be read. Returns 0, or -1 after
 * reporting that it was noted before and cannot be read again: a pipe, a
 * socket, or stdin.
 */
int inputs_check(const char *file);

#endif
