/*
 * Simulates reports of p99.9 of known truth through the judging of vkb-compare,
 * and prints for each cell the share of reports with a false alarm, of those
 * that call an unchanged case likely changed, of changes found or likely, and
 * of wrong "equivalent" verdicts: of p99.9 as it is judged, by counts of slow
 * requests, and of the same runs without these counts, by their values.
 *
 * Most requests of a run take .1 to .3 ms; some are slow by themselves, and
 * pauses, whose length has a heavy tail (Pareto's law), delay all that arrive
 * meanwhile. How often both happen varies from run to run.
 *
 *	build/bench/tails [-n REPORTS] [-s SEED] [-k TEXT]
 *
 * -n REPORTS  reports of each cell (default 400)
 * -s SEED     number that all random numbers follow from (default 1)
 * -k TEXT     only the cells whose name holds TEXT
 *
 * At most 5 % of reports may have a false alarm, or 8 % where sides are
 *sessions that differ a lot; 80 % of changes are to be found, and 6 % may be
 *called equivalent. A change that lies on the margin has no goal.
 *
 * Exit status: 0 all cells are within their goals, 1 some are not, 2 trouble.
 */
#include "hist.h"
#include "judge/verdict.h"
#include "rng.h"
#include "str.h"
#include "tail.h"
#include "vkb-compare/cases.h"
#include "vkb-compare/decide.h"
#include "vkb-compare/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define FOUND .8 /* of the changes that are larger than the margin */

enum { MOST_CASES = 24, MOST_RUNS = 64 };
enum rule { COUNTS, VALUES, RULES };

struct cell {
	const char *name;
	int cases, n;       /* runs of a case and side */
	double requests;    /* of a run of a second */
	double slow;        /* share of requests that are slow by themselves */
	double pauses;      /* of a run */
	double alpha;       /* of Pareto's law; 0: 1.2 */
	double varies;      /* sd of ln(how often), of each run */
	double machine, ar; /* the same of all cases at a time, with this AR */
	bool apart;         /* not interleaved: sides are sessions */
	int contender;      /* its runs; 0: n */
	int sessions;       /* of the baseline, if apart; 0: 1 */
	double session_sd, case_sd; /* of them */
	double outlier;             /* a pause of so many ms in one run */
	int changed;                /* cases */
	double stall;               /* ms in each run of the contender */
	double every;               /* share of the runs with it; 0: all */
	double factor;              /* times as often slow; 0: 1 */
	bool better;                /* the sides are swapped */
	bool
	    on_margin; /* a change of the size of the margin: either is right */
};

