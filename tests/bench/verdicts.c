/*
 * Simulates reports of known truth through the judging of vkb-compare, and
 * prints for each cell the share of reports with a false alarm, of changes
 * found, of intervals that hold the truth, of those of the mean over all cases
 * (which have to hold their own estimate, too) and of wrong "equivalent"
 * verdicts, beside other rules on the same numbers: benchstat's (Mann-Whitney
 * below .05 for each row), a line of 2 % between the medians, and with -p
 * another vkb-compare.
 * The last column is the share of sentences that came true: for each report
 * that says what change it would show, or how many runs it needs, a second one
 * is drawn with that change or so many runs, and has to show it in 4 of 5.
 *
 *	build/bench/verdicts [-n REPORTS] [-s SEED] [-k TEXT] [-p PROGRAM]
 *
 * -n REPORTS  reports of each cell (default 1000)
 * -s SEED     number that all random numbers follow from (default 1)
 * -k TEXT     only the cells whose name holds TEXT
 * -p PROGRAM  give the run records of each report to this vkb-compare, too, and
 *             count what its records (-f jsonl) call worse or better
 *
 * Exit status: 0 all cells are within their goals, 1 some are not, 2 trouble.
 */
#include "cells.h"
#include "hist.h"
#include "histcodec.h"
#include "json.h"
#include "jsonl.h"
#include "metric.h"
#include "num.h"
#include "ranks.h"
#include "../unit/normal.h"
#include "rng.h"
#include "judge/samplesize.h"
#include "stats.h"
#include "vkb-load/session/deciding.h"
#include "str.h"
#include "vkb-compare/cases.h"
#include "vkb-compare/decide.h"
#include "vkb-compare/judge.h"
#include "vkb-compare/report.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* PROGRAM is the last one, since it is only there with -p. */
enum rule { SHIPPED, BENCHSTAT, LINE, PROGRAM, RULES };

static const char *rule_names[RULES] = {"vkb", "benchstat", "2% line"};
static int rules = PROGRAM;

/* What happened in the reports of a cell; a child sends it to its parent. */
struct result {
	double reports;
	double alarms[RULES];     /* reports with a false alarm */
	double found[RULES];      /* changed cases found */
	double changed;           /* changed cases */
	double covered, covering; /* intervals that hold the truth; of all */
	double equal, equivalent; /* changes of the margin or more, and those
				   * that were called equivalent */
	double likely;      /* reports that call an unchanged case likely so */
	double said, kept;  /* sentences, and those that came true */
	double means, held; /* intervals of the mean over all cases, and those
			     * that hold the truth and their own estimate */
};

/* ---- noise */

/* Noise of mean 0 and standard deviation 1, or nearly so. */
static double
draw_noise(struct rng *r, enum shape shape)
{
	double z = normal_draw(r);

	switch (shape) {
	case SKEWED:
		return 1 - rng_exponential(r);
	case HEAVY: { /* Student's t of 3 degrees of freedom, its sd is sqrt 3
		       */
		double s = 0;

		for (int i = 0; i < 3; i++) {
			double x = normal_draw(r);

			s += x * x;
		}
		return z / sqrt(s / 3) / sqrt(3);
	}
	case BIMODAL:
		return .9 * (rng_unit(r) < .5 ? -1 : 1) + .44 * z;
	case OUTLIERS:
		return rng_unit(r) < .1 ? 5 * z : z;
	case COARSE:
		return round(2 * z) / 2;
	default:
		return z;
	}
}

/* ---- a report */

struct value {
	double v[METRICS]; /* ln */
	struct str hist;   /* of p99.9 */
	int session, block;
	bool failed;
};

/* The runs of one case: those of the baseline, then of the contender. */
struct drawn {
	struct value v[2][MOST_VALUES];
	int n[2];
};

static int
draw_poisson(struct rng *r, double mean)
{
	int n = 0;

	for (double t = rng_exponential(r); t < mean; t += rng_exponential(r))
		n++;
	return n;
}

/* A length of a pause or of a slow request beside it, in ms. */
static double
draw_length(struct rng *r, const struct slow *s)
{
	double alpha = s->alpha > 0 ? s->alpha : 1.2;

	return fmin(500, .5 * exp(rng_exponential(r) / alpha));
}

/* Adds the requests that a pause delays. Returns their number. */
static int
add_pause(struct rng *r, struct hist *h, const struct slow *s, double ms)
{
	int n = draw_poisson(r, ms / 1e3 * s->requests);

	for (int i = 0; i < n; i++)
		hist_add(h, (int64_t)(1e6 * (.2 + ms * rng_unit(r))), 1);
	return n;
}

