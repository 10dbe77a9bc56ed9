/*
 * A comparison as a report: text for a terminal, Markdown for a pull request,
 * records for other tools. Each adds to a string; equal input, equal bytes.
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "judge.h"
#include "shift.h"

struct casename;
struct str;

struct report {
	const struct comparison *c;  /* one for each contender */
	const struct shifts *shifts; /* as many */
	size_t n;
	const struct rules *rules;
	bool fails[VERDICTS]; /* judged rows of these: the answer is no */
	bool fails_missing;   /* so is a case that the contender lacks */
	bool shift;           /* text has the shifts */
	bool colour;          /* of text */
	size_t width;         /* of the terminal; 0: no limit */
};

typedef void report_write(struct str *, const struct report *);

report_write report_text, report_markdown, report_jsonl, report_csv,
    report_junit, report_openmetrics, report_annotations, report_sarif;

/* Pieces that they share. Names in them are as they came. */

/* Does the row make the answer no? */
bool report_fails(const struct report *, const struct row *);

/* It is judged, and not waived. */
bool report_counted(const struct row *);
/* Ten times the runs, and more than anybody makes: no advice. */
bool report_hopeless(const struct row *);

/* 12 digits, for other programs; nothing for NAN. */
void report_number(struct str *, double);
const char *report_better(const struct row *); /* "higher", ... */

/*
 * The whole in one sentence: what changed, how much, how sure, what to do next.
 */
void report_headline(
    struct str *, const struct comparison *, const struct casename *);
/* The verdict that says most of all judged rows; VERDICTS: there are none. */
enum verdict report_outcome(const struct comparison *);
/* A row in one sentence, without its name. */
void report_sentence(struct str *, const struct row *);
/* Why a case of one side was not compared, or not wholly. */
void report_lost(
    struct str *, const struct kase *, size_t side, const char *name);

/* A judged metric of one side. */
void report_lonely(struct str *, const struct lonely *);

/* Cases, and metrics of the others, that the contender lacks. */
size_t report_missing(const struct comparison *);

/* Rows as people want them: what changed first. Caller frees with free(). */
const struct row **report_order(const struct comparison *);

/* "1.07x slower -6.2% [-6.5, -5.9]" */
void report_change(struct str *, const struct row *);
void report_verdict(struct str *, const struct row *);
/* "1 regression, 5 equivalent (6 rows of 3 cases)" */
void report_counts(struct str *, const struct comparison *);
/* "Judged: rps, p50_latency_ms."; nothing where nothing is. */
void report_judged(struct str *, const struct comparison *);
/* How it was judged, one sentence or two. */
void report_method(
    struct str *, const struct comparison *, const struct rules *);

/* One line each: what a reader must know about the data. */
enum report_kind { REPORT_FAILED, REPORT_UNMATCHED, REPORT_ENV, REPORT_NOTE };
typedef void report_line(void *arg, enum report_kind, const char *text);
void report_warnings(const struct comparison *, const struct casename *,
    report_line *, void *arg);

/* "1.07x [1.06, 1.08]" of a percentile; how far the histograms are apart. */
void report_ratio(struct str *, const struct shift_line *);
void report_distance(struct str *, const struct shift *);

/* Notes on a row, as a list for people: "client-bound, ..."; may be empty. */
void report_notes(struct str *, const struct row *);

#endif
