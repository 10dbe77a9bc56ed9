/*
 * When a case with a budget ends: what a metric says, and a case of several;
 * and simulated sessions of two equal and of two different builds.
 */
#include "judge/model.h"
#include "judge/sheet.h"
#include "tap.h"

#include "json.h"
#include "metric.h"
#include "normal.h"
#include "rng.h"
#include "str.h"
#include "tdist.h"
#include "vkb-load/plan/benchcase.h"
#include "vkb-load/session/deciding.h"

#include <stdlib.h>

static bool
is(struct deciding_view v, enum deciding_state state)
{
	return v.state == state;
}

/* Values whose intervals can be worked out by hand. */
static void
one_build(void)
{
	static const double same[] = {7, 7, 7}, zeros[8] = {0};
	static const double three[] = {90, 100, 110};
	static const double nine[] = {5, 3, 1, 9, 7, 2, 8, 6, 4};
	static const double gap[] = {5, NAN, 3, 1, 9, 7, 2, 8, 6, 4};
	double mean = log(90. * 100 * 110) / 3, squares = 0, half, wide;

	tap_ok(isinf(deciding_measure(NULL, 0, 1).width) &&
		isinf(deciding_measure(three, 2, 1).width) &&
		is(deciding_measure(three, 2, 1), DECIDING_OPEN),
	    "fewer than three values have no interval, and leave it open");
	for (size_t i = 0; i < 3; i++) /* t on logarithms */
		squares += pow(log(three[i]) - mean, 2);
	half = 4.302652729911275 * sqrt(squares / 2 / 3);
	wide = (exp(mean + half) - exp(mean - half)) / 200;
	tap_near(deciding_measure(three, 3, .05).width, wide, 1e-9,
	    "three values: t, by the median");
	tap_ok(is(deciding_measure(three, 3, wide + .001), DECIDING_SAME) &&
		is(deciding_measure(three, 3, wide - .001), DECIDING_OPEN),
	    "one build is decided when its interval lies within the margin");
	/* l = 2 of 9 covers .961. */
	tap_near(deciding_measure(nine, 9, .05).width, (8. - 2) / 2 / 5, 1e-12,
	    "nine values: the second from either end");
	tap_near(deciding_measure(gap, 10, .05).width, (8. - 2) / 2 / 5, 1e-12,
	    "a missing run is left out");
	tap_ok(is(deciding_measure(same, 3, .02), DECIDING_SAME) &&
		is(deciding_measure(zeros, 8, .02), DECIDING_SAME),
	    "equal values are known exactly");
}

/* Returns how sure the model is of a change, with eight rounds of one case. */
static double
find_sure(const double *x, const double *y)
{
	struct sheet *s = sheet_new(1, false);
	struct model_metric unused;
	struct model_row *row;
	double p;

	for (int i = 0; i < 16; i++)
		sheet_add(s, 0, i / 8, i < 8 ? x[i] : y[i - 8], 0, i % 8);
	row = sheet_rows(s);
	model_judge(row, 1, &(struct model_prior){.df = 1}, &unused);
	p = fmax(row->down, row->up);
	sheet_free(s);
	return p;
}

