/* Time. Durations come from CLOCK_MONOTONIC, dates are UTC ISO 8601. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

int64_t clock_ns(void); /* monotonic, ns */

#define CLOCK_ISO 32
char *clock_iso(char buf[CLOCK_ISO]); /* now, 2026-03-02T08:00:00.123Z */
/* The same for seconds since 1970, to the nearest millisecond. */
char *clock_iso_of(char buf[CLOCK_ISO], double seconds);
/* The inverse. Returns 0, or -1 if the text is not such a time. */
int clock_seconds(const char *iso, double *seconds);
/*
 * Converts a date with a time, in any form of ISO 8601, to UTC: 2026-03-02
 * 09:00:00.5+01:00 is 2026-03-02T08:00:00.5Z. A text without a zone is taken
 * for UTC. Returns 0, or -1 if it is not a date with a time.
 */
int clock_utc(char buf[CLOCK_ISO], const char *text);
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
