/* The CPUs on which servers and client threads of a session run. */
#ifndef PINNING_H
#define PINNING_H

#include <stdbool.h>

struct extserver;
struct schedule;

struct pinning_how {
	bool none; /* choose no CPUs: another program may choose the same */
	bool elsewhere; /* servers are started on another machine, where
			 * vkb-serve chooses their CPUs */
	bool quiet;
	const struct extserver *external; /* that runs already, or NULL */
};

/*
 * Checks that this machine has the CPUs that cases name, and chooses some for
 * the cases that name none, see placement.h. Says once if threads share CPUs.
 * Returns 0, or -1, error reported.
 */
int pinning_choose(struct schedule *, const struct pinning_how *);

#endif
