/* Limits of the latency as configurations write them: CAPACITY in
 * vkb-config(5). */
#ifndef SLOSPEC_H
#define SLOSPEC_H

struct metric;

struct slospec {
	const struct metric *metric; /* a percentile of the latency */
	double limit_ms;
	char why[200]; /* the text is not valid */
};

/* Returns NULL, or why the text is not valid, a text of the slospec. */
const char *slospec_parse(const char *text, struct slospec *);

/* Returns the text in its only form. Caller frees. */
char *slospec_format(const struct slospec *);

#endif
