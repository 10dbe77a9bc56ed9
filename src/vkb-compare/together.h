/*
 * What the count and the time of a case say together. The count of instructions
 * is exact, and says whether a request takes more work; the throughput, or the
 * latency at a given rate, says what that costs. Neither replaces the other:
 * a build that executes more may be as fast.
 */
#ifndef TOGETHER_H
#define TOGETHER_H

#include <stdbool.h>

struct comparison;
struct row;
struct str;

/*
 * Sets 'together' of all pairs, whose rows have their verdicts: "SET
 * executes 3.3% more instructions per request (+155 in setCommand) and is 2.9%
 * slower [2.1, 3.6]". Drops the functions of a count that did not change.
 */
void together_describe(struct comparison *);

/* Is the row the count of instructions, which is exact? */
bool together_is_work(const struct row *);

/* Is the row the time by which its case is judged unless a policy names
 * another?
 */
bool together_is_time(const struct row *);

/* Returns what accounts for the change of a count, "+155 in setCommand" or
 * "setsockopt 0 -> 1", or NULL. */
const char *together_explain(const struct row *);

/* Is the row the count or the time of the sentence of its case? */
bool together_has(const struct row *);

/* Writes a count with its significant digits: 155, 1745.3, 0.0021. */
void together_write_count(struct str *, double);

/* "3.3% more instructions", "12.5% more bytes per key", "1 more allocation";
 * the row is exact. */
void together_write_exact(struct str *, const struct row *);

#endif
