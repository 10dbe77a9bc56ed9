/* --follow: reads 'spec' records from stdin, writes 'server' records to
 * stdout. */
#ifndef FOLLOW_H
#define FOLLOW_H

struct shared;

/* Runs until the end of stdin or a signal. Returns the exit status, or -1 if
 * the reader of stdout has ended. */
int follow(struct shared *);

#endif
