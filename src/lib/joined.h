/* What the parts of a run measured, added up exactly; see parts.h. */
#ifndef JOINED_H
#define JOINED_H

#include <stddef.h>

struct json;
struct str;

struct joined {
	struct json *const *v; /* the records of all parts */
	size_t n;
	double
	    seconds; /* time until a given number of requests was made; or 0 */
};

/*
 * Sets metrics, hist, series, errors and bound of a run. Appends to *why what
 * cannot be read.
 */
void joined_set(const struct joined *, struct json *run, struct str *why);

#endif