/* Draws the latencies of a run, which are the worse the lower its value is, and
 * makes p99.9 its value. */
static void
draw_latencies(
    struct rng *r, const struct slow *s, double stall, struct value *v)
{
	struct hist *h = HIST_LATENCY();
	double often = exp(-v->v[0]);
	int slow = draw_poisson(r, often * s->share * s->requests);
	int pauses = draw_poisson(r, often * s->pauses), done = slow;

	for (int i = 0; i < slow; i++)
		hist_add(h, (int64_t)(1e6 * (.2 + draw_length(r, s))), 1);
	for (int i = 0; i < pauses; i++)
		done += add_pause(r, h, s, draw_length(r, s));
	if (stall > 0)
		done += add_pause(r, h, s, stall);
	for (double left = fmax(10, s->requests - done), i = 0; i < 10; i++)
		hist_add(
		    h, (int64_t)(1e5 * (1 + i / 5)), (uint64_t)(left / 10));
	v->v[0] = log((double)hist_quantile(h, .999) / 1e6);
	str_clear(&v->hist);
	histcodec_encode(&v->hist, h);
	hist_free(h);
}

/* How long the stall of a run is, in ms. */
static double
draw_stall(struct rng *r, const struct cell *c, double change, int side)
{
	if (change == 0 || side != (change < 0) ||
	    (c->every > 0 && rng_unit(r) > c->every))
		return 0;
	return c->stall;
}

/* Noise of the three metrics of a run: latency follows throughput in part. */
static void
draw_run(struct rng *r, const struct cell *c, double last[METRICS])
{
	double e[METRICS];

	e[0] = draw_noise(r, c->shape);
	e[1] = -.8 * e[0] + .6 * draw_noise(r, c->shape);
	e[2] = -.5 * e[0] + 1.4 * draw_noise(r, c->shape);
	for (int m = 0; m < METRICS; m++)
		last[m] = c->ar * last[m] + sqrt(1 - c->ar * c->ar) * e[m];
}

/* What the turns of a session do to all cases: how much slower they are, and
 * the noise that these share. */
struct turns {
	double slower[2 * MOST_VALUES];
	double noise[2 * MOST_VALUES][METRICS];
};

static int
count_runs(const struct cell *c, int side)
{
	return side && c->contender ? c->contender : c->n;
}

static void
draw_turns(struct rng *r, const struct cell *c, int turns, struct turns *to)
{
	double machine = normal_draw(r), step = sqrt(1 - pow(c->machine_ar, 2));
	bool busy = rng_unit(r) < .5;
	/* A side that is measured after the other is a session of its own. */
	double later = c->layout == APART && c->session_sd > 0
	    ? M_SQRT2 * c->session_sd * normal_draw(r)
	    : 0;

	for (int t = 0; t < turns; t++) {
		machine = c->machine_ar * machine + step * normal_draw(r);
		busy = rng_unit(r) < .2 ? !busy : busy;
		to->slower[t] = c->machine_sd * machine +
		    (busy ? c->neighbour : 0) +
		    (3 * t >= 2 * turns ? c->throttled : 0) +
		    (c->layout == APART && t >= count_runs(c, 0) ? later : 0) +
		    (t == 0 ? c->first : 0);
		for (int m = 0; m < METRICS; m++)
			to->noise[t][m] = normal_draw(r);
	}
}

/* Returns ln of what a coarse clock shows of p50. */
static double
round_off(const struct cell *c, int metric, double v)
{
	double steps;

	if (metric != 1 || !(c->step > 0))
		return v;
	steps = floor((.111 * exp(v) - .007) / c->step);
	return log((steps * c->step + .007) / .111);
}

/* Which side turn t of session s is of, or -1: none. */
static int
find_side(const struct cell *c, int s, int t, int first)
{
	bool last = s >= c->sessions;

	if (c->layout == ROUNDS)
		return t % 2 ? !first : first;
	if (c->layout == APART)
		return t >= count_runs(c, 0);
	return last && t >= c->also;
}

static int
count_turns(const struct cell *c, int s)
{
	if (c->layout == SESSIONS)
		return s < c->sessions ? count_runs(c, 0)
				       : count_runs(c, 1) + c->also;
	return count_runs(c, 0) + count_runs(c, 1);
}

/* The noise of one value: its own, and what all cases share. */
static double
draw_value(const struct cell *c, const struct turns *all, int t, int m,
    const double last[METRICS])
{
	return sqrt(1 - c->together) * last[m] +
	    sqrt(c->together) * all->noise[t][m];
}

