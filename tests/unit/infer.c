/*
 * Tests of rows with what all rows estimate, and the decision by the tests
 * of each family: computed again from the values, one row at a time.
 */
#include "tap.h"

#include "json.h"
#include "needs.h"
#include "mem.h"
#include "rng.h"
#include "tdist.h"
#include "vkb-compare/decide.h"
#include "vkb-compare/infer.h"
#include "vkb-compare/judge.h"
#include "vkb-compare/part.h"

#include <stdlib.h>

enum { CASES = 4, METRICS = 3, ROWS = CASES * METRICS, RUNS = 8 };

static const char *const metrics[METRICS] = {
    "rps", "p50_latency_ms", "requests"};

/* The runs of each case and side. The smallest p of 6 and 6 runs passes unless
 * its level is that of a sequential look; that of 7 and 5 runs passes only in
 * the primary family. */
static const size_t runs[CASES][2] = {{8, 8}, {8, 8}, {6, 6}, {7, 5}};

/* Rows of four cases; those of the second are paired. */
struct world {
	struct comparison c;
	struct pairing pairs[CASES];
	struct kase kases[CASES];
	struct part parts[CASES];
	double values[ROWS][2][RUNS];
	struct round rounds[ROWS][2][RUNS];
};

static double
draw_normal(struct rng *r)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += rng_unit(r);
	return sum;
}

/* Sets the runs and the facts of row i of case k: noise of 2 %, of which
 * neighbouring runs share 'alike'; each row changes by 1 % more than the one
 * before. */
static void
add_row(struct world *w, size_t i, size_t k, double alike, struct rng *r)
{
	struct row *row = &w->c.rows[i];
	const struct sample *s = row->used;

	*row = (struct row){.pair = &w->pairs[k],
	    .name = mem_str(metrics[i % METRICS]),
	    .metric = metric_guess(metrics[i % METRICS]),
	    .gate = i % METRICS != 2,
	    .primary = i % METRICS == 0,
	    .margin = .01,
	    .margin_from = "table",
	    .p = NAN,
	    .visible = NAN,
	    .minutes = NAN,
	    .level = k == 2 ? .02 : .05,
	    .level10 = k == 2 ? .05 : .10};
	for (size_t j = 0; j < 2; j++) {
		double before = draw_normal(r), v;

		row->used[j] = (struct sample){
		    w->values[i][j], w->rounds[i][j], runs[k][j]};
		for (size_t n = 0; n < RUNS; n++) {
			before = alike * before +
			    sqrt(1 - alike * alike) * draw_normal(r);
			v = before * .02 + (j ? -.01 * (double)i : 0);
			w->values[i][j][n] = 1000 * exp(v);
			w->rounds[i][j][n] =
			    (struct round){n < 4 ? "a" : "b", (double)n};
		}
	}
	row->facts = verdict_measure_looked(
	    s[0].v, s[0].n, s[1].v, s[1].n, k == 1, row->level, row->level10);
}

static void
begin(struct world *w, double alike, uint64_t seed)
{
	struct rng r;

	rng_seed(&r, seed, 0);
	*w = (struct world){.c = {.pairs = w->pairs,
				.npairs = CASES,
				.nrows = ROWS,
				.matched = CASES}};
	w->c.rows = mem_array(ROWS + 1, sizeof *w->c.rows);
	for (size_t k = 0; k < CASES; k++) {
		w->parts[k].rest = json_object();
		w->kases[k] = (struct kase){.config = json_object(),
		    .parts = &w->parts[k],
		    .nparts = 1};
		json_set_num(
		    (struct json *)(size_t)w->kases[k].config, "warmup_s", 2);
		json_set_num((struct json *)(size_t)w->kases[k].config,
		    "duration_s", 10);
		json_set(
		    w->parts[k].rest, "config", json_dup(w->kases[k].config));
		w->pairs[k].side[0] = w->pairs[k].side[1] = &w->kases[k];
	}
	for (size_t i = 0; i < ROWS; i++)
		add_row(w, i, i / METRICS, alike, &r);
}

