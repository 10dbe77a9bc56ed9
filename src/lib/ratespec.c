#include "ratespec.h"
#include "json.h"
#include "mem.h"
#include "num.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GRAMMAR                                                             \
	"use N, A-B (a ramp) or A-B/STEPS, in requests per second above 0 " \
	"and "                                                              \
	"up to 1,000,000,000"

static bool
is_rate(double v)
{
	return v > 0 && v <= RATESPEC_MOST;
}

/* Parses the first n characters as a rate. Returns 0 or -1. */
static int
parse_rate(const char *text, size_t n, double *v)
{
	char *own = mem_strn(text, n);
	int rc = num_real(own, v);

	free(own);
	return rc == 0 && is_rate(*v) ? 0 : -1;
}

static const char *
parse_text(const char *text, struct ratespec *r)
{
	const char *dash = strchr(text, '-'), *slash = strchr(text, '/');
	long long steps = 0;

	*r = (struct ratespec){0};
	if (!dash)
		return parse_rate(text, strlen(text), &r->to) < 0
		    ? GRAMMAR
		    : (r->from = r->to, NULL);
	if (slash && slash < dash)
		return GRAMMAR;
	if (!slash)
		slash = dash + strlen(dash);
	if (parse_rate(text, (size_t)(dash - text), &r->from) < 0 ||
	    parse_rate(dash + 1, (size_t)(slash - dash - 1), &r->to) < 0)
		return GRAMMAR;
	if (r->from == r->to)
		return "a ramp needs two different rates";
	if (*slash &&
	    (num_int(slash + 1, &steps) < 0 || steps < 2 ||
		steps > RATESPEC_STEPS))
		return "the number of steps is an integer from 2 to 1000";
	r->steps = (int)steps;
	return NULL;
}

const char *
ratespec_read(const struct json *v, struct ratespec *r)
{
	double d = json_num(v, NAN);

	*r = (struct ratespec){0};
	if (json_str(v))
		return parse_text(json_str(v), r);
	if (!is_rate(d))
		return GRAMMAR;
	r->from = r->to = d;
	return NULL;
}

struct json *
ratespec_json(const struct ratespec *r)
{
	struct json *j;
	char *text;

	if (!ratespec_changes(r))
		return json_number(r->from);
	text = r->steps ? mem_printf("%.15g-%.15g/%d", r->from, r->to, r->steps)
			: mem_printf("%.15g-%.15g", r->from, r->to);
	j = json_string(text);
	free(text);
	return j;
}

bool
ratespec_changes(const struct ratespec *r)
{
	return r->from != r->to;
}

double
ratespec_mean(const struct ratespec *r)
{
	return (r->from + r->to) / 2;
}

struct ratespec
ratespec_scale(const struct ratespec *r, double factor)
{
	return (struct ratespec){r->from * factor, r->to * factor, r->steps};
}

/* Returns the rate of step i. */
static double
get_step(const struct ratespec *r, int i)
{
	return r->from + (r->to - r->from) * i / (r->steps - 1);
}

/* Returns the arrivals of the first i steps, in units of a step's length. */
static double
sum_steps(const struct ratespec *r, int i)
{
	return i * (r->from + (i ? get_step(r, i - 1) : r->from)) / 2;
}

double
ratespec_due(const struct ratespec_timing *c, double at_s)
{
	const struct ratespec *r = &c->rate;
	double t = at_s - c->begin_s, before = r->from * c->begin_s, x;
	int i;

	if (t <= 0 || !ratespec_changes(r))
		return r->from * at_s;
	if (t >= c->length_s)
		return before + ratespec_mean(r) * c->length_s +
		    r->to * (t - c->length_s);
	if (!r->steps)
		return before +
		    (r->from + (r->to - r->from) * t / (2 * c->length_s)) * t;
	x = t / c->length_s * r->steps;
	i = (int)x < r->steps ? (int)x : r->steps - 1;
	return before +
	    (sum_steps(r, i) + (x - i) * get_step(r, i)) * c->length_s /
	    r->steps;
}

/* Returns the place in the steps, in steps, that has that many arrivals. */
static double
find_step(const struct ratespec *r, double due)
{
	int low = 0, high = r->steps - 1, mid;

	while (low < high) {
		mid = (low + high + 1) / 2;
		if (sum_steps(r, mid) <= due)
			low = mid;
		else
			high = mid - 1;
	}
	return low + (due - sum_steps(r, low)) / get_step(r, low);
}

double
ratespec_time(const struct ratespec_timing *c, double due)
{
	const struct ratespec *r = &c->rate;
	double before = r->from * c->begin_s, all, square;

	if (due <= before || !ratespec_changes(r))
		return due / r->from;
	due -= before;
	all = ratespec_mean(r) * c->length_s;
	if (due >= all)
		return c->begin_s + c->length_s + (due - all) / r->to;
	if (r->steps)
		return c->begin_s +
		    find_step(r, due * r->steps / c->length_s) * c->length_s /
		    r->steps;
	/* The root of the quadratic that does not cancel. */
	square = r->from * r->from + 2 * (r->to - r->from) / c->length_s * due;
	return c->begin_s + 2 * due / (r->from + sqrt(square));
}