/*
 * Draws the runs of a case in session s. Effects that slow the machine lower
 * the throughput and raise the latency by the same factor.
 */
static void
draw_case(struct rng *r, const struct cell *c, int s, const struct turns *all,
    double slower, double change, double noisier, double pause, struct drawn *d)
{
	int turns = count_turns(c, s), sessions = c->sessions + 1, first = 0;
	double last[METRICS] = {0}, shared = 0, placed[2] = {0};
	int boot = c->boots ? (c->n + c->boots - 1) / c->boots : turns;

	/* The course of an autocorrelated series begins anywhere. */
	draw_run(r, &(struct cell){.shape = c->shape}, last);
	for (int t = 0; t < turns; t++) {
		double slow = slower + all->slower[t] +
		    c->drift * (s * turns + t) / (sessions * turns - 1.);
		double cv;
		struct value *v;
		int side;

		if (c->layout == ROUNDS) {
			if (t % 4 == 0) /* balanced over two rounds */
				first = rng_unit(r) < .5;
			else if (t % 2 == 0)
				first = !first;
			if (t % 2 == 0)
				shared = c->round_sd * normal_draw(r);
			slow += shared + (t % 2 ? c->position : 0);
		}
		side = find_side(c, s, t, first);
		if (c->boots && t % (2 * boot) == 0)
			for (int j = 0; j < 2; j++)
				placed[j] = c->placement * normal_draw(r);
		slow += placed[side];
		cv = noisier *
		    (side && c->contender_cv > 0 ? c->contender_cv : c->cv);
		draw_run(r, c, last);
		if (side && c->fewer &&
		    d->n[1] >= c->n - c->fewer) /* the last ones are lost */
			continue;
		v = &d->v[side][d->n[side]++];
		v->failed = c->failed > 0 && rng_unit(r) < c->failed;
		v->session = c->boots ? t / 2 / boot : s;
		v->block = c->layout == ROUNDS ? t / 2 : t;
		for (int m = 0; m < METRICS; m++) {
			double up = (side ? log1p(change) : 0) - slow;

			v->v[m] = round_off(c, m,
			    cv * draw_value(c, all, t, m, last) +
				(m ? -up : up));
		}
		if (c->slow.requests > 0)
			draw_latencies(r, &c->slow,
			    pause > 0 && side && d->n[1] == 3
				? pause
				: draw_stall(r, c, change, side),
			    v);
	}
}

/*
 * Cuts a case where it looks clear, from 4 runs on, after every other one: as
 * vkb-load --budget does where it is 'decided', else where the means differ by
 * 2 standard errors, which is the worst rule for false alarms.
 */
static void
stop_early(struct drawn *d, int most, bool decided)
{
	for (int n = 4; n < most; n += 2) {
		double x[MOST_RUNS], y[MOST_RUNS], error, by;

		for (int i = 0; i < n; i++) {
			x[i] = d->v[0][i].v[0];
			y[i] = d->v[1][i].v[0];
		}
		error = sqrt((pow(stats_sd(x, (size_t)n), 2) +
				 pow(stats_sd(y, (size_t)n), 2)) /
		    n);
		by = fabs(stats_mean(x, (size_t)n) - stats_mean(y, (size_t)n));
		for (int i = 0; i < n && decided; i++) {
			x[i] = exp(x[i]);
			y[i] = exp(y[i]);
		}
		if (decided ? deciding_compare(x, y, (size_t)n, false,
				  metric_find("rps")->margin)
				  .state == DECIDING_OPEN
			    : by < 2 * error)
			continue;
		d->n[0] = d->n[1] = n;
		return;
	}
}

/* By how much the contender changes case k, as a ratio less 1. */
static double
find_change(const struct cell *c, int k)
{
	if (k < c->changed)
		return c->signs && k % 2 ? -c->change : c->change;
	return k < c->changed + c->improved ? -c->change : 0;
}

