/*
 * How much memory the commands of a load take in a server, before anything is
 * sent: rather too much than too little. Bytes; of a cluster, of all nodes.
 */
#ifndef DEMAND_H
#define DEMAND_H

#include <stdbool.h>
#include <stddef.h>

struct engine_target;
struct engine_work;

struct demand {
	/* Of the load, set by the caller. */
	double keys, size; /* different random numbers; bytes of __data__ */
	double requests;   /* at most; INFINITY: not known */
	double flight;     /* requests without a reply */
	/* Of its commands so far; zeroed at first. */
	double bytes;    /* that they write */
	double elements; /* keys and elements; INFINITY: as many as it has time
			  * for, whose bytes are not included */
	double largest;  /* bytes of a key */
	double waiting;  /* bytes of a request and its reply */
	bool unbounded;  /* an offset is not a number; it is not included */
};

/* Adds a command of n words, n >= 1; one that only reads has a reply. */
void demand_add_command(
    struct demand *, char *const *words, size_t n, bool writes);

/* Adds the commands of a text; nothing if it cannot be split. */
void demand_add_text(struct demand *, const char *text, bool writes);

/* Adds a named test, and what fills the server for it. */
void demand_add_test(struct demand *, const struct engine_target *,
    const struct engine_work *, const char *name);

/* Returns what the load takes, with the requests and replies in flight. */
double demand_bytes(const struct demand *);

#endif