static void
two_builds(void)
{
	int seen = 0, wrong = 0;
	static const double up[] = {
	    99.13, 110.41, 121.07, 104.53, 115.59, 110.83, 109.97, 110.29};
	static const double near[] = {
	    99.5, 100.5, 100.2, 99.8, 100, 100.1, 99.9, 100};
	double base[8], zeros[8] = {0}, y[8], gap[8], mean = 0, squares = 0;
	double clear[8], half;

	for (size_t i = 0; i < 8; i++) {
		base[i] = 100;
		clear[i] = 110 + (up[i] - 110) / 3;
		mean += log(up[i] / 100) / 8;
	}
	for (size_t i = 0; i < 8; i++)
		squares += pow(log(up[i] / 100) - mean, 2);
	half = sqrt(squares / 7 / 8);
	tap_near(deciding_compare(base, up, 8, false, .02).width,
	    sinh(half * tdist_quantile(.975, 7)), 1e-9,
	    "eight rounds: t of their logarithms");
	tap_ok(is(deciding_compare(base, clear, 8, false, .02),
		   DECIDING_CHANGED) &&
		is(deciding_compare(clear, base, 8, false, .02),
		    DECIDING_CHANGED),
	    "10 %% more, or less, is a change");
	tap_ok(is(deciding_compare(base, up, 8, false, .12), DECIDING_OPEN),
	    "an estimate within the margin is left open");
	tap_ok(is(deciding_compare(base, up, 8, false, .25), DECIDING_SAME) &&
		is(deciding_compare(base, near, 8, false, .02), DECIDING_SAME),
	    "an interval within the margin means the same");
	tap_ok(is(deciding_compare(base, up, 2, false, .02), DECIDING_OPEN) &&
		is(deciding_compare(base, up, 0, false, .02), DECIDING_OPEN) &&
		!isinf(deciding_compare(base, up, 3, false, .02).width),
	    "fewer than three runs decide nothing");
	tap_ok(is(deciding_compare(zeros, up, 8, false, .02), DECIDING_OPEN) &&
		is(deciding_compare(up, zeros, 8, false, .02), DECIDING_OPEN),
	    "there is no ratio to zero");
	for (int k = 0; k < 200; k++) {
		double more = k % 2 ? -.0011 * k : .0011 * k;

		for (size_t i = 0; i < 8; i++)
			y[i] = up[i] * exp(more - mean);
		seen += is(
		    deciding_compare(base, y, 8, false, .02), DECIDING_CHANGED);
		wrong += is(deciding_compare(base, y, 8, false, .02),
			     DECIDING_CHANGED) != (find_sure(base, y) >= .99);
	}
	tap_ok(seen > 50 && seen < 150 && !wrong,
	    "a change ends a case where the model is 99 %% sure (%d of 200)",
	    seen);
	for (size_t i = 0; i < 8; i++)
		gap[i] = i % 2 ? NAN : 100;
	half = deciding_compare(gap, up, 8, false, .02).width;
	for (size_t i = 0; i < 4; i++)
		y[i] = up[2 * i];
	tap_near(half, deciding_compare(base, y, 4, false, .02).width, 1e-12,
	    "a round with a missing run is left out");
	for (size_t i = 0; i < 8; i++)
		y[i] = i % 2 ? 100 : 108;
	tap_ok(deciding_compare(base, y, 8, true, .05).width >
		.07 + deciding_compare(base, y, 8, false, .05).width,
	    "the step of a coarse clock makes the interval wider");
}

/* Adds runs 1..6 of three builds; the last has 'factor' as much of a metric. */
static void
add_runs(struct deciding *d, size_t cas, const char *metric, double factor)
{
	for (size_t i = 1; i <= 6; i++)
		for (size_t b = 0; b < 3; b++) {
			struct json *m = json_object();

			json_set_num(m, "rps",
			    100 +
				(strcmp(metric, "rps") ? 50 : .1) *
				    (double)(i % 2 && b));
			json_set_num(m, "p50_latency_ms", 1);
			json_set_num(m, "p99_latency_ms", 2 + .001 * (double)i);
			json_set_num(m, "capacity_rps", 70);
			json_set_num(m, "server_cpu_us_per_req", 5);
			json_set_num(m, metric,
			    json_get_num(m, metric, 0) * (b == 2 ? factor : 1));
			deciding_add(d, cas, b, i, m);
			json_free(m);
		}
}

static void
looks(const struct deciding *d, size_t cas, size_t runs, const bool *out,
    enum deciding_state want, const char *open, const char *what)
{
	struct str s = {0};
	struct deciding_case got = deciding_look(d, cas, runs, out, &s);

	str_add(&s, "");
	tap_ok(got.state == want && (!open || strcmp(s.s, open) == 0) &&
		(want == DECIDING_OPEN || isinf(got.least)),
	    "%s (%d, '%s')", what, (int)got.state, s.s);
	str_free(&s);
}