static void
draw_report(struct rng *r, const struct cell *c, struct drawn *all)
{
	int sessions = c->layout == SESSIONS
	    ? c->sessions + (c->contenders ? c->contenders : 1)
	    : 1;

	for (int k = 0; k < c->cases; k++)
		all[k].n[0] = all[k].n[1] = 0;
	for (int s = 0; s < sessions; s++) {
		double common = c->session_sd * normal_draw(r);
		struct turns turns;

		if (s < c->sessions)
			common += c->machines * normal_draw(r);
		draw_turns(r, c, count_turns(c, s), &turns);
		for (int k = 0; k < c->cases; k++)
			draw_case(r, c, s, &turns,
			    common + c->case_sd * normal_draw(r),
			    find_change(c, k),
			    c->noisier > 0 &&
				    k >= c->cases - (c->noisy ? c->noisy : 1)
				? c->noisier
				: 1,
			    k ? 0 : c->pause, &all[k]);
	}
	if (c->outlier > 0)
		all[0].v[1][1].v[0] -= log1p(c->outlier);
	for (int k = 0; k < c->cases && (c->looks || c->decided); k++)
		stop_early(&all[k], c->n, c->decided);
}

/* Returns the name of a metric in the records of a cell. */
static const char *
name_metric(const struct cell *c, int m)
{
	if (c->slow.requests > 0)
		return "p999_latency_ms";
	return (c->ratios ? ratio_names : metric_names)[m];
}

static int
count_metrics(const struct cell *c)
{
	return c->one_metric || c->slow.requests > 0 ? 1 : METRICS;
}

/* Writes one side as run records into a file in memory, which programs that are
 * run inherit. */
static int
write_side(const struct cell *c, const struct drawn *all, int side)
{
	double unit = c->slow.requests > 0 ? 1 : 1e5;
	int fd = memfd_create("runs", 0), index = 0;
	int metrics = count_metrics(c);
	struct str s = {0};

	for (int k = 0; k < c->cases; k++)
		for (int i = 0; i < all[k].n[side]; i++) {
			const struct value *v = &all[k].v[side][i];

			str_printf(&s,
			    "{\"type\":\"run\",\"v\":1,\"subject\":{\"label\":"
			    "\"%s\"},\"config\":{\"command\":\"C%d\"",
			    side ? "new" : "base", k);
			if (c->slow.requests > 0)
				str_printf(
				    &s, ",\"rate\":%g", c->slow.requests);
			str_printf(&s,
			    "},\"run\":{\"session\":\"s%d\",\"index\":%d",
			    v->session, ++index);
			if (!c->untimed)
				str_printf(&s, ",\"block\":%d", v->block);
			str_printf(&s,
			    "},\"env\":{\"virtual\":%s%s},\"status\":\"%s\"",
			    c->bare ? "false" : "true",
			    c->ratios ? ",\"reference_sha256\":\"ab\"" : "",
			    v->failed ? "failed\",\"error\":\"drawn" : "ok");
			for (int m = 0; m < metrics && !v->failed; m++)
				str_printf(&s, "%s\"%s\":%.9g",
				    m ? "," : ",\"metrics\":{",
				    name_metric(c, m),
				    (m ? .111 : unit) * exp(v->v[m]));
			if (c->ratios && !v->failed)
				str_printf(
				    &s, ",\"rps\":%.9g", 1e5 * exp(v->v[0]));
			if (c->slow.requests > 0)
				str_printf(&s,
				    "},\"hist\":{\"latency_ns\":\"%s\"",
				    v->hist.s);
			str_add(&s, v->failed ? "}\n" : "}}\n");
		}
	if (fd < 0 || write(fd, s.s, s.len) != (ssize_t)s.len) {
		perror("verdicts: memfd");
		exit(2);
	}
	str_free(&s);
	return fd;
}

static void
read_side(struct cases *c, int fd)
{
	char path[64];
	const char *file = path;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (cases_read(c, NULL, &file, 1, false) < 0)
		exit(2);
}

/* ---- counting */

static bool
is_first(const struct cell *c, const char *metric)
{
	return strcmp(metric, name_metric(c, 0)) == 0;
}

/* What a rule says of a report. */
struct answer {
	bool alarm;
	bool found[MOST_CASES];
};

/* Counts that a rule calls case k better (1), worse (-1) or neither (0).
 * 'finds': in a metric by which a change can be found. */
static void
count_case(
    const struct cell *c, int k, bool finds, int better, struct answer *answer)
{
	double change = find_change(c, k);

	if (change == 0)
		answer->alarm |= better != 0;
	else if (finds)
		answer->found[k] |= better == (change < 0 ? -1 : 1);
}

/* Counts the verdict on a row of vkb-compare. */
static void
count_verdict(const struct cell *c, const char *name, const char *metric,
    bool common, enum verdict v, struct answer *answer)
{
	int better = (v == VERDICT_IMPROVEMENT) - (v == VERDICT_REGRESSION);

	if (common)
		answer->alarm |= !c->changed && better;
	else
		count_case(c, atoi(name + 1), is_first(c, metric) || c->ratios,
		    better, answer);
}

