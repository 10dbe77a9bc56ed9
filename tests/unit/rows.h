/* Rows of a comparison for the unit tests of what vkb-compare writes. */
#ifndef ROWS_H
#define ROWS_H

#include "tap.h"

#include "str.h"
#include "vkb-compare/report.h"

/* An unpaired row of a metric, judged, without advice. */
__attribute__((unused)) static struct row
row(const char *metric, double ratio)
{
	static struct pairing alone; /* without other rows */

	return (struct row){.name = (char *)metric,
	    .pair = &alone,
	    .metric = metric_guess(metric),
	    .gate = true,
	    .margin = .02,
	    .visible = NAN,
	    .minutes = NAN,
	    .level = NAN,
	    .verdict = VERDICT_INCONCLUSIVE,
	    .facts = {.m = 8,
		.n = 9,
		.method = "mwu-exact",
		.median = {1, 2},
		.ratio = ratio,
		.lo95 = NAN,
		.hi95 = NAN,
		.sd = .01,
		.p = .01}};
}

/* Compares the text, and empties it. */
__attribute__((unused)) static void
check(struct str *s, const char *want, const char *what)
{
	tap_str(s->s ? s->s : "", want, what);
	str_clear(s);
}

#endif
