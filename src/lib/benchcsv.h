/*
 * Reads what valkey-benchmark and redis-benchmark print with --csv: until Redis
 * 6.2 two columns, test and requests/s, without a header; later a header names
 * the columns. Lines before the header are messages and are skipped.
 */
#ifndef BENCHCSV_H
#define BENCHCSV_H

#include <stdbool.h>

#include "csvrows.h"

struct benchcsv;
struct json;

/* Returns true if a text that begins with 'head' is such output. */
bool benchcsv_is(const char *head);

/*
 * Returns the header, else the first line that can be a result, else the end.
 */
const char *benchcsv_start(const char *text);

/*
 * 'head' is the beginning of the text; lines before a header in it are skipped.
 */
struct benchcsv *benchcsv_new(csvrows_line *, void *from, const char *head);
void benchcsv_free(struct benchcsv *);

/*
 * Returns 1 with *title (borrowed until the next call) and *metrics (NAME:
 * number; caller frees), 0 at the end, or -1 on a bad line, after which reading
 * may go on: *why says what is wrong, or is NULL if reading failed and was
 * reported.
 */
int benchcsv_next(struct benchcsv *, const char **title, struct json **metrics,
    const char **why);

#endif