static void
count_row(const struct cell *c, const struct row *row, struct result *sum,
    struct answer *answer, bool *likely)
{
	double truth = 1 + find_change(c, atoi(row->pair->name[0] + 1));
	bool changed = truth != 1, first = is_first(c, row->name);

	count_verdict(c, row->pair->name[0], row->name, row->common,
	    row->verdict, answer);
	if (row->common)
		return;
	if (!first)
		truth = 1 / truth;
	if (!isnan(row->facts.lo95) && !(c->slow.requests > 0)) {
		sum->covering++;
		sum->covered += row->facts.lo95 <= truth * (1 + 1e-12) &&
		    row->facts.hi95 >= truth * (1 - 1e-12);
	}
	if (changed && first && !c->on_margin &&
	    (fabs(c->change) >= row->margin - 1e-9 || c->stall > 0)) {
		sum->equal++;
		sum->equivalent += row->verdict == VERDICT_EQUIVALENT;
	}
	if (!changed)
		*likely = *likely || verdict_is_likely(row->verdict);
}

/* Counts the intervals of the lines about all cases. */
static void
count_overall(
    const struct cell *c, const struct comparison *report, struct result *sum)
{
	for (size_t i = 0; i < report->noverall; i++) {
		const struct overall *o = &report->overall[i];
		double truth = 0;

		for (int k = 0; k < c->cases; k++)
			truth += log1p(find_change(c, k)) / c->cases;
		truth = exp(is_first(c, o->name) ? truth : -truth);

		if (isnan(o->lo) || c->slow.requests > 0)
			continue;
		sum->means++;
		sum->held += o->lo <= fmin(truth, o->ratio) &&
		    o->hi >= fmax(truth, o->ratio);
	}
}

/* ---- the other rules */

static double
median_of(const double *v, int n)
{
	double s[MOST_VALUES];

	memcpy(s, v, (size_t)n * sizeof *s);
	stats_sort(s, (size_t)n);
	return stats_median(s, (size_t)n);
}

/* The values of a metric of a side, as logarithms. */
static int
list_values(const struct drawn *d, int side, int m, double *v)
{
	int n = 0;

	for (int i = 0; i < d->n[side]; i++)
		if (!d->v[side][i].failed)
			v[n++] = d->v[side][i].v[m];
	return n;
}

/* Counts what benchstat's rule and the line of 2 % say of all rows. */
static void
count_others(
    const struct cell *c, const struct drawn *all, struct answer answers[RULES])
{
	int metrics = count_metrics(c);

	for (int i = 0; i < c->cases * metrics; i++) {
		double x[MOST_VALUES], y[MOST_VALUES];
		const struct drawn *d = &all[i / metrics];
		int m = list_values(d, 0, i % metrics, x);
		int n = list_values(d, 1, i % metrics, y);
		double change = (median_of(y, n) - median_of(x, m)) *
		    (c->slow.requests > 0 ? -1 : 1);
		bool first = i % metrics == 0;
		int better = change < 0 ? -1 : 1, k = i / metrics;

		count_case(c, k, first,
		    ranks_test(x, (size_t)m, y, (size_t)n) < .05 ? better : 0,
		    &answers[BENCHSTAT]);
		count_case(c, k, first, fabs(change) > .02 ? better : 0,
		    &answers[LINE]);
	}
}

static void
fail_program(const char *why)
{
	fprintf(stderr, "verdicts: %s: %s\n", rule_names[PROGRAM], why);
	exit(2);
}

/* Runs the program of -p on the records of both sides. Returns the end of a
 * pipe to read its output from. */
static int
start_program(const struct cell *c, const int runs[2], pid_t *pid)
{
	char files[2][64];
	/* The second edition judged p99.9 only if it was named. */
	const char *argv[] = {rule_names[PROGRAM], "-f", "jsonl", files[0],
	    files[1], c->slow.requests > 0 ? "-m" : NULL, name_metric(c, 0),
	    NULL};
	posix_spawn_file_actions_t actions;
	int ends[2], error;

	for (int i = 0; i < 2; i++)
		snprintf(
		    files[i], sizeof files[i], "/proc/self/fd/%d", runs[i]);
	error = pipe2(ends, O_CLOEXEC) < 0
	    ? errno
	    : posix_spawn_file_actions_init(&actions);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	if (!error)
		error = posix_spawnp(
		    pid, argv[0], &actions, NULL, (char **)argv, environ);
	if (error)
		fail_program(strerror(error));
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	return ends[0];
}

