/* Time. Durations come from CLOCK_MONOTONIC, dates are UTC ISO 8601. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stddef.h>
#include <stdint.h>

int64_t clock_ns(void); /* monotonic, ns */

#define CLOCK_ISO 32
char *clock_iso(char buf[CLOCK_ISO]); /* now, 2026-03-02T08:00:00.123Z */
/* The same for seconds since 1970, to the nearest millisecond. */
char *clock_iso_of(char buf[CLOCK_ISO], double seconds);

enum clock_precision { CLOCK_DAY, CLOCK_MINUTE, CLOCK_SECOND };

struct clock_parts {
	enum clock_precision precision; /* to which the text has it */
	long long seconds;              /* since 1970, from its beginning */
	int second;       /* 60 in a leap second, which 'seconds' has not */
	const char *part; /* of a second, as ".5"; borrowed from the text */
	size_t npart;
	long offset; /* seconds that its zone is ahead of UTC */
};

/*
 * Parses a date in any form of ISO 8601: 2026-03-02, 2026-03-02T08:00 or
 * 2026-03-02 09:00:00.5+01:00. A text without a zone is taken for UTC. Returns
 * 0, or -1 if it is not a date.
 */
int clock_parse(struct clock_parts *, const char *text);

/* Writes it as 2026-03-02T08:00:00.5Z. Returns 0, or -1 if it has another year
 * than 0 to 9999, or a point without digits behind it. */
int clock_utc_of(char buf[CLOCK_ISO], const struct clock_parts *);

/* The same of a text, and its seconds since 1970. Return 0, or -1 if the text
 * is not a date with a time that has seconds. */
int clock_utc(char buf[CLOCK_ISO], const char *text);
int clock_seconds(const char *text, double *seconds);

double clock_now(void); /* seconds since 1970 */

/*
 * Writes the day, 2026-03-02, of 'epoch' (seconds since 1970 as a text, as in
 * SOURCE_DATE_EPOCH), or of now if it is NULL or empty. Returns 0, or -1 and an
 * error is reported.
 */
int clock_today(char buf[CLOCK_ISO], const char *epoch);

/* Milliseconds left until 'deadline' (clock_ns() units), for poll(2); >= 0. */
int clock_left_ms(int64_t deadline_ns);

#endif
