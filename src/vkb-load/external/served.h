/*
 * What the servers themselves say they have served: the second witness of a
 * load that another program makes.
 */
#ifndef SERVED_H
#define SERVED_H

#include <stdbool.h>
#include <stddef.h>

struct served;
struct target;

/* Since the server started; NAN: it does not say. */
struct served_counts {
	double calls; /* of commands that are load, not control */
	double errors, hits, misses;
};

/* Connections to all primaries, which are kept. NULL, and said. */
struct served *served_open(const struct target *);
void served_close(struct served *);

/* The sums over the servers. 0, or -1 and said. */
int served_read(struct served *, struct served_counts *);

/* Not so is what we, replicas and the start of a client ask, as INFO. */
bool served_is_load(const char *command, size_t n);

#endif