/* Counts the verdict that a record of the program of -p has. */
static void
count_record(
    const struct cell *c, const struct json *rec, struct answer *answer)
{
	const char *name = json_get_str(json_get(rec, "config"), "command");
	const char *metric = json_get_str(rec, "metric");
	const char *verdict = json_get_str(rec, "verdict");
	bool common = json_get_bool(rec, "common", false);
	enum verdict v = verdict ? verdict_find(verdict) : VERDICTS;

	if (!metric || v == VERDICTS || (!common && !name))
		fail_program("a record lacks its case, metric or verdict");
	count_verdict(c, name, metric, common, v, answer);
}

/* Counts what the program of -p says of the runs of both sides. A report is
 * complete when it ends with the comparison record. */
static void
count_program(const struct cell *c, const int runs[2], struct answer *answer)
{
	pid_t pid;
	int out = start_program(c, runs, &pid), more, status, gates = 0;
	struct jsonl *in = jsonl_fd(out, rule_names[PROGRAM]);
	bool complete = false;
	struct json *rec;

	while ((more = jsonl_next(in, &rec)) > 0) {
		const char *type = json_get_str(rec, "type");
		const char *class = json_get_str(rec, "class");

		complete = type && strcmp(type, "comparison") == 0;
		if (class && strcmp(class, "gate") == 0) {
			count_record(c, rec, answer);
			gates++;
		}
		json_free(rec);
	}
	jsonl_close(in);
	if (more < 0)
		fail_program("its output cannot be read");
	/* 2: there is no answer, because of runs that failed for example. */
	if (waitpid(pid, &status, 0) < 0 || !WIFEXITED(status) ||
	    WEXITSTATUS(status) > 2 || !complete || !gates)
		fail_program("it printed no complete report");
}

/* ---- reports */

struct judged {
	int runs[2]; /* records in memory */
	struct cases side[2];
	struct comparison report;
};

static void
judge_drawn(const struct cell *c, const struct drawn *all, struct judged *j)
{
	struct rules judging = {.today = "2026-11-21"};

	for (int k = 0; k < 2; k++) {
		j->runs[k] = write_side(c, all, k);
		read_side(&j->side[k], j->runs[k]);
	}
	judge_compare(&j->report, &j->side[0], 0, &j->side[1], 0, &judging);
	decide_all(&j->report, 1, &judging);
}

static void
free_judged(struct judged *j)
{
	judge_free(&j->report);
	for (int k = 0; k < 2; k++) {
		cases_free(&j->side[k]);
		close(j->runs[k]);
	}
}

static void
count_report(const struct cell *c, const struct drawn *all,
    const struct judged *j, struct result *sum)
{
	const struct comparison *report = &j->report;
	struct answer answers[RULES] = {0};
	bool likely = false;

	for (size_t i = 0; i < report->nrows; i++)
		if (report->rows[i].gate)
			count_row(c, &report->rows[i], sum, &answers[SHIPPED],
			    &likely);
	count_others(c, all, answers);
	if (rules > PROGRAM)
		count_program(c, j->runs, &answers[PROGRAM]);
	for (int k = 0; k < rules; k++) {
		sum->alarms[k] += answers[k].alarm;
		for (int i = 0; i < c->cases; i++)
			sum->found[k] += answers[k].found[i];
	}
	count_overall(c, report, sum);
	sum->changed += c->changed + c->improved;
	sum->likely += likely;
	sum->reports++;
}

/* Returns the row that the sentence is about: the throughput of the first case,
 * or what all cases of another session have in common. */
static const struct row *
find_row(const struct cell *of, const struct comparison *c)
{
	const struct row *first = NULL;

	for (size_t i = 0; i < c->nrows; i++) {
		const struct row *row = &c->rows[i];

		if (!is_first(of, row->name))
			continue;
		if (row->common && of->sentence != SESSIONS_SETTLE)
			return row;
		if (strcmp(row->pair->name[0], "C0") == 0)
			first = row;
	}
	return first;
}

/* Makes the cell with as many sessions as the sentence about the reference says
 * that a change takes. */
static bool
follow_sessions(const struct comparison *report, struct cell *to)
{
	static const char words[] = " in one case takes ";
	struct str s = {0};
	const char *at;

	to->changed = 1;
	to->change = -.05;
	reference_describe(&s, report);
	at = s.s ? strstr(s.s, words) : NULL;
	if (at)
		to->sessions = to->contenders = atoi(at + sizeof words - 1);
	str_free(&s);
	return at;
}

