/*
 * Adaptive runs: how precise a case is, and the whole procedure simulated: a
 * session that stops when it is precise raises no more false alarms, and its
 * intervals still cover.
 */
#include "tap.h"

#include "judge/model.h"
#include "judge/sheet.h"
#include "json.h"
#include "opt.h"
#include "rng.h"
#include "stats.h"
#include "tdist.h"
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
	static const double fine[] = {
	    99.13, 110.41, 121.07, 104.53, 115.59, 110.83, 109.97, 110.29};
	static const double up[] = {99, 110, 121, 104.5, 115.5, 110, 110, 110};
	double base[8], gap[8], steps[8], mean, squares = 0, half, w;

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
	/* Student's t of the logarithms. */
	mean = squares = 0;
	for (size_t i = 0; i < 8; i++)
		mean += log(fine[i] / 100) / 8;
	for (size_t i = 0; i < 8; i++)
		squares += pow(log(fine[i] / 100) - mean, 2);
	half = sqrt(squares / 7 / 8) * tdist_quantile(.975, 7);
	tap_near(ci_width_ratio(base, fine, 8, true, false, .05), sinh(half),
	    1e-9, "eight pairs: t of their logarithms");
	tap_ok(ci_width_ratio(base, fine, 8, true, false, .01) > 1.2 * half,
	    "a smaller level, a wider interval of the ratio");
	tap_ok(ci_width_ratio(base, base, 8, true, false, .05) < 1e-6 &&
		ci_width_ratio(base, base, 8, false, false, .05) < 1e-6,
	    "no noise, paired and not");
	tap_ok(isinf(ci_width_ratio(base, up, 2, true, false, .05)) &&
		isinf(ci_width_ratio(base, up, 2, false, false, .05)) &&
		isinf(ci_width_ratio(base, up, 0, false, false, .05)) &&
		isfinite(ci_width_ratio(base, up, 3, true, false, .05)) &&
		isfinite(ci_width_ratio(base, up, 3, false, false, .05)),
	    "fewer than three runs have no interval of the ratio");
	tap_ok(isinf(ci_width_ratio(zeros, up, 8, true, false, .05)) &&
		isinf(ci_width_ratio(up, zeros, 8, false, false, .05)),
	    "no ratio to zero");
	for (size_t i = 0; i < 8; i++) {
		gap[i] = i % 2 ? NAN : 100;
		steps[i] = i % 2 ? 100 : 108;
	}
	w = ci_width_ratio(gap, up, 8, true, false, .05);
	for (size_t i = 0; i < 4; i++)
		gap[i] = up[2 * i];
	tap_near(w, ci_width_ratio(base, gap, 4, true, false, .05), 1e-12,
	    "a pair with a missing run is left out");
	tap_ok(ci_width_ratio(base, steps, 8, true, true, .05) >
		.07 + ci_width_ratio(base, steps, 8, true, false, .05),
	    "the step of a coarse clock makes the interval wider");
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

enum { TIMES = 500 };

struct outcome {
	int covered;
	double runs;
};

/* Does the interval of the model at this level hold the ratio 1? */
static bool
is_covered(
    const double *x, const double *y, size_t n, bool paired, double level)
{
	struct sheet *s = sheet_new(1, false);
	struct model_metric unused;
	struct model_row *row;
	bool is;

	for (size_t i = 0; i < n; i++) {
		sheet_add(s, 0, 0, x[i], 0, paired ? (double)i : NAN);
		sheet_add(s, 0, 1, y[i], 0, paired ? (double)i : NAN);
	}
	row = sheet_rows(s);
	model_judge(row, 1, &(struct model_prior){.df = 1}, &unused);
	is = fabs(row->change) <= model_half_width(row, false, 1 - level);
	sheet_free(s);
	return is;
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
		double x[30], y[30];
		size_t at = 0, n;

		for (int k = 0; k < 30; k++) {
			double round = drift * normal(&r);

			x[k] = 1e5 * exp(round + cv * normal(&r));
			y[k] = 1e5 * exp(round + cv * normal(&r));
		}
		while (at + 1 < l.n &&
		    ci_width_ratio(x, y, (size_t)l.at[at], paired, false,
			l.level[at]) > l.until[0].width)
			at++;
		n = (size_t)l.at[at];
		o.runs += (double)n / TIMES;
		/* As vkb-load has it. */
		o.covered += is_covered(x, y, n, paired, l.level[at]);
	}
	stopping_free(&l);
	return o;
}

static void
check(const char *until, double cv, double drift, bool paired, double least,
    double most)
{
	struct outcome o = simulate(until, cv, drift, paired);

	/* 95 % of 500 have a standard deviation of 4.9. */
	tap_ok(o.covered >= 463,
	    "A/A, until %s, noise %g %%%s: %d covered of %d", until, 100 * cv,
	    paired ? ", paired" : "", o.covered, TIMES);
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
	tap_ok(ci_width_reached(p, 0, 0, out, &worst) && worst.now < 1e-6,
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