static const struct cell cells[] = {
    {.name = "A/A rate 5000 n=6",
	.n = 6,
	.requests = 5000,
	.slow = .001,
	.pauses = 1,
	.varies = .3},
    {.name = "A/A rate 5000 n=20",
	.n = 20,
	.requests = 5000,
	.slow = .001,
	.pauses = 1,
	.varies = .3},
    {.name = "A/A rate 5000 n=8, calm",
	.n = 8,
	.requests = 5000,
	.slow = .0005},
    {.name = "A/A rate 1000 n=10",
	.n = 10,
	.requests = 1000,
	.slow = .001,
	.pauses = 1,
	.varies = .3},
    {.name = "A/A rate 5000 n=8, heavier",
	.n = 8,
	.requests = 5000,
	.slow = .001,
	.pauses = 2,
	.alpha = .7,
	.varies = .5},
    {.name = "A/A rate 5000 n=8, rare pauses",
	.n = 8,
	.requests = 5000,
	.slow = .0005,
	.pauses = .1,
	.alpha = .7},
    {.name = "A/A 100000 requests n=8",
	.n = 8,
	.requests = 100000,
	.slow = .001,
	.pauses = 2,
	.varies = .3},
    {.name = "A/A AR .6 n=8",
	.n = 8,
	.requests = 5000,
	.slow = .001,
	.pauses = 1,
	.machine = .7,
	.ar = .6},
    {.name = "A/A AR .9 n=8",
	.n = 8,
	.requests = 5000,
	.slow = .001,
	.pauses = 1,
	.machine = 1,
	.ar = .9},
    {.name = "A/A one case n=8",
	.cases = 1,
	.n = 8,
	.requests = 5000,
	.slow = .001,
	.pauses = 1,
	.varies = .3},
    {.name = "A/A two cases n=5",
	.cases = 2,
	.n = 5,
	.requests = 5000,
	.slow = .001,
	.pauses = 1,
	.varies = .3},
    {.name = "A/A n=4",
	.n = 4,
	.requests = 5000,
	.slow = .001,
	.pauses = 1,
	.varies = .3},
    {.name = "A/A a pause of 1 s in one run n=8",
	.n = 8,
	.requests = 5000,
	.slow = .001,
	.pauses = 1,
	.varies = .3,
	.outlier = 1000},
    {.name = "A/A apart n=8",
	.n = 8,
	.requests = 5000,
	.slow = .001,
	.pauses = 1,
	.varies = .3,
	.apart = true},
    {.name = "A/A apart 20 runs, 5 runs",
	.n = 20,
	.contender = 5,
	.requests = 5000,
	.slow = .001,
	.pauses = 1,
	.varies = .3,
	.apart = true},
    {.name = "A/A apart AR .6 n=8",
	.n = 8,
	.requests = 5000,
	.slow = .001,
	.pauses = 1,
	.machine = .7,
	.ar = .6,
	.apart = true},
    {.name = "A/A sessions sd .3 n=8",
	.n = 8,
	.requests = 5000,
	.slow = .001,
	.pauses = 1,
	.varies = .3,
	.apart = true,
	.session_sd = .3,
	.case_sd = .3},
    {.name = "A/A sessions sd .5 n=8",
	.n = 8,
	.requests = 5000,
	.slow = .001,
	.pauses = 1,
	.varies = .3,
	.apart = true,
	.session_sd = .5,
	.case_sd = .3},
    {.name = "A/A 100000 requests sessions sd .5 n=20",
	.n = 20,
	.requests = 100000,
	.slow = .001,
	.varies = .2,
	.apart = true,
	.session_sd = .5,
	.case_sd = .5},
    {.name = "A/A K=6 sessions sd .5 n=5",
	.n = 5,
	.sessions = 6,
	.requests = 5000,
	.slow = .001,
	.pauses = 1,
	.varies = .3,
	.apart = true,
	.session_sd = .5,
	.case_sd = .3},
    {.name = "calm: stall of 10 ms in 1 of 1, n=6",
	.cases = 1,
	.n = 6,
	.requests = 5000,
	.slow = .001,
	.pauses = .2,
	.alpha = 3,
	.varies = .3,
	.changed = 1,
	.stall = 10},
    {.name = "calm: stall of 10 ms gone in 1 of 1, n=6",
	.cases = 1,
	.n = 6,
	.requests = 5000,
	.slow = .001,
	.pauses = .2,
	.alpha = 3,
	.varies = .3,
	.changed = 1,
	.stall = 10,
	.better = true},
    {.name = "calm: twice as often in 1 of 1, n=10",
	.cases = 1,
	.n = 10,
	.requests = 5000,
	.slow = .001,
	.pauses = .2,
	.alpha = 3,
	.varies = .3,
	.changed = 1,
	.factor = 2,
	.on_margin = true},
    {.name = "calm: 3 times as often in 1 of 1, n=10",
	.cases = 1,
	.n = 10,
	.requests = 5000,
	.slow = .001,
	.pauses = .2,
	.alpha = 3,
	.varies = .3,
	.changed = 1,
	.factor = 3},
    {.name = "stall of 10 ms in 1 of 1, n=6",
	.cases = 1,
	.n = 6,
	.requests = 5000,
	.slow = .001,
	.pauses = 1,
	.varies = .3,
	.changed = 1,
	.stall = 10},
    {.name = "stall of 10 ms everywhere, n=6",
	.n = 6,
	.requests = 5000,
	.slow = .001,
	.pauses = 1,
	.varies = .3,
	.changed = 10,
	.stall = 10},
    {.name = "stall of 10 ms in 1 of 10, n=8",
	.n = 8,
	.requests = 5000,
	.slow = .001,
	.pauses = 1,
	.varies = .3,
	.changed = 1,
	.stall = 10},
    {.name = "stall of 10 ms gone in 1 of 1, n=8",
	.cases = 1,
	.n = 8,
	.requests = 5000,
	.slow = .001,
	.pauses = 1,
	.varies = .3,
	.changed = 1,
	.stall = 10,
	.better = true},
    {.name = "stall of 10 ms in 1 of 3 runs, 1 of 1, n=20",
	.cases = 1,
	.n = 20,
	.requests = 5000,
	.slow = .001,
	.pauses = 1,
	.varies = .3,
	.changed = 1,
	.stall = 10,
	.every = .33},
    {.name = "stall of 10 ms everywhere, sessions, n=8",
	.n = 8,
	.requests = 5000,
	.slow = .001,
	.pauses = 1,
	.varies = .3,
	.changed = 10,
	.stall = 10,
	.apart = true,
	.session_sd = .3,
	.case_sd = .3},
    {.name = "twice as often in 1 of 10, n=20",
	.n = 20,
	.requests = 5000,
	.slow = .001,
	.pauses = .3,
	.varies = .3,
	.changed = 1,
	.factor = 2,
	.on_margin = true},
    {.name = "3 times as often in 1 of 10, n=20",
	.n = 20,
	.requests = 5000,
	.slow = .001,
	.pauses = .3,
	.varies = .3,
	.changed = 1,
	.factor = 3},
    {.name = "3 times as often everywhere, n=8",
	.n = 8,
	.requests = 100000,
	.slow = .001,
	.pauses = 2,
	.varies = .3,
	.changed = 10,
	.factor = 3},
};

