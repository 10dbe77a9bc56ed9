/*
 * How a metric changed, in words for people: the same on a terminal and on a
 * page.
 */
#ifndef CHANGETEXT_H
#define CHANGETEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "judge/verdict.h"

struct json;
struct str;

struct changetext {
	const char *metric; /* borrowed */
	double median[2];   /* of the baseline, of the contender */
	double ratio;       /* contender over baseline; NAN: not defined */
	bool exact;         /* counts that are the same in all runs of a side */
	double lo, hi;      /* 95% interval of the ratio; not lo < hi: none */
	/* Judged by the requests that take longer than so many ms: the ratio is
	 * that of their shares before and now; 0: by the value. */
	double slow_ms, slow[2];
};

/* Returns that of a delta or change record, which it borrows from. */
struct changetext changetext_read(const struct json *record);

/* The two values that are shown beside a change, and agree with it: the median
 * of the baseline, and this median changed by the ratio. They are the medians
 * if there is no ratio above 0, or it is that of slow requests. */
void changetext_values(const struct changetext *, double v[2]);

/* Returns "slower", "higher", ... for a ratio. */
const char *changetext_direction(const char *metric, double ratio);

/* Writes a change with its metric: "8.0% slower" or "2.4x faster" of
 * throughput, "p99 12% higher", "p99 up from 0", "p99.9: 1.1% of requests above
 * 0.9 ms, before 0.1%", "3.3% more instructions" of an exact count. */
void changetext_named(struct str *, const struct changetext *);

/* Writes "3.3% more instructions", "12.5% more bytes per key", "1 more
 * allocation" for an exact count. */
void changetext_exact(struct str *, const struct changetext *);

/* Writes "3.3%" or "0.57%" for a ratio: how far it is from 1. */
void changetext_size(struct str *, double ratio);

/*
 * Writes what a table says of a result: "=" for no change, "8.0% slower" or,
 * without words, "-8.0%" for a change, and with words "-1.1% [-3.0, +0.7]" for
 * what is undecided or 'noise'. Writes "~", and returns true, instead of a
 * number that may be one of noise.
 */
bool changetext_cell(struct str *, const struct changetext *, enum verdict,
    bool noise, bool words);

/* Writes "-1.1% [-3.0, +0.7]", "-1.1%" without an interval, or "up from 0"; of
 * slow requests "11.0x [7.2, 16.8]". */
void changetext_interval(struct str *, const struct changetext *);

/* Writes "+8.1%", or "up from 0"; of slow requests as in words. */
void changetext_percent(struct str *, const struct changetext *);

/* Returns what a change record is: "regression", "improvement" or "different",
 * also of a slow change; or "spike". Borrowed. */
const char *changetext_way(const struct json *change);

/* Writes "5d54ab12 to 77aa0b11": the commits of which one made the change;
 * nothing if that is only one. */
void changetext_range(struct str *, const struct json *change);

/* Writes "1 regression, 5 equivalent" for the number of results of each
 * verdict. Returns false, and writes nothing, if there are none. */
bool changetext_counts(struct str *, const size_t count[VERDICTS]);

/* Writes "97.2%" or ">99.9%" for a probability. */
void changetext_chance(struct str *, double probability);

#endif
