/* Rates that change: their grammar, and the schedule of requests. */
#include "json.h"
#include "ratespec.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *
parse(const char *text, struct ratespec *r)
{
	struct json *j = json_string(text);
	const char *why = ratespec_read(j, r);

	json_free(j);
	return why;
}

static void
check_form(const char *text, const char *form)
{
	struct ratespec r;
	const char *why = parse(text, &r);
	struct json *j = why ? NULL : ratespec_json(&r);
	char *got = j ? json_print(j) : NULL, name[80];

	snprintf(
	    name, sizeof name, "'%s' is %s", text, form ? form : "refused");
	tap_str(got ? got : "refused", form ? form : "refused", name);
	free(got);
	json_free(j);
}

/* Sums the rate in small steps, without the formulas of the library. */
static double
integrate(const struct ratespec_timing *c, double end)
{
	const struct ratespec *r = &c->rate;
	double sum = 0, t, share, rate;
	enum { PARTS = 200000 };

	for (int i = 0; i < PARTS; i++) {
		t = (i + .5) / PARTS * end;
		share = (t - c->begin_s) / c->length_s;
		share = share < 0 ? 0 : share > 1 ? 1 : share;
		if (r->steps)
			share = fmin(floor(share * r->steps), r->steps - 1) /
			    (r->steps - 1);
		rate = r->from + (r->to - r->from) * share;
		sum += rate * end / PARTS;
	}
	return sum;
}

static void
check_timing(const char *text)
{
	struct ratespec_timing c = {.begin_s = .5, .length_s = 2};
	double worst = 0, back = 0, t, due;
	bool rises = true;
	char name[120];

	parse(text, &c.rate);
	for (t = .05; t < 3; t += .05) {
		due = ratespec_due(&c, t);
		worst = fmax(worst, fabs(due / integrate(&c, t) - 1));
		back = fmax(back, fabs(ratespec_time(&c, due) - t));
		rises &= ratespec_due(&c, t + .01) > due;
	}
	snprintf(name, sizeof name,
	    "%s: the requests that are due are the integral of the rate, "
	    "within .1 %%",
	    text);
	tap_ok(worst < .001 && rises, "%s", name);
	snprintf(name, sizeof name,
	    "%s: the time of an arrival is the inverse of this integral", text);
	tap_ok(back < 1e-9, "%s", name);
	tap_near(ratespec_due(&c, 2.5) - ratespec_due(&c, .5),
	    2 * ratespec_mean(&c.rate), 1e-9,
	    "the measured time has the mean rate");
}

int
main(void)
{
	struct ratespec r, half;

	check_form("1000", "1000");
	check_form("1e3", "1000");
	check_form("1000-50000", "\"1000-50000\"");
	check_form("50000-1000/5", "\"50000-1000/5\"");
	check_form("1000.50-2e3/1000", "\"1000.5-2000/1000\"");
	check_form("1000-1000", NULL);
	check_form("0-1000", NULL);
	check_form("-5", NULL);
	check_form("1000-", NULL);
	check_form("1000-2000/", NULL);
	check_form("1000-2000/1", NULL);
	check_form("1000-2000/1001", NULL);
	check_form("1000-2000/2.5", NULL);
	check_form("1000/5", NULL);
	check_form("1000-2000000000", NULL);
	check_form("1/2-3", NULL);
	check_form("", NULL);
	check_timing("1000-50000");
	check_timing("50000-10");
	check_timing("1000-5000/5");
	check_timing("900-3/2");
	parse("100-300/3", &r);
	half = ratespec_scale(&r, .5);
	tap_ok(half.from == 50 && half.to == 150 && half.steps == 3,
	    "a rate is scaled");
	return tap_done();
}
