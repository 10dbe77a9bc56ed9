/*
 * Adaptive runs: how precise a case is, and the whole procedure simulated: a
 * session that stops when it is precise raises no more false alarms, and its
 * intervals still cover.
 */
#include "tap.h"

#include "json.h"
#include "opt.h"
#include "power.h"
#include "ranktest.h"
#include "rng.h"
#include "stats.h"
#include "vkb-load/plan/benchcase.h"
#include "vkb-load/session/stopping.h"
#include "vkb-load/session/ciwidth.h"

#include <stdlib.h>

/* Values whose intervals can be worked out by hand. */
static void
widths(void)
{
	static const double same[] = {7, 7, 7}, zeros[8] = {0};
	static const double three[] = {90, 100, 110};
	static const double nine[] = {5, 3, 1, 9, 7, 2, 8, 6, 4};
	static const double up[] = {99, 110, 121, 104.5, 115.5, 110, 110, 110};
	double base[8], gap[8], mean, squares = 0, half, w;

	tap_ok(isinf(ci_width_median(NULL, 0, .05)), "no value");
	tap_ok(isinf(ci_width_median(three, 1, .05)), "one");
	tap_ok(isinf(ci_width_median(three, 2, .05)), "two");
	/* t of two degrees of freedom, on logarithms. */
	mean = log(90. * 100 * 110) / 3;
	for (size_t i = 0; i < 3; i++)
		squares += pow(log(three[i]) - mean, 2);
	half = 4.302652729911275 * sqrt(squares / 2 / 3);
	tap_near(ci_width_median(three, 3, .05),
	    (exp(mean + half) - exp(mean - half)) / 200, 1e-9,
	    "three: t, by the median");
	tap_near(ci_width_median(same, 3, .05), 0, 0, "all equal");
	tap_near(ci_width_median(zeros, 8, .05), 0, 0, "all zero");
	/* l = 2 of 9 covers .961, l = 1 .996. */
	tap_near(ci_width_median(nine, 9, .05), (8. - 2) / 2 / 5, 1e-12,
	    "nine: the second from either end");
	tap_near(ci_width_median(nine, 9, .01), (9. - 1) / 2 / 5, 1e-12,
	    "a smaller level, a wider interval");
	for (size_t i = 0; i < 8; i++)
		gap[i] = i == 3 ? NAN : up[i];
	tap_ok(ci_width_median(gap, 8, .05) > 0 &&
		isfinite(ci_width_median(gap, 8, .05)),
	    "a missing run is left out");
	gap[0] = -20;
	tap_ok(isfinite(ci_width_median(gap, 8, .05)), "a negative value");

	for (size_t i = 0; i < 8; i++)
		base[i] = 100;
	/* Signed rank of 8: k = 4 of 36 Walsh averages covers .961. */
	w = ci_width_ratio(base, up, 8, true, .05);
	tap_ok(w > .01 && w < .08, "eight pairs: %g", w);
	tap_near(ci_width_ratio(base, base, 8, true, .05), 0, 0, "no noise");
	tap_near(ci_width_ratio(base, base, 8, false, .05), 0, 0,
	    "no noise, not paired");
	tap_near(ci_width_ratio(base, up, 5, true, .05),
	    ci_width_ratio(base, up, 5, false, .05), 0,
	    "five pairs are too few: the interval is the unpaired one");
	tap_ok(ci_width_ratio(nine, up, 7, true, .01) ==
		    ci_width_ratio(nine, up, 7, false, .01) &&
		ci_width_ratio(nine, up, 8, true, .01) !=
		    ci_width_ratio(nine, up, 8, false, .01),
	    "seven pairs are too few at .01, eight are enough");
	w = ci_width_ratio(base, up, 3, false, .05);
	tap_ok(w > .1 && isfinite(w), "three a side: Welch: %g", w);
	tap_ok(isinf(ci_width_ratio(base, up, 1, true, .05)) &&
		isinf(ci_width_ratio(base, up, 2, true, .05)) &&
		isinf(ci_width_ratio(base, up, 1, false, .05)) &&
		isinf(ci_width_ratio(base, up, 2, false, .05)) &&
		isinf(ci_width_ratio(base, up, 0, false, .05)),
	    "fewer than three runs have no interval");
	tap_ok(isinf(ci_width_ratio(zeros, up, 8, true, .05)) &&
		isinf(ci_width_ratio(up, zeros, 8, false, .05)),
	    "no ratio to zero");
	for (size_t i = 0; i < 8; i++)
		gap[i] = i % 2 ? NAN : 100;
	w = ci_width_ratio(gap, up, 8, true, .05);
	for (size_t i = 0; i < 4; i++) {
		base[i] = 100;
		gap[i] = up[2 * i];
	}
	tap_near(w, ci_width_ratio(base, gap, 4, true, .05), 1e-12,
	    "a pair with a missing run is left out");
}

