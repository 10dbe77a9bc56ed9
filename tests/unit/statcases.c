/*
 * The maths against reference cases with known answers, from
 * $VKB_ACCEPTANCE/stat-cases.jsonl or from beside the repository.
 */
#include "slowpower.h"
#include "tap.h"

#include "energy.h"
#include "hist.h"
#include "histdiff.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "outlier.h"
#include "ranktest.h"
#include "stats.h"
#include "steady.h"
#include "tdist.h"
#include "judge/verdict.h"

#include <stdlib.h>
#include <unistd.h>

struct sample {
	double *v;
	size_t n;
};

static struct sample
numbers(const struct json *arr)
{
	struct sample s = {mem_array(json_len(arr) + 1, sizeof *s.v), 0};

	for (const struct json *j = json_first(arr); j; j = json_next(j))
		s.v[s.n++] = json_num(j, NAN);
	return s;
}

static void
near(const struct json *c, const char *key, const struct json *room, double got)
{
	const struct json *want = json_get(room, key);
	char what[160];
	double tolerance = json_get_num(c, "rtol", 1e-9);

	if (!want)
		return;
	snprintf(what, sizeof what, "%s: %s", json_get_str(c, "id"), key);
	if (json_type(want) == JSON_NULL)
		tap_ok(isnan(got), "%s", what);
	else
		tap_near(got, json_num(want, NAN), tolerance, what);
}

/* Differences of at most 'nothing' count as 0. */
static void
rows(const struct json *c, double (*of)(double, double), bool two,
    double nothing)
{
	const struct json *r;
	double tolerance = json_get_num(c, "rtol", 1e-9), worst = 0;

	for (r = json_first(json_get(c, "expect")); r; r = json_next(r)) {
		double a = json_num(json_at(r, 0), NAN);
		double b = two ? json_num(json_at(r, 1), NAN) : 0;
		double want = json_num(json_at(r, two ? 2 : 1), NAN);
		double got = of(a, b), off = fabs(got - want);

		off = off > nothing ? off / fabs(want) : 0;
		if (!(off <= worst))
			worst = off;
		if (!(off <= tolerance))
			printf("# (%g, %g): got %.17g, wanted %.17g\n", a, b,
			    got, want);
	}
	tap_ok(worst <= tolerance, "%s: worst relative error %.2g",
	    json_get_str(c, "id"), worst);
}

static double
normal_cdf(double z, double unused)
{
	(void)unused;
	return tdist_normal_cdf(z);
}

static double
normal_quantile(double p, double unused)
{
	(void)unused;
	return tdist_normal_quantile(p);
}

static void
betainc(const struct json *c)
{
	const struct json *r = json_first(json_get(c, "expect"));

	for (; r; r = json_next(r)) {
		double a = json_num(json_at(r, 0), 0);
		double b = json_num(json_at(r, 1), 0);
		double x = json_num(json_at(r, 2), 0);
		char what[80];

		snprintf(what, sizeof what, "I_%g(%g, %g)", x, a, b);
		tap_near(tdist_betainc(a, b, x), json_num(json_at(r, 3), NAN),
		    json_get_num(c, "rtol", 1e-9), what);
	}
}

static void
mwu(const struct json *c, const struct json *want, struct sample first,
    struct sample second)
{
	/* Counts how often 'second' is above 'first'. */
	struct ranktest t = ranktest_mwu(first.v, first.n, second.v, second.n);

	near(c, "U", want, t.stat);
	near(c, "p_two_exact", want, t.p);
	near(c, "p_min_attainable", want, t.p_min);
	tap_ok(t.exact, "%s is exact", json_get_str(c, "id"));
}

static void
interval(const struct json *c, const struct json *want,
    struct ranktest_pairs *p, bool logs, double conf)
{
	double est = ranktest_pairs_median(p), lo = NAN, hi = NAN;

	ranktest_pairs_ci(p, conf, &lo, &hi);
	if (logs)
		est = exp(est), lo = exp(lo), hi = exp(hi);
	near(c, "hl", want, est);
	near(c, "ratio", want, est);
	near(c, "lo", want, lo);
	near(c, "hi", want, hi);
	ranktest_pairs_free(p);
}

