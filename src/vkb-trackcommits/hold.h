/* A command that runs for as long as its claim is held. */
#ifndef HOLD_H
#define HOLD_H

/*
 * Runs 'beat', this program with the words that prolong the claim, at once and
 * then thrice in each lease (seconds); and, once that went well, 'command',
 * which leads a process group. When the claim is lost, or cannot be prolonged
 * before it ends, or this program dies, the command and its group are stopped.
 * The status to exit with: the command's, 128 and its signal, or 125, 126, 127.
 */
int hold_run(const char *const *beat, const char *const *command, double lease);

#endif