/* Makes the cell in which the sentence of the row is true. Returns false if the
 * report does not say it. */
static bool
follow_sentence(
    const struct cell *c, const struct comparison *report, struct cell *to)
{
	const struct row *row = find_row(c, report);
	bool beyond = row->facts.ratio < 1 - row->margin ||
	    row->facts.ratio > 1 / (1 - row->margin);

	*to = *c;
	if (c->sentence == SESSIONS_SETTLE)
		return follow_sessions(report, to);
	to->changed = row->common ? c->cases : 1;
	if (c->sentence == VISIBLE) {
		to->change = -report_find_visible(row);
		return !isnan(to->change);
	}
	to->change = row->facts.ratio - 1;
	to->n = (int)row->needed;
	return to->n > 0 && to->n <= MOST_NEEDED &&
	    beyond == (c->sentence == SETTLES);
}

static bool
has_come_true(const struct cell *c, const struct cell *to, struct drawn *all)
{
	struct judged j;
	enum verdict v;

	judge_drawn(to, all, &j);
	v = find_row(c, &j.report)->verdict;
	for (size_t i = 0; i < j.report.nrows; i++) {
		const struct row *row = &j.report.rows[i];

		if (c->sentence == SESSIONS_SETTLE && row->gate &&
		    row->verdict == VERDICT_REGRESSION &&
		    strcmp(row->pair->name[0], "C0") == 0)
			v = row->verdict;
	}
	free_judged(&j);
	if (c->sentence == EQUALIZES)
		return v == VERDICT_EQUIVALENT;
	return v == (to->change < 0 ? VERDICT_REGRESSION : VERDICT_IMPROVEMENT);
}

static void
simulate_report(
    struct rng *r, const struct cell *c, struct drawn *all, struct result *sum)
{
	struct judged j;
	struct cell to;
	bool said;

	draw_report(r, c, all);
	judge_drawn(c, all, &j);
	count_report(c, all, &j, sum);
	said = c->sentence && follow_sentence(c, &j.report, &to);
	free_judged(&j);
	if (!said)
		return;
	draw_report(r, &to, all);
	sum->said++;
	sum->kept += has_come_true(c, &to, all);
}

/* Simulates reports with as many processes as there are CPUs. */
static struct result
simulate_cell(const struct cell *c, int reports, uint64_t seed)
{
	int jobs = (int)sysconf(_SC_NPROCESSORS_ONLN), ends[2];
	struct result all = {0}, one;

	if (pipe2(ends, O_CLOEXEC) < 0)
		exit(2);
	fflush(NULL);
	for (int j = 0; j < jobs; j++) {
		struct drawn *d;
		struct rng r;

		if (fork() != 0)
			continue;
		d = calloc((size_t)c->cases, sizeof *d);
		one = (struct result){0};
		/* The number of processes must not change the numbers. */
		for (int i = j; i < reports; i += jobs) {
			rng_seed(&r, seed, (uint64_t)i);
			simulate_report(&r, c, d, &one);
		}
		_exit(write(ends[1], &one, sizeof one) != sizeof one);
	}
	close(ends[1]);
	while (read(ends[0], &one, sizeof one) == sizeof one) {
		double *to = (double *)&all, *from = (double *)&one;

		for (size_t i = 0; i < sizeof all / sizeof *to; i++)
			to[i] += from[i];
	}
	close(ends[0]);
	while (wait(NULL) > 0)
		;
	if (all.reports < reports) {
		fprintf(stderr, "verdicts: a process has failed\n");
		exit(2);
	}
	return all;
}

/* Prints a share in percent, or a dash if there is none. */
static void
print_share(double part, double of)
{
	if (of > 0)
		printf(" %5.1f", 100 * part / of);
	else
		printf("     -");
}

/* Returns two standard deviations of a share of so many reports. */
static double
find_slack(const struct result *r)
{
	return 2 * sqrt(.05 * .95 / r->reports);
}

static bool
has_many_alarms(const struct cell *c, const struct result *r, int rule)
{
	return c->alarms_most > 0 &&
	    r->alarms[rule] > (c->alarms_most + find_slack(r)) * r->reports;
}

static bool
has_few_found(const struct cell *c, const struct result *r, int rule)
{
	return c->found_least > 0 &&
	    r->found[rule] < (c->found_least - find_slack(r)) * r->changed;
}