static void
median(const struct json *c, const struct json *want, struct sample s)
{
	double conf;
	size_t l = stats_median_ci(s.n, .95, &conf);

	stats_sort(s.v, s.n);
	near(c, "median", want, stats_median(s.v, s.n));
	near(c, "lo", want, l ? s.v[l - 1] : NAN);
	near(c, "hi", want, l ? s.v[s.n - l] : NAN);
	near(c, "conf", want, conf);
	near(c, "l", want, (double)l);
}

static void
welch(const struct json *c, const struct json *want, struct sample x,
    struct sample y)
{
	struct stats_welch w = stats_welch(x.v, x.n, y.v, y.n, .95);

	near(c, "t", want, w.t);
	near(c, "df", want, w.df);
	near(c, "p", want, w.p);
	near(c, "diff", want, w.diff);
	near(c, "lo", want, w.lo);
	near(c, "hi", want, w.hi);
	near(c, "se", want, w.se);
}

static void
compare(const struct json *c, const struct json *want, struct sample x,
    struct sample y)
{
	struct ranktest t = ranktest_mwu(x.v, x.n, y.v, y.n);

	mwu(c, json_get(want, "mwu"), x, y);
	interval(c, json_get(want, "hl_ratio"),
	    ranktest_ratios(x.v, x.n, y.v, y.n), false, .95);
	near(c, "cliffs_delta", want, ranktest_cliff(t.stat, x.n, y.n));
	welch(c, json_get(want, "welch"), x, y);
	median(c, json_get(want, "median_x"), x);
	median(c, json_get(want, "median_y"), y);
}

static void
signed_rank(const struct json *c, const struct json *want, struct sample x,
    struct sample y)
{
	struct ranktest t;

	for (size_t i = 0; i < x.n; i++)
		x.v[i] = y.v[i] - x.v[i];
	t = ranktest_signed(x.v, x.n);
	/* V of the source may be the rank sum of x > y or of y > x. */
	near(c, "V", want, t.stat);
	near(c, "n", want, (double)t.n);
	near(c, "p_two", want, t.p);
}

static void
walsh(const struct json *c, const struct json *want, struct sample x,
    struct sample y)
{
	for (size_t i = 0; i < x.n; i++)
		x.v[i] = log(y.v[i] / x.v[i]);
	interval(c, want, ranktest_walsh(x.v, x.n), true, .95);
}

/*
 * Differences are logarithms of ratios. For an even number of values their
 * median is the mean of two logarithms there, and the mean of two ratios here.
 * So both values are asked for, by an interval that covers next to nothing.
 */
static void
shift(const struct json *c, const struct json *want, struct sample x,
    struct sample y)
{
	struct ranktest_pairs *p;
	double lo, hi;

	for (size_t i = 0; i < x.n; i++)
		x.v[i] = exp(x.v[i]);
	for (size_t i = 0; i < y.n; i++)
		y.v[i] = exp(y.v[i]);
	p = ranktest_ratios(x.v, x.n, y.v, y.n);
	ranktest_pairs_ci(p, 1e-9, &lo, &hi);
	near(c, "hl", want, (log(lo) + log(hi)) / 2);
	ranktest_pairs_ci(p, .95, &lo, &hi);
	near(c, "lo", want, log(lo));
	near(c, "hi", want, log(hi));
	ranktest_pairs_free(p);
}

static void
adjust(const struct json *c, const struct json *want)
{
	struct sample p = numbers(json_path(c, "input.p"));
	double *holm = mem_array(p.n, sizeof *holm);
	double *bh = mem_array(p.n, sizeof *bh);
	const char *id = json_get_str(c, "id");

	verdict_holm(p.v, holm, p.n);
	verdict_bh(p.v, bh, p.n);
	for (size_t i = 0; i < p.n; i++) {
		tap_near(holm[i],
		    json_num(json_at(json_get(want, "holm"), i), NAN), 1e-9,
		    id);
		tap_near(bh[i], json_num(json_at(json_get(want, "bh"), i), NAN),
		    1e-9, id);
	}
	free(p.v);
	free(holm);
	free(bh);
}