struct result {
	double reports, unchanged, changed, beyond;
	double alarms[RULES], likely[RULES]; /* reports */
	double found[RULES], maybe[RULES];   /* changed cases */
	double equal[RULES]; /* changed by the margin or more, "equivalent" */
};

/* A run: what its record has. */
struct run {
	double value; /* ms */
	struct str tail;
};

struct side {
	struct run v[MOST_RUNS];
	int n;
};

/* Box and Muller (1958). */
static double
draw_normal(struct rng *r)
{
	return sqrt(2 * rng_exponential(r)) * cos(2 * M_PI * rng_unit(r));
}

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
draw_length(struct rng *r, const struct cell *c)
{
	double alpha = c->alpha > 0 ? c->alpha : 1.2;

	return fmin(500, .5 * exp(rng_exponential(r) / alpha));
}

/* Adds the requests that a pause delays. Returns their number. */
static int
add_pause(struct rng *r, struct hist *h, const struct cell *c, double ms)
{
	int n = draw_poisson(r, ms / 1e3 * c->requests);

	for (int i = 0; i < n; i++)
		hist_add(h, (int64_t)(1e6 * (.2 + ms * rng_unit(r))), 1);
	return n;
}

static void
draw_run(struct rng *r, const struct cell *c, double often, double stall,
    struct run *run)
{
	struct hist *h = HIST_LATENCY();
	int slow = draw_poisson(r, often * c->slow * c->requests);
	int pauses = draw_poisson(r, often * c->pauses), done = slow;

	for (int i = 0; i < slow; i++)
		hist_add(h, (int64_t)(1e6 * (.2 + draw_length(r, c))), 1);
	for (int i = 0; i < pauses; i++)
		done += add_pause(r, h, c, draw_length(r, c));
	if (stall > 0)
		done += add_pause(r, h, c, stall);
	for (double left = fmax(10, c->requests - done), i = 0; i < 10; i++)
		hist_add(
		    h, (int64_t)(1e5 * (1 + i / 5)), (uint64_t)(left / 10));
	run->value = (double)hist_quantile(h, .999) / 1e6;
	str_clear(&run->tail);
	tail_write(&run->tail, h);
	hist_free(h);
}

static int
count_sessions(const struct cell *c, int side)
{
	return c->apart && !side && c->sessions ? c->sessions : 1;
}

static int
count_runs(const struct cell *c, int side)
{
	return side && c->contender ? c->contender : c->n;
}

/* Draws both sides of a case; 'machine' of each turn and 'session' of each side
 * are what all cases share. */
static void
draw_case(struct rng *r, const struct cell *c, int k, const double *machine,
    double (*session)[MOST_RUNS], struct side of[2])
{
	bool changed = k < c->changed;

	of[0].n = of[1].n = 0;
	for (int side = 0; side < 2; side++) {
		int runs = count_runs(c, side);

		for (int s = 0; s < count_sessions(c, side); s++) {
			double own =
			    session[side][s] + c->case_sd * draw_normal(r);

			for (int i = 0; i < runs; i++) {
				int turn =
				    c->apart ? side * c->n + i : 2 * i + side;
				double often = exp(own + machine[turn] +
				    c->varies * draw_normal(r));
				bool now = changed && side == !c->better;
				double stall = now ? c->stall : 0;

				if (c->every > 0 && rng_unit(r) > c->every)
					stall = 0;
				if (k == 0 && c->outlier > 0 && side && i == 2)
					stall = c->outlier;
				if (now && c->factor > 0)
					often *= c->factor;
				draw_run(r, c, often, stall,
				    &of[side].v[of[side].n++]);
			}
		}
	}
}