static void
end(struct world *w)
{
	for (size_t k = 0; k < CASES; k++) {
		json_free((struct json *)(size_t)w->kases[k].config);
		json_free(w->parts[k].rest);
	}
	for (size_t i = 0; i < w->c.noverall; i++)
		free(w->c.overall[i].name);
	free(w->c.overall);
	for (size_t i = 0; i < w->c.nrows; i++)
		free(w->c.rows[i].name);
	free(w->c.rows);
}

/* Returns the autocorrelation of the unpaired rows of judged metrics. */
static double
estimate(const struct world *w)
{
	struct serial sums[2] = {{0}};

	for (size_t i = 0; i < ROWS; i++)
		for (size_t j = 0; j < 2; j++)
			if (i / METRICS != 1 && i % METRICS != 2)
				sample_add_serial(
				    &w->c.rows[i].used[j], &sums[i % METRICS]);
	return serial_estimate(sums, 2);
}

/* Computes what infer_rows should make of row i from its facts before. */
static struct verdict_facts
infer(const struct world *w, size_t i, const struct verdict_facts *facts,
    double r)
{
	const struct row *row = &w->c.rows[i];
	static const double alpha[METRICS] = {.03, .02, .05};
	struct verdict_facts f = facts[i];
	struct moderate v[2 * ROWS], prior;
	size_t n = 0;
	double least = alpha[i % METRICS] / 2 / CASES * row->level / .05;

	for (size_t k = 0; k < ROWS; k++) {
		struct verdict_facts g = facts[k];

		if (k % METRICS != i % METRICS || g.paired != f.paired)
			continue;
		if (!g.paired)
			verdict_set_serial(&g, r, (const size_t[]){2, 2});
		v[n++] = g.noise[0];
		if (!g.paired)
			v[n++] = g.noise[1];
	}
	prior = moderate_prior(v, n);
	if (!f.paired)
		verdict_set_serial(&f, r, (const size_t[]){2, 2});
	verdict_set_error(&f, &prior);
	if (f.p_min > least || f.serial > 0)
		verdict_use_t(&f, prior.df > 0, row->level, row->level10);
	return f;
}

static void
check_facts(
    const struct verdict_facts *f, const struct verdict_facts *want, size_t i)
{
	char what[60];

	snprintf(what, sizeof what, "row %zu by %s", i, want->method);
	tap_str(f->method, want->method, what);
	tap_near(f->p, want->p, 1e-9, "p");
	tap_near(f->se, want->se, 1e-9, "the standard error");
	tap_near(f->df, want->df, 1e-9, "the degrees of freedom");
	tap_near(f->lo95, want->lo95, 1e-9, "the lower end");
	tap_near(f->hi90, want->hi90, 1e-9, "the upper end of 90 %");
	tap_near(f->serial, want->serial, 1e-9, "the autocorrelation");
}

static void
inferred(double alike, uint64_t seed, bool serial)
{
	struct verdict_facts before[ROWS], want[ROWS];
	const struct rules rules = {0};
	struct world w;
	double r;

	begin(&w, alike, seed);
	for (size_t i = 0; i < ROWS; i++)
		before[i] = w.c.rows[i].facts;
	r = estimate(&w);
	tap_ok(serial == (r > 0), "an autocorrelation of %.2f", r);
	for (size_t i = 0; i < ROWS; i++)
		want[i] = infer(&w, i, before, r);
	decide_all(&w.c, 1, &rules);
	tap_near(w.c.serial, r, 1e-9,
	    "the autocorrelation is that of unpaired judged rows");
	for (size_t i = 0; i < ROWS; i++)
		check_facts(&w.c.rows[i].facts, &want[i], i);
	tap_ok(w.c.paired == 2, "two judged rows are paired");
	tap_ok(w.c.tests[FAMILY_PRIMARY] == CASES &&
		w.c.tests[FAMILY_OTHER] == CASES &&
		w.c.tests[FAMILY_COMMON] == 0 &&
		w.c.tests[FAMILY_SHOWN] == CASES,
	    "each family has a test of each case");
	end(&w);
}