/* The number of runs a side, at least 2 and not rounded, for which power_of
 * returns 'power'. */
static double
sample_size_of(double d, double alpha, double power)
{
	double lo = 2, hi = 2;

	while (power_of(hi, d, false, alpha) < power)
		hi *= 2;
	for (int i = 0; i < 60; i++) {
		double mid = (lo + hi) / 2;

		if (power_of(mid, d, false, alpha) >= power)
			hi = mid;
		else
			lo = mid;
	}
	return hi;
}

/* Uses the slow power, with which tests/unit/limits.c compares power_runs. */
static void
power(const struct json *c, const struct json *want)
{
	const struct json *in = json_get(c, "input");

	if (json_get(in, "d")) {
		near(c, "n_per_group", want,
		    sample_size_of(json_get_num(in, "d", 0),
			json_get_num(in, "alpha", 0),
			json_get_num(in, "power", 0)));
		return;
	}
	for (const struct json *r = json_first(want); r; r = json_next(r)) {
		double cv = json_num(json_at(r, 0), 0);
		double effect = json_num(json_at(r, 1), 0);
		double got = ceil(sample_size_of(effect / cv,
		    json_num(json_at(r, 2), 0), json_num(json_at(r, 3), 0)));

		tap_ok(got == json_num(json_at(r, 4), 0),
		    "n for %g at cv %g: %g", effect, cv, got);
	}
}

static void
verdict(const struct json *c, const struct json *want, struct sample x,
    struct sample y)
{
	struct verdict_facts f = verdict_measure(x.v, x.n, y.v, y.n, false);
	bool certain;
	enum verdict v = verdict_decide(&f, METRIC_HIGHER,
	    json_num(json_path(c, "input.threshold"), 0), f.p, .05, &certain);
	const struct json *tost = json_get(want, "tost");
	struct stats_welch w;

	near(c, "mwu_p", want, f.p);
	tap_str(verdict_name(v), json_get_str(want, "verdict"),
	    json_get_str(c, "id"));
	for (size_t i = 0; i < x.n; i++)
		x.v[i] = log(x.v[i]);
	for (size_t i = 0; i < y.n; i++)
		y.v[i] = log(y.v[i]);
	w = stats_welch(x.v, x.n, y.v, y.n, .90);
	near(c, "ratio", tost, exp(w.diff));
	near(c, "df", tost, w.df);
	tap_near(exp(w.lo), json_num(json_at(json_get(tost, "ci90"), 0), NAN),
	    1e-9, "the lower end of its interval");
	tap_near(exp(w.hi), json_num(json_at(json_get(tost, "ci90"), 1), NAN),
	    1e-9, "the upper end of its interval");
}

static void
outliers(const struct json *c, const struct json *want)
{
	const struct json *s = json_first(json_path(c, "input.cases"));
	double threshold = json_num(json_path(c, "input.threshold"), 0);

	for (size_t k = 0; s; s = json_next(s), k++) {
		struct sample v = numbers(s);
		double mid, mad, n = 0;

		stats_sort(v.v, v.n);
		mid = stats_median(v.v, v.n);
		mad = stats_mad(v.v, v.n);
		for (size_t i = 0; i < v.n; i++)
			n += stats_modified_z(v.v[i], mid, mad) > threshold;
		tap_ok(n == json_num(json_at(want, k), -1),
		    "outliers of sample %zu: %g", k, n);
		free(v.v);
	}
}

static struct hist *
counts(const struct json *cells)
{
	struct hist *h = hist_new(1, 100000, 5);

	for (const struct json *r = json_first(cells); r; r = json_next(r))
		hist_add(h, (int64_t)json_num(json_at(r, 0), 0),
		    (uint64_t)json_num(json_at(r, 1), 0));
	return h;
}

static void
ks(const struct json *c, const struct json *want, struct hist *a,
    struct hist *b)
{
	struct histdiff d = histdiff_ks(a, b);

