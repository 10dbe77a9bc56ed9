/*
 * A comparison as a report: text for a terminal, Markdown for a pull request,
 * records for other tools. Each adds to a string; equal input, equal bytes.
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "judge.h"

struct casename;
struct str;

void report_text(struct str *, const struct comparison *, size_t n,
    const struct rules *, bool colour);
void report_markdown(
    struct str *, const struct comparison *, size_t n, const struct rules *);
void report_jsonl(
    struct str *, const struct comparison *, size_t n, const struct rules *);

/* Pieces that text and Markdown share. */

/* Rows as people want them: what changed first. Caller frees with free(). */
const struct row **report_order(const struct comparison *);
struct casename *report_names(const struct comparison *);

void report_change(struct str *, const struct row *); /* 0.94x -6.2% [..] */
void report_verdict(struct str *, const struct row *);
/* "1 regression, 5 equivalent (6 rows of 3 cases)" */
void report_counts(struct str *, const struct comparison *);
/* How it was judged, one sentence or two. */
void report_method(
    struct str *, const struct comparison *, const struct rules *);

/* One line each: what a reader must know about the data. */
typedef void report_line(void *arg, const char *text);
void report_warnings(const struct comparison *, const struct casename *,
    report_line *, void *arg);

/* Notes on a row, as a list for people: "client-bound, ..."; may be empty. */
void report_notes(struct str *, const struct row *);

#endif
