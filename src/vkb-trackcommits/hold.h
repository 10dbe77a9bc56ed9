/* Runs a command while its claim is held. */
#ifndef HOLD_H
#define HOLD_H

/*
 * Runs 'beat', the arguments of a program that prolongs the claim, at once and
 * three times per lease (seconds). After the first success runs 'command' in
 * its own process group. Stops the group if the claim is lost or not prolonged
 * in time, or if this program ends. Returns the exit status: the command's; 128
 * + its signal; 125 if it was stopped or not started; 126 or 127 if it cannot
 * be run.
 */
int hold_run_command(
    const char *const *beat, const char *const *command, double lease);

#endif