static int
parse(struct stopping_rule *l, const char *runs, const char *until)
{
	const char *v[] = {until};
	struct opt_list list = {v, until != NULL};

	stopping_free(l);
	return stopping_parse(l, runs, &list);
}

static void
parsing(void)
{
	static const char *const bad[] = {"", "0", "-1", "x", "1..", "..2",
	    "3..2", "1..2..3", "1...2", "0..3", "1..1000001", "2 ..3", "1.5"};
	static const char *const wide[] = {
	    "", "1", "0%", "-1%", "101%", "x%", "=1%", "rps=", "nix=1%", "%"};
	struct stopping_rule l = {0};

	tap_ok(parse(&l, "7", NULL) == 0 && l.n == 1 &&
		stopping_max_runs(&l) == 7 && !stopping_is_adaptive(&l),
	    "a fixed number");
	tap_ok(parse(&l, "5..30", "1%") == 0 && l.n == 6 &&
		stopping_max_runs(&l) == 30 && stopping_is_adaptive(&l) &&
		l.until[0].width == .01 && !l.until[0].metric,
	    "5..30, 1%%");
	tap_ok(parse(&l, "5..5", "p99_latency_ms=100%") == 0 && l.n == 1 &&
		stopping_is_adaptive(&l),
	    "one look");
	tap_near(l.level[0], .05, 1e-12, "one look has all of alpha");
	tap_ok(parse(&l, "5..30", NULL) < 0, "no precision");
	tap_ok(parse(&l, "5", "1%") < 0, "no range");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		tap_ok(
		    parse(&l, bad[i], NULL) < 0 && parse(&l, bad[i], "1%") < 0,
		    "--runs '%s' is refused", bad[i]);
	for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
		tap_ok(parse(&l, "5..30", wide[i]) < 0,
		    "--until '%s' is refused", wide[i]);
	stopping_free(&l);
}

static void
limits(void)
{
	struct stopping_rule l = {0};

	tap_ok(
	    parse(&l, "1000000", NULL) == 0 && stopping_max_runs(&l) == 1000000,
	    "a million runs are the most");
	tap_ok(parse(&l, "1000001", NULL) < 0, "one more is refused");
	tap_ok(parse(&l, "1", NULL) == 0 && stopping_max_runs(&l) == 1,
	    "one run is the least");
	stopping_free(&l);
}

/* What a run record says of the looks, and how two of them differ. */
static void
recorded(void)
{
	const char *v[] = {"2%", "rps=3%", "rps=1%", "p99_latency_ms=100%"};
	struct opt_list list = {v, 4};
	struct json *config = json_object(), *run = json_object();
	struct json *other = json_object();
	struct stopping_rule l = {0};
	char *text;

	parse(&l, "7", NULL);
	stopping_record(&l, config, run);
	tap_ok(json_len(run) == 0 && stopping_hash(run) == 0,
	    "a fixed number of runs is not recorded as looks");
	stopping_free(&l);
	stopping_parse(&l, "5..10", &list);
	stopping_record(&l, config, run);
	text = json_print(run);
	tap_str(text,
	    "{\"looks\":[5,7,10],\"until\":{\"rps\":0.01,"
	    "\"p99_latency_ms\":1}}",
	    "of several conditions on one metric the narrowest is recorded");
	free(text);
	text = stopping_format(&l);
	tap_str(text,
	    "looks after 5, 7 and 10 runs of each case, until +-2 %, rps +-3 "
	    "%, "
	    "rps +-1 %, p99_latency_ms +-100 %",
	    "the looks and the conditions are put in words");
	free(text);
	json_set_num(config, "rate", 10);
	stopping_record(&l, config, other);
	text = json_print(json_get(other, "until"));
	tap_str(text,
	    "{\"p50_latency_ms\":0.02,\"rps\":0.01,\"p99_latency_ms\":1}",
	    "with a fixed rate the usual metric is the median latency");
	free(text);
	tap_ok(stopping_hash(run) != 0 &&
		stopping_hash(run) != stopping_hash(other),
	    "other conditions have another hash");
	json_del(other, "until");
	json_set(other, "until", json_dup(json_get(run, "until")));
	tap_ok(stopping_hash(run) == stopping_hash(other),
	    "equal looks and conditions have equal hashes");
	json_free(config);
	json_free(run);
	json_free(other);
	stopping_free(&l);
}

/* Box and Muller (1958). */
static double
normal(struct rng *r)
{
	return sqrt(2 * rng_exponential(r)) * cos(2 * M_PI * rng_unit(r));
}

enum { TIMES = 1000 };

struct outcome {
	int alarms, covered;
	double runs;
};

/* One case of a session: the look at which it ends. */
static size_t
session(const struct stopping_rule *l, const double *x, const double *y,
    bool paired)
{
	double want = l->until[0].width;
	size_t i = 0;

	while (i + 1 < l->n &&
	    ci_width_ratio(x, y, (size_t)l->at[i], paired, l->level[i]) > want)
		i++;
	return i;
}