/* Cases of three builds. */
static void
cases(void)
{
	struct json *closed = json_object(), *paced = json_object();
	struct json *search = json_object();
	struct bench_case v[] = {{.config = closed}, {.config = closed},
	    {.config = paced}, {.config = paced}, {.config = search},
	    {.config = closed}};
	bool out[3] = {false};
	struct deciding *d = deciding_new(v, 6, 3);

	json_set_num(paced, "rate", 100);
	json_set_str(search, "slo", "p99<1ms");
	for (size_t i = 3; i < 6; i++) {
		add_runs(d, i, metric_primary(v[i].config), 1.2);
		looks(d, i, 6, out, DECIDING_CHANGED, "",
		    "a case is decided by its primary metric");
	}
	looks(d, 0, 6, out, DECIDING_OPEN, "rps not known yet, margin 2 %",
	    "a case without runs is open in its primary metric alone");
	add_runs(d, 0, "rps", 1);
	looks(d, 0, 6, out, DECIDING_SAME, "", "all builds are the same");
	looks(d, 0, 2, out, DECIDING_OPEN, NULL, "later runs do not count");
	add_runs(d, 1, "server_cpu_us_per_req", 1.1);
	looks(d, 1, 6, out, DECIDING_OPEN, "rps +-24 %, margin 2 %",
	    "one build changed in CPU time, the other is open in its rate");
	out[1] = true;
	looks(d, 1, 6, out, DECIDING_CHANGED, "",
	    "without that build the case is decided by its CPU time alone");
	add_runs(d, 2, "p50_latency_ms", 3);
	looks(d, 2, 6, out, DECIDING_SAME, "",
	    "with a rate no latency but p99 decides, and no CPU time");
	out[2] = true;
	looks(d, 1, 6, out, DECIDING_SAME, "",
	    "if one build is left, its median decides");
	out[0] = true;
	looks(d, 1, 6, out, DECIDING_OPEN, "",
	    "without a build nothing is decided");
	deciding_free(d);
	json_free(closed);
	json_free(paced);
	json_free(search);
}

enum { TIMES = 400, ROUNDS = 30, MANY = 200 };

/* Two builds of one case, 30 rounds at most, which is a minute of two seconds
 * each: shares of the cases that changed, and that did not, and mean rounds. */
struct outcome {
	double changed, same, rounds;
};

/* 'gives_up': a case that the rounds could not decide ends. */
static struct outcome
simulate(double change, double sd, size_t rounds, bool gives_up)
{
	struct outcome o = {0};
	struct rng r;

	rng_seed(&r, 7, 0);
	for (int i = 0; i < TIMES; i++) {
		double x[MANY], y[MANY], at = 7;
		struct deciding_view v;
		enum deciding_state s;
		size_t n;

		for (size_t k = 0; k < rounds; k++) { /* sd: of the ratio */
			x[k] = 1e5 * exp(.1 * normal_draw(&r));
			y[k] = x[k] * (1 + change) * exp(sd * normal_draw(&r));
		}
		for (;; at *= 1.5) {
			n = (size_t)fmin((double)rounds, round(at));
			v = deciding_compare(x, y, n, false, .02);
			s = v.state;
			if (s != DECIDING_OPEN || n == rounds)
				break;
			if (gives_up && v.least > (double)rounds)
				break;
		}
		o.changed += (s == DECIDING_CHANGED) / (double)TIMES;
		o.same += (s == DECIDING_SAME) / (double)TIMES;
		o.rounds += (double)n / TIMES;
	}
	return o;
}

static void
check(double change, double sd, struct outcome least, struct outcome most)
{
	struct outcome o = simulate(change, sd, ROUNDS, false);

	tap_ok(o.changed >= least.changed && o.changed <= most.changed &&
		o.same >= least.same && o.same <= most.same &&
		o.rounds >= least.rounds && o.rounds <= most.rounds,
	    "%g %% less, noise %g %%: %.1f %% changed, %.1f %% the same, after "
	    "%.1f rounds",
	    100 * change, 100 * sd, 100 * o.changed, 100 * o.same, o.rounds);
}