/* p adjusted by Benjamini and Hochberg, or by Holm, among the rows of a family,
 * by the definition; the number of those below p is that of the ranks before.
 */
static double
adjust(const struct world *w, size_t i, bool strict, double alpha)
{
	double scaled[CASES], best = strict ? 0 : 1, own = 0;

	for (size_t k = 0; k < CASES; k++) {
		const struct row *r = &w->c.rows[k * METRICS + i % METRICS];

		scaled[k] = fmin(1, r->facts.p * .05 / r->level);
		if (k * METRICS + i % METRICS == i)
			own = scaled[k];
	}
	for (size_t k = 0; k < CASES; k++) {
		size_t upto = 0;

		for (size_t l = 0; l < CASES; l++)
			upto += strict ? scaled[l] >= scaled[k]
				       : scaled[l] <= scaled[k];
		if (strict && scaled[k] <= own)
			best = fmax(best, fmin(1, scaled[k] * (double)upto));
		if (!strict && scaled[k] >= own)
			best = fmin(best, scaled[k] * CASES / (double)upto);
	}
	return fmin(1, best * .05 / alpha);
}

static void
decided(bool strict)
{
	static const double alpha[METRICS] = {.03, .02, .05};
	const struct rules rules = {.strict = strict};
	size_t counts[VERDICTS] = {0}, found[METRICS] = {0}, advised = 0;
	struct world w;

	begin(&w, 0, 3);
	decide_all(&w.c, 1, &rules);
	for (size_t i = 0; i < ROWS; i++) {
		const struct row *r = &w.c.rows[i];

		tap_near(r->p, adjust(&w, i, strict, alpha[i % METRICS]), 1e-9,
		    "p among the tests of its family");
		found[i % METRICS] += r->p < .05;
		counts[r->verdict] += r->gate;
	}
	tap_ok(memcmp(counts, w.c.count, sizeof counts) == 0,
	    "the verdicts of judged rows are counted");
	for (size_t i = 0; i < ROWS; i++) {
		const struct row *r = &w.c.rows[i];
		double have = (double)runs[i / METRICS][1];
		double next = strict ? 1 / (double)(CASES - found[i % METRICS])
				     : (double)(found[i % METRICS] + 1) / CASES;
		double level =
		    alpha[i % METRICS] * fmin(1, next) * r->level / .05;
		bool open = r->verdict == VERDICT_INCONCLUSIVE ||
		    verdict_is_likely(r->verdict);

		if (strict && found[i % METRICS] == CASES)
			level = alpha[i % METRICS] * r->level / .05;
		tap_ok(r->needed ==
			(open ? needs_runs(&r->facts, r->margin, level) : 0),
		    "row %zu (%s) needs %zu runs", i, verdict_name(r->verdict),
		    r->needed);
		tap_ok(r->rounds ==
			(open ? needs_rounds(&r->facts, r->margin, level) : 0),
		    "it needs %zu rounds", r->rounds);
		tap_near(r->visible,
		    open ? needs_change(&r->facts, r->margin, level) : NAN,
		    1e-9, "the visible change");
		tap_near(r->minutes,
		    (double)r->needed > have
			? ((double)r->needed - have) * 2 * (10 + 2) / 60
			: NAN,
		    1e-9, "the minutes of the missing runs");
		advised += r->needed > 0 || r->rounds > 0;
	}
	tap_ok(advised > 0, "there are rows that need more runs");
	end(&w);
}

