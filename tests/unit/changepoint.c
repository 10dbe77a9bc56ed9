/*
 * Change points: published series, properties that hold for every series, and
 * how many changes are found in noise. The reference cases are read from
 * $VKB_ACCEPTANCE or from beside the repository.
 */
#include "tap.h"

#include "changepoint.h"
#include "energy.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "normal.h"
#include "rng.h"
#include "serial.h"
#include "spike.h"

#include <stdlib.h>
#include <unistd.h>

#define N(v) (sizeof(v) / sizeof *(v))

static const struct changepoint_rules ours = {
    CHANGEPOINT_WINDOW, CHANGEPOINT_P, CHANGEPOINT_MAGNITUDE, false};
static const struct changepoint_rules otava = {50, .001, 0, true};

/* "5 8 ~11": the places of the changes; ~ marks a spike. */
static const char *
found(const double *v, size_t n, const struct changepoint_rules *r)
{
	static char text[4096];
	struct changepoint *c;
	size_t k = changepoint_find(v, n, r, &c), len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < k && len < sizeof text - 32; i++)
		len += (size_t)snprintf(text + len, sizeof text - len,
		    "%s%s%zu", i ? " " : "", c[i].spike ? "~" : "", c[i].at);
	free(c);
	return text;
}

/* Numbers from the tests of Apache Otava (change_point_divisive_test.py,
 * csv_e2e_test.py) and MongoDB's signal-processing-algorithms. */
static void
published(void)
{
	static const double sequence[] = {.3, 2.4, 1.5, -.9, -.5, 99.7, 98.3,
	    99.1, 149.0, 149.7, 149.5, 149.1, 148.8, 150.0};
	static const double metric1[] = {154023, 138455, 143112, 149190, 132098,
	    151344, 155145, 148889, 149466, 148209};
	static const double metric2[] = {
	    10.43, 10.23, 10.29, 10.91, 10.34, 10.69, 9.23, 9.11, 9.13, 9.03};
	double v[30];

	tap_str(found(sequence, N(sequence), &otava), "5 8", "Otava: two");
	tap_str(found(metric1, N(metric1), &otava), "", "Otava: none");
	tap_str(found(metric2, N(metric2), &otava), "6", "Otava: one");
	tap_str(found(metric1, N(metric1), &ours), "", "ours: none");
	for (size_t i = 0; i < 30; i++)
		v[i] = i < 15 ? 50 : 100;
	tap_str(found(v, 30, &ours), "15", "a step without noise");
	v[14] = 74;
	tap_str(found(v, 30, &ours), "15",
	    "a point half way up a step is not a spike");
	v[14] = 50;
	v[2] = 100;
	tap_str(found(v, 30, &ours), "~2 15", "a spike and a step");
	for (size_t i = 0; i < 30; i++)
		v[i] = i % 2 ? 101 : 99;
	v[5] = v[12] = v[22] = 120;
	tap_str(found(v, 30, &ours), "~5 ~12 ~22",
	    "three spikes in one level do not hide each other");
	v[5] = v[12] = v[22] = 103;
	tap_str(
	    found(v, 30, &ours), "", "a point near its level is not a spike");
}

/* A spike after a level of three commits and before a higher level does not
 * hide that these three were a level. */
static void
hidden_level(void)
{
	double v[64] = {100, 101, 100, 160};
	bool right = true;

	for (size_t i = 4; i < 64; i++)
		v[i] = 120 + (double)(i % 2);
	for (size_t n = 20; n <= 64; n++)
		right = right && strcmp(found(v, n, &ours), "~3 4") == 0;
	tap_ok(right, "a spike after a short level does not hide the step");
	v[3] = 120;
	tap_str(
	    found(v, 64, &ours), "3", "without the spike the step is found");
}

/* Noise of +-1 around 100, the same in each period of 5 points. */
static void
calm(double *v, size_t n)
{
	static const double noise[] = {.4, -.9, .7, -.5, .3};

	for (size_t i = 0; i < n; i++)
		v[i] = 100 + noise[i % 5] + (i % 7 == 3 ? .2 : 0);
}

