/*
 * Compares the clock of a server with that of this program. Hosts whose clocks
 * differ agree on a time by the clock of a server that they all reach.
 */
#ifndef SERVERCLOCK_H
#define SERVERCLOCK_H

#include <stdint.h>

struct client;

struct server_clock {
	int64_t offset_us; /* its time since 1970 less CLOCK_MONOTONIC */
	double ahead_ms;   /* its time less that of this host */
	double error_ms;   /* both are exact within this: half a round trip */
};

/*
 * Reads the clock by some TIME commands; the fastest one counts. Returns 0, or
 * -1 after reporting an error.
 */
int server_clock_read(struct server_clock *, struct client *, int timeout_ms);

/* Convert between its time in us and clock_ns(). */
int64_t server_clock_us(const struct server_clock *, int64_t ns);
int64_t server_clock_ns(const struct server_clock *, int64_t us);

#endif
