/*
 * A process of its own that restores the settings when this one ends without
 * having done it, however it ends.
 */
#ifndef KEEPER_H
#define KEEPER_H

struct keeper;
struct tune;

struct keeper *keeper_start(const struct tune *); /* NULL, and said */
/* All is restored; taken; NULL does nothing. */
void keeper_dismiss(struct keeper *);

#endif