static void
short_series(void)
{
	double v[15];
	size_t bad = 0;

	calm(v, 10);
	for (size_t i = 6; i < 10; i++)
		v[i] -= 10;
	tap_str(found(v, 10, &ours), "6", "ten points have a change");
	for (size_t n = 12; n <= 15; n++)
		for (size_t at = 5; at + 4 <= n; at++)
			for (int side = -1; side <= 1; side += 2) {
				char want[16];

				calm(v, n);
				for (size_t i = at; i < n; i++)
					v[i] -= 12;
				v[2] += side * 25;
				snprintf(want, sizeof want, "~2 %zu", at);
				bad += strcmp(found(v, n, &ours), want) != 0;
			}
	tap_ok(bad == 0,
	    "a spike does not hide the step of a short series: %zu of 44 "
	    "differ",
	    bad);
	v[3] = v[2];
	tap_str(found(v, 15, &ours), "~2 11",
	    "a spike of two points does not hide it either");
}

/* How often the last k of 60 points of noise have a p below .01. */
static double
stretched(size_t k, double ar)
{
	struct rng r;
	double v[60];
	size_t hits = 0;

	rng_seed(&r, 5, k);
	for (size_t i = 0; i < 4000; i++) {
		double e = normal_draw(&r);

		for (size_t j = 0; j < 60; j++) {
			v[j] = e;
			e = ar * e + sqrt(1 - ar * ar) * normal_draw(&r);
		}
		hits += spike_test_stretch(v, 60, 60 - k) < .01;
	}
	return (double)hits / 4000;
}

static void
stretches(void)
{
	static const double v[] = {1, 3, 1, 3, 1, 3, 6, 8, 6, 8};
	static const double still[] = {1, 1, 1, 1, 2, 2, 2};
	double got;

	/* t = 5 / sqrt(10/8 (1/6 + 1/4)), with 8 degrees of freedom. */
	tap_near(spike_test_stretch(v, 10, 6), 1.21040205555e-4, 1e-9,
	    "the t test of points that do not resemble each other");
	tap_ok(spike_test_stretch(still, 7, 4) == 0, "without noise p is 0");
	tap_ok(
	    spike_test_stretch(still, 7, 5) == 1, "two points are not tested");
	tap_near(serial_correct(.5, 30), .6, 1e-12,
	    "the bias of the autocorrelation is added");
	tap_ok(serial_correct(-.5, 30) == 0 && serial_correct(.99, 30) == .95,
	    "the autocorrelation is between 0 and .95");
	for (size_t k = 3; k <= 10; k += 7)
		for (int ar = 0; ar <= 6; ar += 3) {
			got = stretched(k, ar / 10.);
			tap_ok(got <= .03,
			    "p of the last %zu of 60 points, AR 0.%d: %g", k,
			    ar, got);
		}
}

static void
spikes(void)
{
	static const double v[] = {10, 11, 10, 30, 31, 10, 11, 10, 50, 51};
	static const double level[] = {10, 11, 10.2, 10.9};
	bool out[10];

	tap_ok(spike_suspect(v, 10, 1, out) == 0,
	    "two points stand out from no single neighbours");
	tap_ok(spike_suspect(v, 10, 2, out) == 2 && out[3] && out[4],
	    "they stand out from two neighbours; a step does not");
	tap_ok(!spike_is_beyond(level, 4, 10.5, 0) &&
		!spike_is_beyond(level, 4, 14, .5) &&
		!spike_is_beyond(level, 4, 15, 0) &&
		spike_is_beyond(level, 4, 25, 0) &&
		!spike_is_beyond(level, 2, 25, 0),
	    "a spike has a limit of its z, its size and its t each");
}

/* The end of a series: fewer than three points beyond the level are a spike. */
static void
at_the_end(void)
{
	double v[80];

	calm(v, 80);
	for (size_t i = 77; i < 80; i++)
		v[i] -= 6;
	tap_str(found(v, 80, &ours), "77",
	    "three points beyond the level at the end are a change");
	calm(v, 80);
	v[77] -= 20;
	tap_str(found(v, 80, &ours), "~77",
	    "one point beyond the level before two points at it is a spike");
	calm(v, 80);
	v[77] = v[78] = 80;
	tap_str(found(v, 80, &ours), "~77",
	    "two points beyond the level before one point at it are a spike");
	calm(v, 80);
	v[78] = v[79] = 80;
	tap_str(
	    found(v, 80, &ours), "~78", "two points at the end are a spike");
}

