/*
 * The reference server that vkb-load --reference measures beside each run. What
 * a machine does to a block, it does to the reference too: between sessions the
 * ratios of throughput and CPU time to it vary much less than these themselves.
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdbool.h>

struct comparison;
struct pairing;
struct str;

enum reference_state {
	REFERENCE_NONE,  /* a side has none, or the sides share a session: the
			  * values themselves are compared */
	REFERENCE_OTHER, /* the sides have different ones, so these too */
	REFERENCE_SAME,  /* the ratios to it are compared in their place */
	REFERENCE_ANY    /* both: the runs are not compared, but calibrated */
};

/* Returns the state of a case that both sides have. */
enum reference_state reference_compare(const struct pairing *);

/* Is the metric judged by its ratio, which both sides have? Sides that were
 * measured before a metric had one are judged by the metric itself. */
bool reference_replaces(const struct pairing *, const char *metric);

/*
 * Append the sentence on the reference to which ratios are compared, and the
 * warning of two references, or nothing.
 */
void reference_describe(struct str *, const struct comparison *);
void reference_warn(struct str *, const struct comparison *);

#endif
