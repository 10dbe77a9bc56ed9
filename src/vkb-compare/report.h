/*
 * Reports of comparisons: text for a terminal, Markdown for a pull request,
 * records for other tools. Each writer appends to a string, and writes equal
 * bytes for equal input.
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "changetext.h"
#include "judge.h"
#include "shift.h"

struct json;
struct str;
struct table;

enum report_kind { REPORT_FAILED, REPORT_UNMATCHED, REPORT_ENV, REPORT_NOTE };

struct warning { /* about the data of a comparison, one line */
	enum report_kind kind;
	char *text;
};

struct report {
	const struct comparison *c; /* one for each contender */
	size_t n;
	const struct rules *rules;
	bool fails[VERDICTS]; /* judged rows with this verdict fail */
	bool fails_missing;   /* cases that the contender lacks fail */
	const char *explain;  /* text: the case that is explained; or NULL */
	bool verbose;         /* text has a row for each metric */
	bool shift;           /* text shows the shifts */
	bool spread;          /* rows have mean, sd and CV of each side */
	bool colour;          /* text has colours */
	size_t width;         /* of the terminal; 0: no limit */
	/* For the proposed commands; NULL if not known. */
	const char *config;     /* file of what was measured */
	const char *base;       /* file of the baseline */
	const char *repository; /* folder or URL of the commits */
	const char *cache;      /* folder of the builds */
};

typedef void report_write(struct str *, const struct report *);

/*
 * All formats: NAME is written by report_NAME, which stands in a file NAME.c of
 * its own. The second word says when a format needs the histograms, to show how
 * the latencies shifted.
 */
#define REPORT_FORMATS(FORMAT)          \
	FORMAT(text, SHIFTS_BY_OPTION)  \
	FORMAT(markdown, SHIFTS_ALWAYS) \
	FORMAT(jsonl, SHIFTS_ALWAYS)    \
	FORMAT(csv, SHIFTS_NEVER)       \
	FORMAT(junit, SHIFTS_NEVER)     \
	FORMAT(annotations, SHIFTS_NEVER)

enum report_shifts { SHIFTS_NEVER, SHIFTS_BY_OPTION, SHIFTS_ALWAYS };

#define REPORT_DECLARE(name, shifts) report_write report_##name;
REPORT_FORMATS(REPORT_DECLARE)

/* Pieces for the writers, which must escape them: names are as in the input. */

/* Does the row make the exit status 1? */
bool report_row_fails(const struct report *, const struct row *);

/* "-" for a regression, "+", "~", "=" or "?"; the colour of a terminal, or
 * NULL; the symbol in Markdown. VERDICTS: " ", and no colour. */
const char *report_sign(enum verdict);
const char *report_colour(enum verdict);
const char *report_mark(enum verdict);
/* The colour of a row; NULL if it is not judged. */
const char *report_row_colour(const struct row *);

/* Is the row judged and not waived? */
bool report_is_judged(const struct row *);
/* Is it a count that is the same in all runs of a side? */
bool report_is_exact(const struct row *);
/* Is it undecided, also for too few runs, and does it look worse: by a tenth,
 * or certainly by something? */
bool report_seems_worse(const struct row *);
/* Is noise the reason, and would more runs not help within an hour? */
bool report_is_hopeless(const struct row *);
/* Adds why a row is undecided: "runs vary by 51%", "sessions differ". */
void report_reason(struct str *, const struct row *);

/* Writes the label of a metric, whose name may come from anywhere. */
void report_label(struct str *, const char *metric);
/* Writes 12 digits, or nothing for NAN. */
void report_number(struct str *, double);

/*
 * Writes the result in a few sentences: what limits it, brief_add_summary, and
 * report_outlook.
 */
void report_headline(struct str *, const struct comparison *);

/* Returns why a canary makes the report worthless, or NULL: none does. */
const char *report_find_canary(const struct comparison *);
/* What limits the whole report: a canary that changed, and report_same_server.
 */
void report_caution(struct str *, const struct comparison *);
/* The end of the headline: what other programs did, what would make unclear
 * results clear, failed runs, missing cases, and what likely regressions do to
 * the job. */
void report_outlook(struct str *, const struct comparison *);
/* Writes that both sides are the same server, by the SHA-256 of its file, and
 * how much they differ then; writes nothing if they are not. */
void report_same_server(struct str *, const struct comparison *);
/* One sentence about a row, without its name. */
void report_sentence(struct str *, const struct row *);
/* Why a side of a case was not compared, or only in part. */
void report_lost_case(struct str *, const struct pairing *, size_t side);

/* "only the baseline has throughput (2 cases)" */
void report_one_sided(struct str *, const struct one_sided_gate *);

/* How many cases, and judged metrics of other cases, the contender lacks. */
size_t report_count_missing(const struct comparison *);

