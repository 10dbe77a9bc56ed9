/* Time. Durations come from CLOCK_MONOTONIC, dates are UTC ISO 8601. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

int64_t clock_ns(void); /* monotonic, ns */

#define CLOCK_ISO 32
char *clock_iso(char buf[CLOCK_ISO]); /* now, 2026-03-02T08:00:00.123Z */
/* The same of seconds since 1970, to the nearest millisecond, and back. */
char *clock_iso_of(char buf[CLOCK_ISO], double seconds);
int clock_seconds(const char *iso, double *seconds); /* 0; -1: it is no such */
/*
 * Any way to write it in ISO 8601, as UTC: 2026-03-02 09:00:00.5+01:00 is
 * 2026-03-02T08:00:00.5Z. What names no zone is taken for UTC. 0; -1: it is no
 * date with a time.
 */
int clock_utc(char buf[CLOCK_ISO], const char *text);
double clock_now(void); /* since 1970 */

/*
 * The day, 2026-03-02, of 'epoch' (seconds since 1970 as a text, what
 * SOURCE_DATE_EPOCH holds), or of now where it is NULL or empty. 0, or -1 and
 * an error is reported.
 */
int clock_today(char buf[CLOCK_ISO], const char *epoch);

/* Milliseconds left until 'deadline' (clock_ns() units), for poll(2); >= 0. */
int clock_left_ms(int64_t deadline_ns);

#endif
