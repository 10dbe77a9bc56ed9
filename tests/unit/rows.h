/* Rows of a comparison, for unit tests of the output of vkb-compare. */
#ifndef ROWS_H
#define ROWS_H

#include "tap.h"

#include "str.h"
#include "vkb-compare/report.h"

/* A row of a metric that is judged, not paired, and has no advice. */
__attribute__((unused)) static struct row
row(const char *metric, double ratio)
{
	static struct pairing alone; /* there are no other rows */
	static struct metric metrics[64];
	static size_t n;
	struct metric *m = &metrics[n++ % 64];

	*m = metric_guess(metric);
	return (struct row){.name = metric,
	    .pair = &alone,
	    .metric = m,
	    .gate = true,
	    .margin = .02,
	    .visible = NAN,
	    .minutes = NAN,
	    .used = {&sample_none, &sample_none},
	    .model = &model_none,
	    .verdict = VERDICT_INCONCLUSIVE,
	    .facts = {.m = 8,
		.n = 9,
		.method = "runs",
		.median = {1, 2},
		.ratio = ratio,
		.lo95 = NAN,
		.hi95 = NAN,
		.sd = .01,
		.p = .01}};
}

/* Compares the text with the expected one, and empties it. */
__attribute__((unused)) static void
check(struct str *s, const char *want, const char *what)
{
	tap_str(s->s ? s->s : "", want, what);
	str_clear(s);
}

#endif
