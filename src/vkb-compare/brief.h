/*
 * The cases of a comparison for people, in text and in Markdown: the answer of
 * each in words, its row in a table, the summary of all, and what to do next.
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
struct table;

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

/* The columns that a narrow terminal moves below the row, in this order. */
enum narrow { ALL, NO_FUNCTIONS, NO_WORDS, NO_P50, NO_P99, NO_NAMES };

/* A column that not all reports have. */
enum column { VALUES, CHANGE, P50, P99, WORK, OPTIONAL };

struct layout {
	enum narrow narrow;
	size_t name; /* bytes that a name may have */
	bool has[OPTIONAL];
	const char *title; /* of the values; NULL: they have units */
	size_t width;
	bool legend; /* a mark that needs an explanation was written */
	bool marks;  /* for Markdown: the answer is first, with a mark */
	bool rest;   /* the rest has a column */
};

/* As for table_titles; that of the values is brief_choose_title. */
extern const char *const brief_titles[OPTIONAL];

/* Sets which columns a table of the first n cases has. */
void brief_choose_columns(struct layout *, const struct brief *, size_t n);

/* Adds what a column says of a case. Returns the row that it shows, or NULL. */
const struct row *brief_add_cell(
    struct str *, struct layout *, const struct brief_case *, enum column);

/* Returns the title of the values, NULL if the cases have several metrics. */
const char *brief_choose_title(const struct brief *);

/* Makes a table of the first n cases, whose texts are in the layout. */
struct table *brief_make_table(const struct brief *, struct layout *, size_t n);

/* Adds the changes of the case that no column shows, and what its row has no
 * room for. */
void brief_add_rest(
    struct str *, const struct layout *, const struct brief_case *);

#endif
