/*
 * Makes stacks of a call graph. Callgrind counts what each function called, and
 * what that cost, but not who had called the caller: a cost is shared out
 * among the callers of a function as the costs of their calls of it are. So the
 * sum of each function is exact, and so is what a function spends in another
 * one, but for what is too little to be followed. A chain of three or more
 * functions is an estimate, unless callgrind ran with --separate-callers. This
 * is gprof's assumption (Graham, Kessler & McKusick, gprof: a call graph
 * execution profiler, 1982).
 */
#ifndef UNFOLD_H
#define UNFOLD_H

#include <stddef.h>

struct callgraph;
struct calltree;

/* A sentence about this for readers of a graph. */
#define UNFOLD_NOTE "chains of three or more functions are estimates"

/* A part of all counts below which the calls of a function are not followed. */
#define UNFOLD_LEAST 1e-6

/*
 * Calls that are followed for each graph, beside one for each of its functions
 * and calls, the most costly ones first. Some graphs have more paths from
 * function to function than can be shown.
 */
#define UNFOLD_STEPS 1000000

/*
 * Adds the graph to a column of the tree, below a frame with its name, if it
 * has one. Functions that call each other in a circle are below the one that
 * was called from outside, on the shortest way to each. Returns the counts
 * below frames whose calls were not followed since there were too many; such a
 * call is one frame, which has all of its cost.
 */
double unfold_graph(const struct callgraph *, struct calltree *, size_t column);

#endif