static void
draw_report(struct rng *r, const struct cell *c, struct side (*all)[2])
{
	double machine[2 * MOST_RUNS], at = draw_normal(r);
	double session[2][MOST_RUNS];

	for (int i = 0; i < 2 * MOST_RUNS; i++) {
		machine[i] = c->machine * at;
		at = c->ar * at + sqrt(1 - c->ar * c->ar) * draw_normal(r);
	}
	for (int i = 0; i < 2 * MOST_RUNS; i++)
		session[i / MOST_RUNS][i % MOST_RUNS] =
		    c->session_sd * draw_normal(r);
	for (int k = 0; k < c->cases; k++)
		draw_case(r, c, k, machine, session, all[k]);
}

static void
write_numbers(struct str *s, const char *name, const struct cell *c, int side,
    const struct side *of)
{
	int runs = count_runs(c, side);

	str_printf(s, "\"%s\":[", name);
	for (int i = 0; i < of->n; i++) {
		str_add(s, i ? "," : "");
		switch (*name) {
		case 'v':
			str_printf(s, "%.9g", of->v[i].value);
			break;
		case 'b':
			str_printf(
			    s, "%d", i % runs + (c->apart && side ? 1000 : 0));
			break;
		case 's':
			str_printf(s, "%d", i / runs);
			break;
		default:
			str_add(s, of->v[i].tail.s);
		}
	}
	str_addc(s, ']');
}

/* Reads one side as summary records; 'counts': with their slow requests. */
static void
read_side(struct cases *to, const struct cell *c, struct side (*all)[2],
    int side, bool counts)
{
	int fd = memfd_create("summaries", MFD_CLOEXEC);
	struct str s = {0};
	char path[64];
	const char *file = path;

	for (int k = 0; k < c->cases; k++) {
		const struct side *of = &all[k][side];

		str_printf(&s,
		    "{\"type\":\"summary\",\"v\":1,\"subject\":{\"label\":"
		    "\"%s\"},\"config\":{\"command\":\"C%d\",\"rate\":%g},"
		    "\"n\":%d,\"failed\":0,\"env\":{\"virtual\":true},"
		    "\"sessions\":[",
		    side ? "new" : "base", k, c->requests, of->n);
		for (int i = 0; i < count_sessions(c, side); i++)
			str_printf(&s, "%s\"s%d\"", i ? "," : "",
			    c->apart ? 100 * side + i : 0);
		str_add(&s, "],\"metrics\":{\"p999_latency_ms\":{");
		write_numbers(&s, "values", c, side, of);
		str_addc(&s, ',');
		write_numbers(&s, "blocks", c, side, of);
		str_addc(&s, ',');
		write_numbers(&s, "sessions", c, side, of);
		if (counts) {
			str_addc(&s, ',');
			write_numbers(&s, "tails", c, side, of);
		}
		str_add(&s, "}}}\n");
	}
	if (fd < 0 || write(fd, s.s, s.len) != (ssize_t)s.len ||
	    lseek(fd, 0, SEEK_SET) != 0) {
		perror("tails: memfd");
		exit(2);
	}
	str_free(&s);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (cases_read(to, NULL, &file, 1, CASES_VALUES) < 0)
		exit(2);
	close(fd);
}

static void
count_rows(const struct cell *c, const struct comparison *report,
    enum rule rule, struct result *sum)
{
	bool alarm = false, likely = false;

	for (size_t i = 0; i < report->nrows; i++) {
		const struct row *row = &report->rows[i];
		enum verdict v = row->verdict;
		bool sure = v <= VERDICT_IMPROVEMENT;
		enum verdict way =
		    c->better ? VERDICT_IMPROVEMENT : VERDICT_REGRESSION;
		bool changed =
		    !row->common && atoi(row->pair->name[0] + 1) < c->changed;

		if (row->common && c->changed)
			continue;
		if (!changed) {
			alarm |= sure;
			likely |= verdict_is_likely(v);
			continue;
		}
		alarm |= sure && v != way;
		sum->found[rule] += v == way;
		sum->maybe[rule] += v == way + VERDICT_LIKELY_REGRESSION;
		sum->equal[rule] += v == VERDICT_EQUIVALENT;
	}
	sum->alarms[rule] += alarm;
	sum->likely[rule] += likely;
}

