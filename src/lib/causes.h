/*
 * Explains the difference between two call graphs A and B. Let a function f be
 * called c(f) times, execute s(f) itself in each call, and call g r(f,g) times
 * in each call. Then v = s + r v is the cost of a call with all that it calls,
 * and because c = roots + c r, the difference of the totals is the sum of
 *
 *	c_B(f) (s_B(f) - s_A(f))               f itself does more in a call,
 *	c_B(f) (r_B(f,g) - r_A(f,g)) v_A(g)    f calls g more often,
 *	(root_B(f) - root_A(f)) v_A(f)         f has no caller on a side.
 *
 * This separates the callers that cause a change from those that only pass it
 * on. A function that A lacks has s and r of B in A, too, which does not change
 * A's total: so its caller is the cause of all that it does. A call of g is
 * assumed to cost the same whoever makes it.
 */
#ifndef CAUSES_H
#define CAUSES_H

#include <stdbool.h>
#include <stddef.h>

struct callgraph;

struct cause_function {
	const char *name;         /* borrowed from the graphs */
	bool unnamed;             /* all functions of an object without one */
	double self[2], calls[2]; /* of A and B; functions of one name added */
	double cost;              /* v of A */
};

struct cause {
	/* Functions. CAUSES_NONE as 'to': 'from' itself; as 'from': 'to'
	 * has no caller on one side. */
	size_t from, to;
	double times[2]; /* calls, or self, in each call of 'from' */
	double change;   /* what it adds to the difference */
};

#define CAUSES_NONE ((size_t)-1)

struct causes {
	struct cause_function *functions;
	size_t nfunctions;
	struct cause *v; /* the largest changes first */
	size_t n;
	double total[2];
};

/*
 * Returns the causes. What functions without a name cause is one cause, because
 * they cannot be told apart in two builds. If the cost of a call cannot be
 * computed, as where a stripped server and a module call each other, each cause
 * is what a function itself executes. The caller calls causes_free.
 */
struct causes *causes_find(
    const struct callgraph *a, const struct callgraph *b);
void causes_free(struct causes *);

/* Replaces the causes by what each function itself executes more or less. */
void causes_take_selves(struct causes *);

#endif