static void
trends(void)
{
	double v[1000];

	/* After the test of airspeed velocity's step detection. */
	for (size_t j = 0; j < 1000; j++)
		v[j] = .2 * cos((double)j / 100) + (j >= 500);
	tap_str(found(v, 1000, &ours), "500", "a slow cosine and one step");
	for (size_t j = 0; j < 300; j++)
		v[j] = 100 + .1 * (double)j;
	tap_str(found(v, 300, &ours), "", "a slope is not a step");
}

static void
energy(void)
{
	static const double v[] = {.3, 2.4, 1.5, -.9, -.5, 99.7, 98.3, 99.1,
	    149.0, 149.7, 149.5, 149.1, 148.8, 150.0};
	double g[15 * 15], *inv = energy_inverses(14);

	energy_sums(v, 14, g);
	tap_near(energy_q(inv, 1, 1, g[1], g[16 + 1], g[2]), 2.1, 1e-12,
	    "Q of two points");
	tap_near(energy_q(inv, 5, 9, g[5], g[5 * 15 + 14], g[14]),
	    761.2821428571426, 1e-12, "Q(0, 5, 14) of Otava's test");
	free(inv);
}

static void
defined(void)
{
	struct changepoint *c;
	double v[60], w[60];
	size_t n;

	for (size_t i = 0; i < 60; i++)
		v[i] = 7;
	for (n = 0; n < 6; n++)
		tap_ok(changepoint_find(v, n, &ours, &c) == 0,
		    "%zu points: no change", n),
		    free(c);
	for (size_t i = 0; i < 3; i++)
		w[i] = (double)(i * i);
	for (n = 2; n <= 3; n++) {
		tap_str(found(w, n, &ours), "",
		    "two or three points do not change");
		tap_str(found(w, n, &otava), "",
		    "two or three points do not change for Otava");
	}
	tap_str(found(v, 60, &ours), "", "a constant does not change");
	tap_str(
	    found(v, 60, &otava), "", "a constant does not change for Otava");
	for (size_t i = 0; i < 60; i++)
		v[i] = 0;
	tap_str(found(v, 60, &ours), "", "zeros do not change");
	for (size_t i = 0; i < 60; i++)
		v[i] = i % 2 ? 3 : 4;
	tap_str(found(v, 60, &ours), "", "ties do not change");
	for (size_t i = 0; i < 60; i++)
		v[i] = i < 30 ? 0 : 5;
	tap_str(found(v, 60, &ours), "30", "a step up from 0");

	for (size_t i = 0; i < 60; i++)
		v[i] = (i < 30 ? 100 : 110) + (double)(i * 7 % 5) / 5;
	n = changepoint_find(v, 60, &ours, &c);
	tap_ok(n == 1 && c->at == 30 && c->lo == 30 && c->hi == 30 &&
		c->from == 0 && c->to == 60 && c->n[0] == 30 && c->n[1] == 30,
	    "a step has its index, its range and the points of both sides");
	free(c);
	v[3] = NAN;
	v[28] = v[29] = NAN;
	v[30] = INFINITY;
	v[59] = -INFINITY;
	n = changepoint_find(v, 60, &ours, &c);
	tap_ok(n == 1 && c->at == 31 && c->lo == 28 && c->hi == 31 &&
		c->n[0] == 27 && c->n[1] == 28,
	    "missing points before a step belong to its range");
	free(c);
	for (size_t i = 0; i < 60; i++)
		v[i] = NAN;
	tap_str(
	    found(v, 60, &ours), "", "a series without values has no change");

	for (size_t i = 0; i < 60; i++)
		v[i] = 100 + (double)(i * 7 % 5) / 5;
	v[59] = 150;
	n = changepoint_find(v, 60, &ours, &c);
	tap_ok(n == 1 && c->spike && c->at == 59 && c->to == 60,
	    "one point beyond the level at the end is a spike");
	free(c);
	v[20] = v[21] = 80;
	tap_str(found(v, 60, &ours), "~20 ~59",
	    "two points beyond the level are a spike");
	for (size_t i = 22; i < 40; i++)
		v[i] = 80;
	for (size_t i = 0; i < 60; i++)
		w[i] = v[i] * 1e-3;
	tap_ok(strcmp(found(w, 60, &ours), "20 40 ~59") == 0,
	    "more points are a level, in any unit: %s", found(v, 60, &ours));
}

