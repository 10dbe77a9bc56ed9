/* Time. Durations come from CLOCK_MONOTONIC, dates are UTC ISO 8601. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

int64_t clock_ns(void); /* monotonic, ns */

#define CLOCK_ISO 32
char *clock_iso(char buf[CLOCK_ISO]); /* now, 2026-03-02T08:00:00.123Z */

/* Milliseconds left until 'deadline' (clock_ns() units), for poll(2); >= 0. */
int clock_left_ms(int64_t deadline_ns);

#endif
