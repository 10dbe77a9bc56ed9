/*
 * A child process that restores the settings if this process ends without doing
 * so, for whatever reason.
 */
#ifndef KEEPER_H
#define KEEPER_H

struct keeper;
struct tune;

struct keeper *keeper_start(const struct tune *); /* NULL: error reported */
/* Ends the keeper without restoring and frees it; NULL does nothing. */
void keeper_dismiss(struct keeper *);

#endif