	near(c, "D", want, d.d);
	near(c, "at", want, (double)d.at);
	hist_free(a);
	hist_free(b);
}

/* D of values is that of their histograms. */
static void
ks_values(const struct json *c, const struct json *want, struct sample x,
    struct sample y)
{
	struct hist *a = hist_new(1, 100000, 5), *b = hist_new(1, 100000, 5);

	for (size_t i = 0; i < x.n; i++)
		hist_add(a, llround(1000 * x.v[i]) + 50000, 1);
	for (size_t i = 0; i < y.n; i++)
		hist_add(b, llround(1000 * y.v[i]) + 50000, 1);
	ks(c, want, a, b);
}

static void
gesd(const struct json *c, const struct json *want, struct sample x)
{
	size_t most = (size_t)json_num(json_path(c, "input.k"), 0), looked;
	struct outlier *out = mem_array(most, sizeof *out);
	size_t n = outlier_gesd(x.v, x.n, most,
	    json_num(json_path(c, "input.alpha"), 0), out, &looked);
	const struct json *removed = json_get(want, "removed");

	near(c, "outliers", want, (double)n);
	tap_ok(looked == most, "all steps");
	for (size_t i = 0; i < looked; i++) {
		tap_near(out[i].r,
		    json_num(json_at(json_get(want, "R"), i), NAN), 1e-9, "R");
		tap_near(out[i].lambda,
		    json_num(json_at(json_get(want, "lam"), i), NAN), 1e-9,
		    "lambda");
		tap_ok(out[i].at == json_num(json_at(removed, i), -1),
		    "the removed value is number %zu", out[i].at);
	}
	free(out);
}

/*
 * The energy distance with means over all pairs, including a point with itself;
 * E-divisive leaves those out. Both follow from the same sums.
 */
static void
energy(const struct json *c, const struct json *want)
{
	enum { M = 99, N = 104, ALL = M + N };
	double *v = mem_array(ALL, sizeof *v), between, e;
	double *g = mem_array((ALL + 1) * (ALL + 1), sizeof *g);

	for (size_t i = 0; i < ALL; i++)
		v[i] = (double)(i < M ? i + 1 : i - M + 1);
	energy_sums(v, ALL, g);
	between = g[ALL] - g[M] - g[M * (ALL + 1) + ALL];
	e = 2 * between / (M * N) - 2 * g[M] / (M * M) -
	    2 * g[M * (ALL + 1) + ALL] / (N * N);
	/* Published with three decimals. */
	tap_ok(fabs(e - json_get_num(want, "e", NAN)) < 1e-3 &&
		fabs(e * M * N / ALL - json_get_num(want, "t", NAN)) < 1e-3 &&
		fabs(e / (2 * between / (M * N)) -
		    json_get_num(want, "h", NAN)) < 1e-3,
	    "%s: %.4f, %.4f, %.4f", json_get_str(c, "id"), e, e * M * N / ALL,
	    e / (2 * between / (M * N)));
	free(v);
	free(g);
}

static void
mser(const struct json *c, const struct json *want, struct sample x)
{
	double least;
	size_t cut = steady_mser5(x.v, x.n, &least);
	struct steady s = steady_judge(x.v, x.n);

	near(c, "cut", want, (double)cut);
	near(c, "d", want, (double)cut / 5);
	near(c, "mser", want, least);
	near(c, "drift", want, s.drift);
	near(c, "mean_after_cut", want, stats_mean(x.v + cut, x.n - cut));
	tap_ok((s.verdict == STEADY_STEADY) ==
		json_bool(json_get(want, "steady"), false),
	    "%s: whether it is steady", json_get_str(c, "id"));
}

