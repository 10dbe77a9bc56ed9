/*
 * Exact counts of callgrind: what functions execute themselves, and what their
 * calls of each other cost. Read from callgrind's files, which count a whole
 * run, or from the profile records of `vkb-load --count`, which count by
 * request.
 */
#ifndef CALLGRAPH_H
#define CALLGRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct json;

struct callgraph_function {
	const char *name; /* as it is shown; several may share it; borrowed */
	bool unnamed;     /* it has no symbol: the name is its object's */
	double self, calls;
	double syscalls; /* that it makes itself; 0 in files of callgrind */
};

struct callgraph_edge {
	size_t from, to; /* functions */
	double calls, cost;
};

struct callgraph {
	char *name;          /* of the case; "" for a file of callgrind */
	struct json *config; /* of the case; NULL: not known */
	char *unit;          /* "instructions per request", ... */
	bool per_request;
	double total; /* sum of all functions' self */
	struct callgraph_function *functions;
	size_t nfunctions;
	struct callgraph_edge *edges;
	size_t nedges;
	struct intern *names; /* owns them */
};

/* The profiles of one side of a comparison, each of another case. */
struct callgraphs {
	struct callgraph *v;
	size_t n, cap;
};

struct callgraph_opts {
	bool addrs;        /* name functions without a symbol by address */
	const char *event; /* of callgrind's; NULL: the first */
};

/* Is this line, the first of a file, one of callgrind's? */
bool callgraph_is_callgrind(const char *line, size_t n);

/*
 * Adds the profile in the rest of 'in', whose first line, number 'line', was
 * read. Returns 0, or -1 after reporting what is wrong.
 */
int callgraph_read_callgrind(struct callgraphs *, FILE *in, const char *name,
    size_t line, const struct callgraph_opts *);

/* Is the record a profile of counts? */
bool callgraph_is_counted(const struct json *rec);

/* Adds the profile of such a record. Returns 0, or -1 after reporting what is
 * wrong with it, at 'where'. */
int callgraph_read_profile(struct callgraphs *, const struct json *rec,
    const char *where, const struct callgraph_opts *);

/* Names the profiles of both sides as reports do: "SET P10". One without a
 * configuration keeps its name, and so do all of a side if two would be the
 * same. */
void callgraph_name_cases(struct callgraphs sides[2]);

/* Returns the profile of this name, or NULL. */
const struct callgraph *callgraph_find(
    const struct callgraphs *, const char *name);

void callgraph_free(struct callgraphs *);

#endif