/* Prints in how many cells each rule misses a goal that 'goals' cells have. */
static void
print_missed(const char *what, int goals, const int missed[RULES])
{
	printf("%s than the goal, in cells of %d: ", what, goals);
	for (int k = 0; k < rules; k++)
		printf("%s%s %d", k ? ", " : "", rule_names[k], missed[k]);
	printf("\n");
}

static bool
print_cell(const struct cell *c, const struct result *r)
{
	double slack = find_slack(r);
	double least = c->covered_least > 0 ? c->covered_least : .93;
	bool good =
	    !has_many_alarms(c, r, SHIPPED) && !has_few_found(c, r, SHIPPED);

	printf("%-46s", c->name);
	for (int k = 0; k < rules; k++)
		print_share(
		    r->alarms[k], c->changed < c->cases ? r->reports : 0);
	printf(" |");
	for (int k = 0; k < rules; k++)
		print_share(r->found[k], r->changed);
	printf(" |");
	print_share(r->covered, r->covering);
	print_share(r->held, r->means);
	print_share(r->equivalent, r->equal);
	print_share(r->likely, r->reports);
	/* What is likely may stand in one of ten reports without a change. */
	if (!c->changed)
		good = good && r->likely <= (.1 + slack) * r->reports;
	if (c->told)
		good = good &&
		    fabs(r->found[SHIPPED] / r->changed - .8) <=
			.05 + 2 * sqrt(.8 * .2 / r->changed);
	if (r->equal > 0)
		good = good && r->equivalent <= (.06 + slack) * r->equal;
	good = good && r->covered >= (least - slack) * r->covering;
	good = good && r->held >= (.93 - slack) * r->means;
	/* A sentence that hardly any report says would be true of nothing. */
	good = good && (!c->sentence || r->said >= .01 * r->reports);
	print_share(r->kept, r->said);
	if (r->said > 0) {
		double share = r->kept / r->said, off = 2 * sqrt(.16 / r->said);

		good = good && share >= .75 - off && share <= .9 + off;
	}
	printf("%s\n", good ? "" : "  missed");
	return good;
}

int
main(int argc, char **argv)
{
	const char *text = "";
	int reports = 1000, opt, ran = 0, missed = 0;
	/* Cells with a goal of alarms, of changes found, and who misses it. */
	int quiet = 0, sharp = 0, alarms[RULES] = {0}, found[RULES] = {0};
	uint64_t seed = 1;

	while ((opt = getopt(argc, argv, "n:s:k:p:")) != -1) {
		if (opt == 'n')
			reports = atoi(optarg);
		else if (opt == 's')
			seed = strtoull(optarg, NULL, 10);
		else if (opt == 'k')
			text = optarg;
		else if (opt == 'p') {
			rule_names[PROGRAM] = optarg;
			rules = RULES;
		} else
			return 2;
	}
	if (reports < 1 || optind < argc) {
		fprintf(stderr,
		    "usage: verdicts [-n REPORTS] [-s SEED] [-k TEXT] "
		    "[-p PROGRAM]\n");
		return 2;
	}
	printf("%d reports a cell, in percent; columns of alarms and found: ",
	    reports);
	for (int k = 0; k < rules; k++)
		printf("%s%s", k ? ", " : "", rule_names[k]);
	printf("\n%-46s %-*s | %-*s | cover  mean equal likely  true\n", "cell",
	    6 * rules - 1, "report with alarm", 6 * rules - 1, "changes found");
	for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
		struct cell c = cells[i];
		struct result r;

		if (!strstr(c.name, text))
			continue;
		c.cases = c.cases ? c.cases : 10;
		c.sessions = c.sessions ? c.sessions : 1;
		if (!c.changed && !(c.alarms_most > 0))
			c.alarms_most = .05;
		if (c.told)
			c.change = -samplesize_visible_change(
			    &(struct samplesize){(size_t)c.cases, 2, c.cv,
				metric_find("rps")->margin},
			    (size_t)c.n);
		r = simulate_cell(&c, reports, seed);
		ran++;
		missed += !print_cell(&c, &r);
		quiet += c.alarms_most > 0;
		sharp += c.found_least > 0;
		for (int k = 0; k < rules; k++) {
			alarms[k] += has_many_alarms(&c, &r, k);
			found[k] += has_few_found(&c, &r, k);
		}
	}
	if (!ran) {
		fprintf(
		    stderr, "verdicts: no cell has '%s' in its name\n", text);
		return 2;
	}
	print_missed("more false alarms", quiet, alarms);
	print_missed("fewer changes found", sharp, found);
	printf("%d cells missed their goals\n", missed);
	return missed > 0;
}
