/*
 * A child process that restores the settings if this process ends without doing
 * so, for whatever reason.
 */
#ifndef SUPERVISOR_H
#define SUPERVISOR_H

struct supervisor;
struct tune;

struct supervisor *supervisor_start(
    const struct tune *); /* NULL: error reported */
/* Ends the supervisor without restoring and frees it; NULL does nothing. */
void supervisor_dismiss(struct supervisor *);

#endif
