/* Does all runs of a plan in order; saves each before the next. */
#ifndef SESSION_H
#define SESSION_H

#include "counts.h"
#include "vkb-load/case/context.h"

#include <stdbool.h>

struct builds;
struct plan;
struct results;

struct session_opts {
	const char *order; /* NULL: slices */
	size_t runs;       /* of each case and build; 0: auto */
	double budget_s;   /* of each case, which 'runs' are then the least
			    * of; 0: none */
	struct counts_opts count;
	struct case_context context; /* what does not change, without 'env' */
	const char
	    *command;   /* that was given, without its output file; or NULL */
	bool has_stdin; /* the command reads standard input */
	bool quiet, verbose;
	bool no_lock; /* do not wait for others that measure here */
	bool no_pin;  /* choose no CPUs */
	bool no_env;  /* leave out the env record */
};

/*
 * 0 if every run was measured; -1 if some failed or cannot be run, error
 * reported, or the context's *stop was set.
 */
int session_run(const struct session_opts *, const struct plan *,
    const struct builds *, struct results *);

#endif