static void
sessions(void)
{
	check(0, .012, (struct outcome){0, .97, 7}, (struct outcome){0, 1, 10});
	check(
	    0, .04, (struct outcome){0, .2, 20}, (struct outcome){.04, 1, 30});
	check(.02, .012, (struct outcome){.4, 0, 7},
	    (struct outcome){1, .08, 30});
	check(
	    .05, .012, (struct outcome){.99, 0, 7}, (struct outcome){1, 0, 8});
}

/* What is given up would hardly have been decided, and takes less time. */
static void
hopeless(void)
{
	static const double changes[] = {0, .1, .3};
	static const double noises[] = {.05, .5};
	struct outcome a, b;

	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 2; k++) {
			a = simulate(changes[i], noises[k], MANY, false);
			b = simulate(changes[i], noises[k], MANY, true);
			tap_ok(b.changed <= a.changed &&
				b.changed > a.changed - .04 && b.same == a.same,
			    "%g %% less, noise %g %%: %.1f %% changed, with "
			    "giving up %.1f %%; %.0f and %.0f rounds",
			    100 * changes[i], 100 * noises[k], 100 * a.changed,
			    100 * b.changed, a.rounds, b.rounds);
			tap_ok(a.changed > .1 || a.same > .1 ||
				b.rounds < .7 * a.rounds,
			    "what can hardly be decided takes less time");
		}
}

/* Three rounds whose interval is known. */
static void
predictions(void)
{
	static const double x[] = {100.1, 99.37, 100.73},
			    y[] = {90.31, 100.7, 109.2};
	static const double far[] = {80.23, 89.1, 99.57};
	struct deciding_view v = deciding_compare(x, y, 3, false, .02);
	double most = log1p(.02), sd = 0, mean = 0, near, same[12], edge[12];

	for (size_t i = 0; i < 3; i++)
		mean += log(y[i] / x[i]) / 3;
	for (size_t i = 0; i < 3; i++)
		sd += pow(log(y[i] / x[i]) - mean, 2);
	sd = sqrt(sd / 2 / 3);
	near = 3 * pow(1.959963984540054 * sd / most, 2);
	tap_ok(v.needed > near && v.needed < 8 * near,
	    "without a change, more runs than make the interval a margin (%g)",
	    v.needed / near);
	tap_near(v.least,
	    3 * pow(2.5758293035489 * sd / (fabs(mean) + 1.25 * sd), 2), 1e-9,
	    "a change that is a little larger than it looks needs the least");
	tap_near(deciding_compare(x, y, 3, false, .2).least,
	    3 * pow(1.959963984540054 * sd / 1.5 / log1p(.2), 2), 1e-9,
	    "with a wide margin, that there is none does");
	v = deciding_compare(x, far, 3, false, .02);
	tap_ok(v.state == DECIDING_OPEN && v.needed > 20 && v.needed < 80 &&
		v.least < 4,
	    "a change that is seen has a number of runs (%g, %g)", v.least,
	    v.needed);
	tap_ok(isnan(deciding_compare(x, y, 2, false, .02).least) &&
		isnan(deciding_measure(x, 2, .02).needed),
	    "without an interval nothing is predicted");
	for (int i = 0; i < 12; i++) {
		same[i] = 100;
		edge[i] = 100 *
		    exp(.0203 + .002 * (i / 2 - 2.5) * (i % 2 ? 1 : -1) +
			(i % 2 ? .03 : -.03));
	}
	v = deciding_compare(same, edge, 12, false, .02);
	tap_ok(v.state == DECIDING_OPEN && v.needed > 300,
	    "a change at the margin can hardly be shown to lie beyond it (%g)",
	    v.needed);
	v = deciding_measure(y, 3, .02);
	tap_near(v.needed, 3 * pow(v.width / .02, 2), 1e-9,
	    "one build: the runs for an interval of a margin");
	tap_near(v.least, v.needed / 2.25, 1e-9, "and of half as much again");
}

int
main(void)
{
	one_build();
	two_builds();
	cases();
	sessions();
	predictions();
	hopeless();
	return tap_done();
}
