/*
 * The maths against reference cases with known answers, from
 * $VKB_ACCEPTANCE/stat-cases.jsonl or from beside the repository.
 */
#include "tap.h"

#include "../bench/ranks.h"
#include "energy.h"
#include "hist.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "outlier.h"
#include "stats.h"
#include "steady.h"
#include "tdist.h"
#include "vkb-flame/diff.h"

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

/* The test that the benchmark of verdicts is compared with. */
static void
mwu(const struct json *c, const struct json *want, struct sample x,
    struct sample y)
{
	near(c, "p_two_exact", want, ranks_test(x.v, x.n, y.v, y.n));
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
	mwu(c, json_get(want, "mwu"), x, y);
	welch(c, json_get(want, "welch"), x, y);
	median(c, json_get(want, "median_x"), x);
	median(c, json_get(want, "median_y"), y);
}

static void
adjust(const struct json *c, const struct json *want)
{
	struct sample p = numbers(json_path(c, "input.p"));

	diff_adjust(p.v, p.n);
	for (size_t i = 0; i < p.n; i++)
		tap_near(p.v[i],
		    json_num(json_at(json_get(want, "bh"), i), NAN), 1e-9,
		    json_get_str(c, "id"));
	free(p.v);
}

/* Two one-sided tests. */
static void
tost(const struct json *c, const struct json *all, struct sample x,
    struct sample y)
{
	const struct json *want = json_get(all, "tost");
	struct stats_welch w;

	near(c, "mwu_p", all, ranks_test(x.v, x.n, y.v, y.n));
	for (size_t i = 0; i < x.n; i++)
		x.v[i] = log(x.v[i]);
	for (size_t i = 0; i < y.n; i++)
		y.v[i] = log(y.v[i]);
	w = stats_welch(x.v, x.n, y.v, y.n, .90);
	near(c, "ratio", want, exp(w.diff));
	near(c, "df", want, w.df);
	tap_near(exp(w.lo), json_num(json_at(json_get(want, "ci90"), 0), NAN),
	    1e-9, "the lower end of its interval");
	tap_near(exp(w.hi), json_num(json_at(json_get(want, "ci90"), 1), NAN),
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
	} two[] = {{"compare", compare}, {"welch", welch}, {"verdict", tost},
	    {"mwu", mwu}, {"ks2", ks_values}};
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

		near(c, "geomean", want, stats_geomean(r.v, r.n));
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
		near(
		    c, "p_two_normal_cc", want, ranks_test(x.v, x.n, y.v, y.n));
	} else if (strcmp(fn, "bca_ratio_of_medians") == 0 ||
	    strcmp(fn, "signed_rank") == 0 || strcmp(fn, "hl") == 0 ||
	    strcmp(fn, "walsh_ratio") == 0 || strcmp(fn, "n_two_sample") == 0) {
		printf("# %s: not applicable, nothing computes it\n",
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