/* Returns the position of a row in reports: 0 needs most attention. */
size_t report_rank(const struct row *);
/* Compares two rows of a comparison by this, then by the size of the change. */
int report_compare(const struct row *, const struct row *);

/* The rows sorted for people: changes first. Caller frees with free(). */
const struct row **report_order(const struct comparison *);

/* Is the change that is shown that relative to the other cases, and not the
 * whole one? It is where the whole one is unclear, or within the margin. */
bool report_is_by_rest(const struct row *);
/* What changetext.h needs of a row; it borrows the name. */
struct changetext report_changetext(const struct row *);
/* The same of its change relative to the other cases, and of that of both which
 * is shown. */
struct changetext report_rest(const struct row *);
struct changetext report_shown(const struct row *);
/* The two values that are shown beside a change: see changetext_values. */
void report_values(const struct row *, double v[2]);
/* "-6.2% [-6.5, -5.9]" */
void report_change(struct str *, const struct row *);
void report_verdict(struct str *, const struct row *);
/* Returns the smallest relative change that an unclear row can show; NAN: it is
 * not known. */
double report_find_visible(const struct row *);
/* Writes that such a change of the row could be seen: "only changes above 12%
 * could be seen", or "above 3.1x", with 'of' behind "changes". */
void report_visible(
    struct str *, const struct row *, double visible, const char *of);
/* Fills mean, standard deviation and coefficient of variation, as a fraction,
 * of the runs of a side; NAN: unknown, as the last two for one run. */
enum { REPORT_SPREAD = 3 };
void report_get_spread(const struct row *, size_t side, double[REPORT_SPREAD]);
/* "1 regression, 5 equivalent (6 results of 3 cases)" */
void report_counts(struct str *, const struct comparison *);
/* "Judged: throughput, p50."; nothing if no metric was judged. */
void report_judged(struct str *, const struct comparison *);
/* "Overall throughput: 0.97x [0.95, 0.99], geometric mean of 3 cases", with the
 * first word as given. Returns false, and writes nothing, if it would be the
 * mean of one case. */
bool report_overall(struct str *, const struct overall *, const char *first);
/* "allowing 3% between sessions (virtual machine)": how much sessions differ
 * that are not measured here, and how that is known.
 */
void report_sessions(struct str *, const struct metric_facts *);
/* The statistical method, in a few sentences. */
void report_method(
    struct str *, const struct comparison *, const struct rules *);

/* Makes the warnings about the data, or copies those of the record that the
 * comparison was read from; free them with warnings_free. */
void warnings_new(struct comparison *);
/* The same as an array of a record: kind, text. Caller frees. */
struct json *warnings_describe(const struct warnings *);
void warnings_free(struct warnings *);

/* The columns that are left out of a narrow table, in this order. */
enum report_narrow {
	REPORT_WIDE,
	REPORT_NO_NOTES,
	REPORT_NO_RUNS,
	REPORT_NO_REASON,
	REPORT_NO_MEDIANS,
	REPORT_NO_INTERVAL
};

/* Makes a table with a row for each metric of each case, sorted for people:
 * 'spread' as in struct report, 'marks' for Markdown. */
struct table *report_make_table(
    const struct comparison *, bool spread, enum report_narrow, bool marks);

/* "SET, latency_ns in ms"; the percentiles of both sides; the distance of the
 * histograms. */
void report_shift_title(struct str *, const struct shift *);
struct table *report_make_shift_table(const struct shift *);
void report_distance(struct str *, const struct shift *);

/* Explains the verdicts of a case, from the runs on. */
void explain_case(struct str *, const struct report *, size_t which);

/* Returns -1, after reporting it, if no comparison has the case (or NULL: 0).
 */
int explain_check(const struct comparison *, size_t n, const char *name);

/* Notes on a row: "client-bound, ..."; may be empty. */
void report_notes(struct str *, const struct row *);

/*
 * What the count and the time of a case say together. The count of instructions
 * is exact, and says whether a request takes more work; the throughput, or the
 * latency at a given rate, says what that costs. Neither replaces the other:
 * a build that executes more may be as fast.
 */

/*
 * Sets 'together' of all pairs, whose rows have their verdicts: "SET
 * executes 3.3% more instructions per request (+155 in setCommand) and is 2.9%
 * slower [2.1, 3.6]". Drops the functions of a count that did not change.
 */
void report_describe_together(struct comparison *);

/* Is the row the count of instructions, which is exact? */
bool report_is_work(const struct row *);

/* Returns what accounts for the change of a count, "+155 in setCommand" or
 * "setsockopt 0 -> 1", or NULL. */
const char *report_functions(const struct row *);

/* Is the row the count or the time of the sentence of its case? */
bool report_has_together(const struct row *);
#endif
