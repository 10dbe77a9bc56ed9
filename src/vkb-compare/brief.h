/*
 * The text report for people: a row for each case with its answer in words, and
 * what to do next. The long report has a row for each metric (text.c).
 */
#ifndef BRIEF_H
#define BRIEF_H

#include <stdbool.h>
#include <stddef.h>

struct comparison;
struct pairing;
struct report;
struct row;
struct str;

/* A case, or what all cases have in common, and its rows. */
struct brief_case {
	const struct pairing *pair;
	const struct row *rows;
	size_t n;
	const struct row *first; /* the metric by which it is judged first */
	const struct row *
	    worst; /* the row that decides the answer; NULL: no row is judged */
};

struct brief {
	const struct comparison *c;
	struct brief_case *v; /* the cases, the worst first */
	size_t n;
};

void brief_write(struct str *, const struct report *, size_t which);

/* Collects the cases of a comparison. Caller frees with free(b.v). */
struct brief brief_collect(const struct comparison *);

/* Adds ", 8 runs each, interleaved" if all cases have the same number of runs.
 */
void brief_add_runs(struct str *, const struct brief *);

/* Adds the command that measures both sides again in a clone that has both
 * commits, on any machine, or nothing. Its configuration is BRIEF_CASES. If
 * only the machine that measured, or who has the passwords, can do so, a
 * sentence that says so is added to *why, and no command. */
void brief_add_again(struct str *, const struct brief *, struct str *why);

#define BRIEF_CASES "cases.jsonl" /* the planned cases, of a workflow */

/* Returns "worse", "likely better", "no change", ...: the answer of a case. */
const char *brief_answer(const struct brief_case *);

/* Adds the answer, with the metric that it is about if the row of the case does
 * not begin with it: "worse: p99". */
void brief_write_answer(struct str *, const struct brief_case *);

/* Is it an answer that people should look at: a change, or a likely one? */
bool brief_is_change(const struct brief_case *);

/* Adds "Worse: SET (8.1% slower). Undecided: p99.9 of GET (runs vary by 51%).
 * No change: 6 cases." Returns the length of the first sentence. */
size_t brief_add_summary(struct str *, const struct brief *);

/* Adds a command that says more about the result, or nothing. */
void brief_add_next(struct str *, const struct brief *, const struct report *);

#endif