static struct outcome
simulate(const char *until, double cv, double drift, bool paired)
{
	struct outcome o = {0};
	struct stopping_rule l = {0};
	struct rng r;

	parse(&l, "5..30", until);
	rng_seed(&r, 7, 0);
	for (int i = 0; i < TIMES; i++) {
		double x[30], y[30], d[30], lo, hi, level;
		struct ranktest t;
		struct ranktest_pairs *p;
		size_t at, n;
		bool pairs;

		for (int k = 0; k < 30; k++) {
			double round = drift * normal(&r);

			x[k] = 1e5 * exp(round + cv * normal(&r));
			y[k] = 1e5 * exp(round + cv * normal(&r));
			d[k] = log(y[k] / x[k]);
		}
		at = session(&l, x, y, paired);
		n = (size_t)l.at[at];
		level = l.level[at]; /* as sequential_level has it */
		pairs = paired && n >= power_least_runs(true, 1, level);
		t = pairs ? ranktest_signed(d, n) : ranktest_mwu(x, n, y, n);
		o.alarms += t.p < level;
		o.runs += (double)n / TIMES;
		p = pairs ? ranktest_walsh(d, n) : ranktest_ratios(x, n, y, n);
		if (ranktest_pairs_ci(p, 1 - level, &lo, &hi)) {
			double truth = pairs ? 0 : 1;

			o.covered += lo <= truth && truth <= hi;
		} else
			o.covered++; /* unbounded */
		ranktest_pairs_free(p);
	}
	stopping_free(&l);
	return o;
}

static void
check(const char *until, double cv, double drift, bool paired, double least,
    double most)
{
	struct outcome o = simulate(until, cv, drift, paired);

	/* 5 % of 1000 are 50, with a standard deviation of 7. */
	tap_ok(o.alarms <= 60 && o.covered >= 940,
	    "A/A, until %s, noise %g %%%s: %d alarms, %d covered of %d", until,
	    100 * cv, paired ? ", paired" : "", o.alarms, o.covered, TIMES);
	tap_ok(o.runs >= least && o.runs <= most, "after %.1f runs on average",
	    o.runs);
}

/* Two cases, three builds: the conditions of a session. */
static void
conditions(void)
{
	struct json *config = json_object(), *m;
	struct bench_case cases[2] = {{.config = NULL}, {.config = config}};
	bool out[3] = {false};
	struct ci_width_goal worst;
	struct stopping_rule l = {0};
	struct ci_width *p;

	json_set_num(config, "rate", 100);
	parse(&l, "3..6", "10%");
	p = ci_width_new(&l, cases, 2, 3, true);
	tap_ok(!ci_width_reached(p, 0, 0, out, &worst) && isinf(worst.now),
	    "without runs no width is reached");
	for (size_t i = 1; i <= 6; i++)
		for (size_t b = 0; b < 3; b++) {
			m = json_object();
			json_set_num(m, "rps",
			    b == 2 ? 100 + 50 * (double)(i % 2) : 100);
			json_set_num(m, "p50_latency_ms", 1);
			ci_width_add(p, 0, b, i, m);
			ci_width_add(p, 1, b, i, m);
			json_free(m);
		}
	tap_ok(!ci_width_reached(p, 0, 1, out, &worst) && worst.now > .1 &&
		worst.wanted == .1 && strcmp(worst.metric, "rps") == 0,
	    "the widest interval of the contenders decides");
	tap_ok(ci_width_reached(p, 1, 0, out, &worst) &&
		strcmp(worst.metric, "p50_latency_ms") == 0,
	    "with a fixed rate the latency decides");
	out[2] = true;
	tap_ok(ci_width_reached(p, 0, 0, out, &worst) && worst.now == 0,
	    "a build that failed is left out");
	out[1] = true;
	tap_ok(ci_width_reached(p, 0, 0, out, &worst),
	    "if one build is left, its median decides");
	out[0] = true;
	tap_ok(!ci_width_reached(p, 0, 0, out, &worst),
	    "if no build is left, no width is reached");
	ci_width_free(p);
	json_free(config);
	stopping_free(&l);
}

int
main(void)
{
	if (!freopen("/dev/null", "w", stderr)) /* messages about refusals */
		return 2;
	widths();
	parsing();
	limits();
	recorded();
	conditions();
	check("1%", .002, 0, true, 4.99, 5.1);
	check("1%", .01, 0, true, 14, 28);
	check("1%", .01, .2, true, 14, 28);
	check("1%", .05, 0, true, 29.9, 30.01);
	check("2%", .02, 0, false, 14, 28);
	check("1%", .003, 0, false, 5, 6);
	check("1%", .05, .05, false, 29.9, 30.01);
	return tap_done();
}
