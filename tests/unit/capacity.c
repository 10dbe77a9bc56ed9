/*
 * The search for a capacity on a simulated server: the error of its results,
 * and how often the 95 % interval contains the true value. Limits of the
 * latency.
 */
#include "capacity.h"
#include "rng.h"
#include "metric.h"
#include "slospec.h"
#include "str.h"
#include "tap.h"

#include <stdlib.h>

enum { SEARCHES = 100 };

/* A server whose trials hold by a percentile that grows towards a limit. */
struct server {
	double capacity;
	double slope;  /* of the trials, as in capacity.h; 0: none is noisy */
	double lapses; /* share of trials that other programs disturb */
	double queue;  /* if above 0: the limit over the latency without load;
			* the latency is that of a queue, with noise */
	struct rng rng;
};

/* A normal number, from twelve uniform ones. */
static double
draw_normal(struct rng *r)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += rng_unit(r);
	return sum;
}

static bool
try_rate(struct server *s, double rate)
{
	double most, x = log(rate / s->capacity);

	if (rng_unit(&s->rng) < s->lapses)
		return false;
	if (s->queue > 0) {
		/* the latency 1 / (1 - rate / most) is 'queue' at capacity */
		most = s->capacity / (1 - 1 / s->queue);
		return rate < most &&
		    exp(s->slope * draw_normal(&s->rng)) / (1 - rate / most) <=
		    s->queue;
	}
	return s->slope > 0 ? rng_unit(&s->rng) < 1 / (1 + exp(x / s->slope))
			    : x <= 0;
}

static struct capacity_answer
search(struct server *s, double start)
{
	struct capacity *c = capacity_new(start);
	struct capacity_answer a;
	double rate;

	while ((rate = capacity_next(c)) > 0)
		capacity_add(c, rate, try_rate(s, rate));
	a = capacity_answer(c);
	capacity_free(c);
	return a;
}

static int
compare_numbers(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Searches many times: the interval covers the true value, and 95 % of the
 * results are near it. */
static void
check_coverage(const char *what, struct server like, double near)
{
	struct server s = like;
	struct capacity_answer a;
	double off[SEARCHES], start;
	size_t covered = 0, most = 0;

	rng_seed(&s.rng, 11, 0);
	for (size_t i = 0; i < SEARCHES; i++) {
		s.capacity = 1000 * exp(5 * rng_unit(&s.rng));
		start = s.capacity * exp(2.4 * rng_unit(&s.rng) - .7);
		a = search(&s, start);
		covered += a.low <= s.capacity && s.capacity <= a.high;
		off[i] = fabs(a.rate / s.capacity - 1);
		most = a.trials > most ? a.trials : most;
	}
	qsort(off, SEARCHES, sizeof *off, compare_numbers);
	tap_ok(covered >= 88,
	    "%s: the interval of 95 %% contains the true value in %zu of %d "
	    "searches",
	    what, covered, SEARCHES);
	tap_ok(off[SEARCHES * 95 / 100] < near && most <= CAPACITY_TRIALS,
	    "%s: the error of 95 of 100 searches is less than %g %% (%.2g %%)",
	    what, 100 * near, 100 * off[SEARCHES * 95 / 100]);
}

static void
check_exact(void)
{
	struct server s = {.capacity = 12345};
	struct capacity_answer a = search(&s, 20000);

	tap_near(a.rate, 12345, .005, "a capacity without noise is found");
	tap_ok(a.low < 12345 && 12345 < a.high && a.high / a.low < 1.035,
	    "its interval is about 3 %% wide");
	tap_ok(a.trials < CAPACITY_TRIALS,
	    "it takes %zu trials, fewer than the limit", a.trials);
	s.capacity = 1e-9;
	a = search(&s, 20000);
	tap_ok(a.held == 0 && a.trials <= CAPACITY_TRIALS,
	    "no trial is within the limit: the result says so");
	s.capacity = 1e99;
	a = search(&s, 20000);
	tap_ok(a.held == a.trials,
	    "all trials are within the limit: the result says so");
	s.capacity = 30;
	tap_near(search(&s, 20000).rate, 30, .01,
	    "a capacity far below the start is found");
	s.capacity = 60000;
	tap_near(search(&s, 20000).rate, 60000, .01,
	    "a capacity above the start is found");
}

/* A larger limit does not give a lower capacity. */
static void
check_order(void)
{
	double last = 0;
	bool rises = true;

	for (double queue = 1.5; queue < 50; queue *= 1.5) {
		struct server s = {.queue = queue, .slope = .05};
		struct capacity_answer a;

		rng_seed(&s.rng, 3, 0);
		s.capacity = 10000 * (1 - 1 / queue);
		a = search(&s, 10000);
		rises &= a.high >= last;
		last = a.low;
	}
	tap_ok(rises, "a larger limit does not give a lower capacity");
}

static void
check_slo(const char *text, const char *form, double limit_ms)
{
	struct slospec s;
	const char *why = slospec_parse(text, &s);
	char *got = why ? NULL : slospec_format(&s);

	tap_ok(form ? got && strcmp(got, form) == 0 && s.limit_ms == limit_ms
		    : why != NULL,
	    "the limit '%s' is %s", text, form ? form : "refused");
	free(got);
}

/* Each percentile that runs have can be limited. */
static void
check_slo_metrics(void)
{
	for (const struct metric *m = metric_table; m->name; m++) {
		struct str text = {0};
		struct slospec s;

		if (!metric_is_percentile(m, "latency_ns"))
			continue;
		metric_write_label(&text, m->name);
		str_add(&text, "<=2ms");
		tap_ok(!slospec_parse(text.s, &s) && s.metric == m,
		    "'%s' limits %s", text.s, m->name);
		str_free(&text);
	}
}

int
main(void)
{
	check_slo_metrics();
	check_exact();
	check_coverage("a sharp limit", (struct server){.slope = .003}, .01);
	check_coverage("a noisy limit", (struct server){.slope = .02}, .04);
	check_coverage("a noisy limit, 1 of 10 trials disturbed",
	    (struct server){.slope = .02, .lapses = .1}, .05);
	check_coverage("a queue whose latency varies by 15 %",
	    (struct server){.slope = .15, .queue = 5, .lapses = .05}, .05);
	check_order();
	check_slo("p99<=1ms", "p99<=1ms", 1);
	check_slo(" p99.9 <= 500 us", "p99.9<=500us", .5);
	check_slo("p50<=0.002s", "p50<=2ms", 2);
	check_slo("max<=2000ms", "max<=2s", 2000);
	check_slo("p95<=1.5ms", "p95<=1.5ms", 1.5);
	check_slo("p99<1ms", NULL, 0);
	check_slo("p98<=1ms", NULL, 0);
	check_slo("p99<=1", NULL, 0);
	check_slo("p99<=0ms", NULL, 0);
	check_slo("p99<=-1ms", NULL, 0);
	check_slo("p99<=61s", NULL, 0);
	check_slo("p99<=1msx", NULL, 0);
	check_slo("<=1ms", NULL, 0);
	check_slo("", NULL, 0);
	return tap_done();
}