static void
simulate_report(struct rng *r, const struct cell *c, struct side (*all)[2],
    struct result *sum)
{
	struct rules rules = {.today = "2026-11-21"};

	draw_report(r, c, all);
	sum->reports++;
	sum->changed += c->changed;
	for (enum rule rule = COUNTS; rule < RULES; rule++) {
		struct cases side[2];
		struct comparison report;

		for (int j = 0; j < 2; j++)
			read_side(&side[j], c, all, j, rule == COUNTS);
		judge_compare(&report, &side[0], 0, &side[1], 0, &rules);
		decide_all(&report, 1, &rules);
		count_rows(c, &report, rule, sum);
		judge_free(&report);
		cases_free(&side[0]);
		cases_free(&side[1]);
	}
}

/* Simulates reports with as many processes as there are CPUs. */
static struct result
simulate_cell(const struct cell *c, int reports, uint64_t seed)
{
	int jobs = (int)sysconf(_SC_NPROCESSORS_ONLN), ends[2];
	struct result all = {0}, one;

	if (pipe(ends) < 0)
		exit(2);
	fflush(NULL);
	for (int j = 0; j < jobs; j++) {
		struct side(*drawn)[2];
		struct rng r;

		if (fork() != 0)
			continue;
		drawn = calloc(MOST_CASES, sizeof *drawn);
		one = (struct result){0};
		/* The number of processes must not change the numbers. */
		for (int i = j; drawn && i < reports; i += jobs) {
			rng_seed(&r, seed, (uint64_t)i);
			simulate_report(&r, c, drawn, &one);
		}
		_exit(!drawn || write(ends[1], &one, sizeof one) != sizeof one);
	}
	close(ends[1]);
	while (read(ends[0], &one, sizeof one) == sizeof one) {
		double *to = (double *)&all, *from = (double *)&one;

		for (size_t i = 0; i < sizeof all / sizeof *to; i++)
			to[i] += from[i];
	}
	close(ends[0]);
	for (int status; wait(&status) > 0;)
		if (status)
			exit(2);
	return all;
}

/* Prints shares in percent, or dashes if there are none. */
static void
print_shares(const double part[RULES], double of)
{
	for (enum rule k = COUNTS; k < RULES; k++)
		if (of > 0)
			printf(" %5.1f", 100 * part[k] / of);
		else
			printf("     -");
	printf(" |");
}

static bool
print_cell(const struct cell *c, const struct result *r)
{
	/* Two standard deviations of a share of so many reports. */
	double slack = 2 * sqrt(.05 * .95 / r->reports);
	bool good = r->alarms[COUNTS] <= (.05 + slack) * r->reports;

	printf("%-46s", c->name);
	print_shares(r->alarms, r->reports);
	print_shares(r->likely, r->reports);
	print_shares(r->found, r->changed);
	print_shares(r->maybe, r->changed);
	print_shares(r->equal, r->changed);
	if (!c->changed)
		good = good && r->likely[COUNTS] <= (.1 + slack) * r->reports;
	else if (!c->on_margin)
		good = good && r->found[COUNTS] >= FOUND * r->changed &&
		    r->equal[COUNTS] <= (.06 + slack) * r->changed;
	printf("%s%s\n", c->on_margin ? "  on the margin" : "",
	    good ? "" : "  missed");
	fflush(stdout);
	return good;
}

int
main(int argc, char **argv)
{
	const char *text = "";
	int reports = 400, opt, missed = 0;
	uint64_t seed = 1;

	while ((opt = getopt(argc, argv, "n:s:k:")) != -1) {
		if (opt == 'n')
			reports = atoi(optarg);
		else if (opt == 's')
			seed = strtoull(optarg, NULL, 10);
		else if (opt == 'k')
			text = optarg;
		else
			return 2;
	}
	if (reports < 1 || optind < argc) {
		fprintf(
		    stderr, "usage: tails [-n REPORTS] [-s SEED] [-k TEXT]\n");
		return 2;
	}
	printf("%d reports a cell, in percent, by counts and by values\n",
	    reports);
	printf("%-46s  alarm       likely      found       likely      equal\n",
	    "cell");
	for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
		struct cell c = cells[i];
		struct result r;

		if (!strstr(c.name, text))
			continue;
		c.cases = c.cases ? c.cases : 10;
		r = simulate_cell(&c, reports, seed);
		missed += !print_cell(&c, &r);
	}
	printf("%d cells missed their goals\n", missed);
	return missed > 0;
}
