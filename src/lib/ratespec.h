/* Rates of requests as configurations write them (RATES in vkb-config(5)), and
 * the schedule of arrivals that follows from one. */
#ifndef RATESPEC_H
#define RATESPEC_H

#include <stdbool.h>

#define RATESPEC_MOST 1e9 /* requests per second */
enum { RATESPEC_STEPS = 1000 };

struct ratespec {
	double from, to; /* requests per second; 0: no rate */
	int steps;       /* 2 or more; 0: a ramp, or constant if from is to */
};

struct json;

/* Returns NULL, or why a number or a text of JSON is not valid; static. NULL is
 * not valid. */
const char *ratespec_read(const struct json *, struct ratespec *);

/*
 * Returns the rate as JSON in its only form: a number if it is constant, else a
 * text. The caller frees it with json_free.
 */
struct json *ratespec_json(const struct ratespec *);

bool ratespec_changes(const struct ratespec *);
double ratespec_mean(const struct ratespec *);
struct ratespec ratespec_scale(const struct ratespec *, double factor);

/*
 * A rate over time: 'from' until the measured time begins, then what the
 * ratespec says, and 'to' after its end. Seconds count from the begin of the
 * schedule.
 */
struct ratespec_timing {
	struct ratespec rate;
	double begin_s, length_s; /* of the measured time; length above 0 */
};

/* Returns how many arrivals are due until a time: the integral of the rate. */
double ratespec_due(const struct ratespec_timing *, double at_s);

/* Returns when that many arrivals are due: the inverse of ratespec_due. */
double ratespec_time(const struct ratespec_timing *, double due);

#endif