static void
scale(void)
{
	struct rng r;
	double v[200], w[200];
	char text[4096];
	size_t bad = 0;

	rng_seed(&r, 1, 0);
	for (size_t k = 0; k < 40; k++) {
		double level = 100;

		for (size_t i = 0; i < 200; i++) {
			if (rng_below(&r, 40) == 0)
				level *= .9 + .2 * rng_unit(&r);
			v[i] = level + 2 * normal_draw(&r);
			if (rng_below(&r, 50) == 0)
				v[i] = NAN;
			w[i] = v[i] * 3.7e5;
		}
		snprintf(text, sizeof text, "%s", found(v, 200, &ours));
		bad += strcmp(text, found(w, 200, &ours)) != 0;
	}
	tap_ok(bad == 0, "the unit does not matter: %zu of 40 differ", bad);
}

/* Changes found in 300 points of noise with this autocorrelation. */
static double
false_points(double ar, const struct changepoint_rules *rules, size_t series)
{
	struct rng r;
	double v[300], e = 0;
	size_t sum = 0;

	rng_seed(&r, 2, (uint64_t)(10 * ar));
	for (size_t k = 0; k < series; k++) {
		struct changepoint *c;

		for (size_t i = 0; i < 300; i++) {
			e = ar * e + sqrt(1 - ar * ar) * normal_draw(&r);
			v[i] = 100 + 3 * e;
		}
		sum += changepoint_find(v, 300, rules, &c);
		free(c);
	}
	return (double)sum / (double)series;
}

/* How often a step of 120 points is found, within two points. */
static double
power(double sigmas, size_t after, double ar, size_t series)
{
	struct rng r;
	double v[120], e = 0;
	size_t hits = 0;

	rng_seed(&r, 3, after);
	for (size_t k = 0; k < series; k++) {
		struct changepoint *c;
		size_t n;

		for (size_t i = 0; i < 120; i++) {
			e = ar * e + sqrt(1 - ar * ar) * normal_draw(&r);
			v[i] = 100 + e + (i >= 120 - after ? sigmas : 0);
		}
		n = changepoint_find(v, 120,
		    &(struct changepoint_rules){50, .001, 0, false}, &c);
		for (size_t i = 0; i < n; i++)
			if (!c[i].spike && c[i].at + 2 >= 120 - after &&
			    c[i].at <= 122 - after) {
				hits++;
				break;
			}
		free(c);
	}
	return (double)hits / (double)series;
}

static void
simulated(void)
{
	static const struct changepoint_rules any = {50, .001, 0, false};
	static const double ar[] = {0, .3, .6};
	double got;

	for (size_t i = 0; i < N(ar); i++) {
		got = false_points(ar[i], &any, 100);
		tap_ok(got <= .3,
		    "noise, AR %g: %g false changes in 300 points", ar[i], got);
	}
	got = false_points(.6, &otava, 20);
	tap_ok(got > 3, "Otava's settings, AR 0.6: %g false changes", got);
	got = power(3, 60, 0, 100);
	tap_ok(got >= .97, "a step of 3 sd is found: %g", got);
	got = power(3, 6, 0, 100);
	tap_ok(got >= .93, "with 6 points after it: %g", got);
	got = power(2, 60, 0, 100);
	tap_ok(got >= .8, "a step of 2 sd: %g", got);
	got = power(5, 3, .3, 100);
	tap_ok(got >= .9, "a step of 5 sd is found from 3 points, AR 0.3: %g",
	    got);
	got = power(5, 3, .6, 100);
	tap_ok(got >= .6, "and AR 0.6: %g", got);
	got = power(5, 2, .3, 100);
	tap_ok(got <= .02, "2 points are a spike: %g", got);
}

struct points {
	double *v;
	size_t n;
};

static struct points
points_of(const struct json *in)
{
	const struct json *a = json_get(in, "series");
	struct points p = {mem_array(json_len(a) + 1, sizeof *p.v), 0};

	for (const struct json *j = json_first(a); j; j = json_next(j))
		p.v[p.n++] = json_num(j, NAN);
	return p;
}

static void
otava_case(const char *id, const struct json *in, const struct json *want,
    struct points p)
{
	struct changepoint_rules r = {(size_t)json_get_num(in, "window_len", 0),
	    json_get_num(in, "max_pvalue", 0),
	    json_get_num(in, "min_magnitude", 0), true};
	const struct json *s = json_first(json_get(want, "stats"));
	struct changepoint *c;
	size_t n = changepoint_find(p.v, p.n, &r, &c), i = 0;
	double worst = 0;

