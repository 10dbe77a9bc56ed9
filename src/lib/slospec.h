/*
 * Limits of the latency as configurations and options write them: a percentile
 * of the response time and a time, such as p99<=1ms or p99.9<=500us.
 */
#ifndef SLOSPEC_H
#define SLOSPEC_H

struct slospec {
	const char *name;   /* p50, p95, p99, p99.9 or max; static */
	const char *metric; /* p99_latency_ms, ...; static */
	double quantile;    /* .5 to .999; 1: the maximum */
	double limit_ms;
};

/* Returns NULL, or why the text is not valid; static. */
const char *slospec_parse(const char *text, struct slospec *);

/* Returns the text in its only form. Caller frees. */
char *slospec_format(const struct slospec *);

#endif
