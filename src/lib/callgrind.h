/*
 * Reads what callgrind counted: files of valgrind --tool=callgrind, as its
 * manual describes them ("Callgrind Format Specification"). All parts of a file
 * are added up. A function is what has one name in one object; a call of a
 * function by itself counts as a call, but its cost is counted once.
 */
#ifndef CALLGRIND_H
#define CALLGRIND_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CALLGRIND_EVENTS 24

struct callgrind_function {
	const char *name, *object; /* "???" where unknown; borrowed */
	uint64_t self[CALLGRIND_EVENTS];
	uint64_t inclusive; /* of the first event, with those of all functions
			       it called */
	uint64_t calls;     /* how often it was called */
};

struct callgrind_call {
	size_t from, to; /* functions */
	uint64_t count;
	uint64_t cost[CALLGRIND_EVENTS]; /* with all functions that these calls
					    ran */
};

struct callgrind {
	char *events[CALLGRIND_EVENTS]; /* "Ir", "Dr", ... */
	size_t nevents;
	uint64_t total[CALLGRIND_EVENTS]; /* sum of all functions' self */
	struct callgrind_function *functions;
	size_t nfunctions;
	struct callgrind_call *calls; /* each pair of functions once */
	size_t ncalls;
	struct intern *texts; /* owns the names */
};

/*
 * Reads the rest of 'in', which messages call 'name', after the first 'line'
 * lines. Returns 0, or -1 after reporting which line is wrong, or that nothing
 * was counted. The caller calls callgrind_free in either case.
 */
int callgrind_read(struct callgrind *, FILE *in, const char *name, size_t line);
int callgrind_open(struct callgrind *, const char *path);
void callgrind_free(struct callgrind *);

#endif