	tap_ok(n == json_len(json_get(want, "cps")),
	    "%s, %zu points, p %g: "
	    "%zu changes",
	    id, p.n, r.p, n);
	for (; s && i < n; s = json_next(s), i++) {
		double got[] = {(double)c[i].at, c[i].p};
		static const char *const keys[] = {"index", "p"};

		for (size_t k = 0; k < N(keys); k++) {
			double w = json_get_num(s, keys[k], NAN);

			worst = fmax(worst,
			    fabs(got[k] - w) /
				fmax(fabs(w), k == 1 ? 1e-300 : 1e-9));
		}
	}
	tap_ok(worst < 1e-7, "%s: worst relative error %.2g", id, worst);
	free(c);
}

static void
q_case(const char *id, const struct json *want, struct points p)
{
	const struct json *row =
	    json_first(json_get(want, "Q_rows_tau1_to_N1_cols_kappa2_to_N"));
	double *g = mem_array((p.n + 1) * (p.n + 1), sizeof *g), worst = 0;
	double *inv = energy_inverses(p.n);

	energy_sums(p.v, p.n, g);
	for (size_t t = 1; row; row = json_next(row), t++) {
		const struct json *q = json_first(row);

		for (size_t k = 2; q; q = json_next(q), k++)
			if (k > t)
				worst = fmax(worst,
				    fabs(energy_q(inv, t, k - t, g[t],
					     g[t * (p.n + 1) + k], g[k]) -
					json_num(q, NAN)));
	}
	tap_ok(worst < 1e-9, "%s: worst error %.2g", id, worst);
	free(g);
	free(inv);
}

static void
set_case(const char *id, const struct json *want, struct points p)
{
	const struct json *w = json_first(json_get(want, "cps"));
	struct changepoint *c;
	size_t n = changepoint_find(p.v, p.n, &ours, &c);
	bool good = true;

	for (size_t i = 0; i < n; i++) {
		if (c[i].spike)
			continue;
		good = good && w && json_num(w, -1) == (double)c[i].at;
		w = json_next(w);
	}
	tap_ok(good && !w, "%s: these changes and no others", id);
	free(c);
}

/* What changepoint_find finds in Otava's series with our settings. */
static void
ours_too(const char *id, struct points p)
{
	if (strcmp(id, "otava/tigerbeetle") == 0)
		tap_str(found(p.v, p.n, &ours), "~10 15 61 71 95 131 192 ~363",
		    "tigerbeetle, our mode");
	if (strcmp(id, "mongodb/small") == 0)
		tap_str(found(p.v, p.n, &ours),
		    "25 64 70 114 173 198 237 243 287", "mongodb, our mode");
}

static void
reference(void)
{
	const char *dir = getenv("VKB_ACCEPTANCE"), *fn, *id;
	char *path = mem_printf(
	    "%s/changepoint-cases.jsonl", dir ? dir : "../shared/acceptance");
	const char *files[] = {path};
	struct jsonl *in;
	struct json *c;
	int rc;

	if (access(path, R_OK) < 0) {
		tap_ok(true, "reference cases # SKIP none here");
		free(path);
		return;
	}
	in = jsonl_open(files, 1);
	while ((rc = jsonl_next(in, &c)) == 1) {
		struct points p = points_of(json_get(c, "input"));

		fn = json_get_str(c, "fn");
		id = json_get_str(c, "id");
		if (strcmp(fn, "otava") == 0) {
			otava_case(
			    id, json_get(c, "input"), json_get(c, "expect"), p);
			ours_too(id, p);
		} else if (strcmp(fn, "qhat") == 0) {
			q_case(id, json_get(c, "expect"), p);
		} else if (strcmp(fn, "edivisive_set") == 0) {
			set_case(id, json_get(c, "expect"), p);
		}
		free(p.v);
		json_free(c);
	}
	tap_ok(rc == 0, "the cases were read");
	jsonl_close(in);
	free(path);
}

int
main(void)
{
	published();
	hidden_level();
	short_series();
	stretches();
	spikes();
	at_the_end();
	trends();
	energy();
	defined();
	scale();
	simulated();
	reference();
	return tap_done();
}