static void
one(const struct json *c)
{
	static const struct {
		const char *fn;
		void (*run)(const struct json *, const struct json *,
		    struct sample, struct sample);
	} two[] = {{"compare", compare}, {"signed_rank", signed_rank},
	    {"walsh_ratio", walsh}, {"hl", shift}, {"welch", welch},
	    {"verdict", verdict}, {"ks2", ks_values}};
	const struct json *in = json_get(c, "input");
	const struct json *want = json_get(c, "expect");
	const char *fn = json_get_str(c, "fn");
	struct sample x, y;
	size_t i = 0;

	x = numbers(json_get(in, "x"));
	y = numbers(json_get(in, "y"));
	while (i < sizeof two / sizeof *two && strcmp(two[i].fn, fn) != 0)
		i++;
	if (i < sizeof two / sizeof *two) {
		two[i].run(c, want, x, y);
	} else if (strcmp(fn, "mwu") == 0) {
		mwu(c, want, y, x);
	} else if (strcmp(fn, "median_ci") == 0) {
		median(c, want, x);
	} else if (strcmp(fn, "t_sf") == 0) {
		rows(c, tdist_sf, true, 0);
	} else if (strcmp(fn, "t_ppf") == 0) {
		/* The reference for t at .5 is not exactly 0. */
		rows(c, tdist_quantile, true, 1e-15);
	} else if (strcmp(fn, "norm_cdf") == 0) {
		rows(c, normal_cdf, false, 0);
	} else if (strcmp(fn, "norm_ppf") == 0) {
		rows(c, normal_quantile, false, 0);
	} else if (strcmp(fn, "betainc") == 0) {
		betainc(c);
	} else if (strcmp(fn, "padjust") == 0) {
		adjust(c, want);
	} else if (strcmp(fn, "n_two_sample") == 0) {
		power(c, want);
	} else if (strcmp(fn, "modz_count") == 0) {
		outliers(c, want);
	} else if (strcmp(fn, "ks_hist") == 0) {
		ks(c, want, counts(json_get(in, "a")),
		    counts(json_get(in, "b")));
	} else if (strcmp(fn, "gesd") == 0) {
		gesd(c, want, x);
	} else if (strcmp(fn, "energy") == 0) {
		energy(c, want);
	} else if (strcmp(fn, "mser5") == 0) {
		mser(c, want, x);
	} else if (strcmp(fn, "geomean") == 0) {
		struct sample r = numbers(json_get(in, "ratios"));
		double lo, hi, mean = stats_geomean(r.v, r.n, .95, &lo, &hi);

		near(c, "geomean", want, mean);
		/* The t quantile of the reference is exact to 4e-10. */
		tap_near(lo, json_get_num(want, "lo", 0), 1e-9, "from");
		tap_near(hi, json_get_num(want, "hi", 0), 1e-9, "to");
		free(r.v);
	} else if (strcmp(fn, "mwu_normal") == 0) {
		free(x.v);
		free(y.v);
		x = (struct sample){mem_array(500, sizeof *x.v), 500};
		y = (struct sample){mem_array(600, sizeof *y.v), 600};
		for (i = 0; i < 500; i++)
			x.v[i] = 2 * (double)i;
		for (i = 0; i < 600; i++)
			y.v[i] = 2 * (double)i - 41;
		near(c, "p_two_normal_cc", want,
		    ranktest_mwu(x.v, x.n, y.v, y.n).p);
	} else if (strcmp(fn, "bca_ratio_of_medians") == 0) {
		printf("# %s: not applicable, there is no bootstrap\n",
		    json_get_str(c, "id"));
	} else {
		tap_ok(false, "%s: the function '%s' is unknown",
		    json_get_str(c, "id"), fn);
	}
	free(x.v);
	free(y.v);
}

int
main(void)
{
	const char *dir = getenv("VKB_ACCEPTANCE");
	char *path = mem_printf(
	    "%s/stat-cases.jsonl", dir ? dir : "../shared/acceptance");
	const char *files[] = {path};
	struct jsonl *in;
	struct json *c;
	int rc;

	if (access(path, R_OK) < 0) {
		printf("ok 1 # SKIP no reference cases here\n1..1\n");
		free(path);
		return 0;
	}
	in = jsonl_open(files, 1);
	while ((rc = jsonl_next(in, &c)) == 1) {
		one(c);
		json_free(c);
	}
	tap_ok(rc == 0, "the cases were read");
	jsonl_close(in);
	free(path);
	return tap_done();
}