/* The families of two comparisons share their tests. */
static void
families(void)
{
	static const struct {
		const char *what;
		bool gate[METRICS];
		size_t tests[FAMILIES];
		double alpha[FAMILIES];
	} cases[] = {{"both families", {true, true, false}, {8, 8, 0, 8},
			 {.03, .02, .02, .05}},
	    {"primary metrics alone", {true, false, false}, {8, 0, 0, 16},
		{.05, .05, .02, .05}},
	    {"other metrics alone", {false, true, true}, {0, 16, 0, 8},
		{.05, .05, .02, .05}}};

	for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
		const struct rules rules = {0};
		struct comparison c[2];
		struct world w[2];

		for (size_t k = 0; k < 2; k++) {
			begin(&w[k], 0, 5 + k);
			for (size_t i = 0; i < ROWS; i++)
				w[k].c.rows[i].gate =
				    cases[n].gate[i % METRICS];
			c[k] = w[k].c;
		}
		decide_all(c, 2, &rules);
		for (size_t k = 0; k < 2; k++) {
			for (size_t i = 0; i < FAMILIES; i++) {
				tap_ok(c[k].tests[i] == cases[n].tests[i],
				    "%s: %zu tests of family %zu",
				    cases[n].what, c[k].tests[i], i);
				tap_near(c[k].alpha[i], cases[n].alpha[i],
				    1e-12, "the level of the family");
			}
			w[k].c = c[k];
			end(&w[k]);
		}
	}
}

/* Checks the mean over the cases of a metric, from the estimates and intervals
 * of its rows. */
static void
check_overall(const struct world *w, const struct overall *o, size_t metric)
{
	double mean = 0, squares = 0, parts = 0, wide;

	for (size_t i = metric; i < ROWS; i += METRICS) {
		const struct verdict_facts *f = &w->c.rows[i].facts;
		double se =
		    log(f->hi95 / f->lo95) / 2 / tdist_quantile(.975, f->df);

		mean += log(f->ratio) / CASES;
		squares += se * se;
		parts += pow(se, 4) / f->df;
	}
	wide = tdist_quantile(.975, squares * squares / parts) * sqrt(squares) /
	    CASES;
	tap_str(o->name, metrics[metric], "a judged metric");
	tap_ok(o->cases == CASES, "the mean of all cases");
	tap_near(log(o->ratio), mean, 1e-9,
	    "the mean is that of the logarithms of their ratios");
	tap_near(log(o->lo_runs), mean - wide, 1e-9, "its lower end");
	tap_near(log(o->hi_runs), mean + wide, 1e-9, "its upper end");
	tap_ok(o->lo < o->ratio && o->ratio < o->hi,
	    "the interval over cases contains the mean, too");
}

/* Judges rows after calling 'change' for the second one. */
static void
overall(void (*change)(struct row *), bool shown, const char *what)
{
	const struct rules rules = {0};
	struct world w;

	begin(&w, 0, 3);
	decide_all(&w.c, 1, &rules);
	if (change)
		change(&w.c.rows[METRICS]);
	decide_overall(&w.c, 1);
	tap_ok(w.c.noverall == 2, "a mean of each judged metric");
	for (size_t k = shown ? 0 : 1; k < 2; k++)
		check_overall(&w, &w.c.overall[k], k);
	if (!shown)
		tap_ok(isnan(w.c.overall[0].lo_runs) &&
			isnan(w.c.overall[0].hi_runs),
		    "no interval over the runs: %s", what);
	end(&w);
}

static void
assume_error(struct row *row)
{
	row->facts.assumed_se = true;
}

static void
hide_noise(struct row *row)
{
	row->facts.lo95 = row->facts.hi95 = row->facts.ratio;
}

static void
measure_once(struct row *row)
{
	row->facts.lo95 = row->facts.hi95 = row->facts.df = NAN;
}

int
main(void)
{
	overall(NULL, true, "all is known");
	overall(assume_error, false, "other programs move all cases");
	overall(hide_noise, false, "a case has equal values");
	overall(measure_once, false, "a case was measured once");
	inferred(0, 3, false);
	inferred(.8, 4, true);
	decided(false);
	decided(true);
	families();
	return tap_done();
}
