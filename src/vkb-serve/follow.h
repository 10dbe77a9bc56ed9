/* The coprocess: 'spec' records on stdin, 'server' records on stdout. */
#ifndef FOLLOW_H
#define FOLLOW_H

struct shared;

/* Until the end of stdin, or a reason to stop. The exit status; EPIPE: -1. */
int follow(struct shared *);

#endif
