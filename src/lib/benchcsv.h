/*
 * What valkey-benchmark and redis-benchmark print with --csv, any version:
 * until Redis 6.2 two columns without a header; since then the header says
 * which there are. What stands before a header is talk of the program.
 */
#ifndef BENCHCSV_H
#define BENCHCSV_H

#include <stdbool.h>

#include "csvrows.h"

struct benchcsv;
struct json;

/* Does a text begin so? */
bool benchcsv_is(const char *head);

/* Where its header is, or else the first line that can be a result, or its end.
 */
const char *benchcsv_start(const char *text);

/* 'head': what the text begins with; is there a header in it? */
struct benchcsv *benchcsv_new(csvrows_line *, void *from, const char *head);
void benchcsv_free(struct benchcsv *);

/*
 * 1: a result. *title is borrowed until the next call, *metrics (NAME: number)
 * is the caller's. 0: the end. -1: the line is wrong, and *why says how; NULL:
 * reading failed and said so. Reading may go on.
 */
int benchcsv_next(struct benchcsv *, const char **title, struct json **metrics,
    const char **why);

#endif
