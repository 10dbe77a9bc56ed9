/*
 * The table of runs, and the noise of a metric that
 * follows from its runs: numbers computed by hand.
 */
#include "intern.h"
#include "json.h"
#include "mem.h"
#include "lib/rows.h"
#include "str.h"
#include "precision.h"
#include "tap.h"
#include "variance.h"

#include <stdlib.h>

enum { RUNS = 6 };

/* Six runs out of order; the third is the first with a value of "b". */
static const struct rows_run runs[RUNS] = {{1, 0, 1, 0}, {0, 1, 0, 0},
    {0, 0, 5, 2}, {ROWS_UNKNOWN, 0, 0, 0}, {0, 0, 5, 1}, {0, 0, 5, 1}};

static void
add_run(struct rows *r, struct intern *names, size_t i)
{
	size_t at = 0;

	rows_add(r, runs[i]);
	rows_set(r, names, "z", 1, 10 - (double)i, &at);
	if (i >= 2 && i != 3)
		rows_set(r, names, "b", 1, (double)i, &at);
}

static bool
same_number(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* Returns whether the table has the six runs and the values of both columns. */
static bool
holds_all(const struct rows *r)
{
	double v[RUNS];
	bool right = r->n == RUNS && r->ncols == 2 &&
	    memcmp(r->runs, runs, sizeof runs) == 0;

	for (size_t c = 0; c < r->ncols && right; c++) {
		bool z = strcmp(r->cols[c].name, "z") == 0;

		rows_values(r, c, v);
		for (size_t i = 0; i < RUNS; i++)
			right = right &&
			    same_number(v[i],
				z                      ? 10 - (double)i
				    : i >= 2 && i != 3 ? (double)i
						       : NAN);
	}
	return right;
}

static void
table(void)
{
	/* Session 1 comes before session 0; unknown sessions are last. Of two
	 * runs that differ only in their values, the last one has the smaller
	 * value of "b": 4 before 5. */
	static const uint32_t rank[] = {1, 0}, want[] = {0, 4, 5, 2, 1, 3};
	struct intern *names = intern_new();
	struct rows r = {0};
	uint32_t *at;

	for (size_t i = 0; i < RUNS; i++)
		add_run(&r, names, i);
	tap_ok(holds_all(&r), "all runs and values are there");
	at = rows_order(&r, rank);
	tap_ok(memcmp(at, want, sizeof want) == 0,
	    "the runs are ordered by session, block, index, order and values");
	tap_ok(strcmp(r.cols[0].name, "b") == 0 && holds_all(&r),
	    "the columns are ordered by name, and have the same values");
	free(at);
	rows_free(&r);
	intern_free(names);
}

/* Returns what precision_append writes, as a tree. */
static struct json *
read_precision(const struct precision *m, double wanted)
{
	struct str s = {0};
	struct json *j;

	str_addc(&s, '{');
	precision_append(&s, m, wanted);
	str_addc(&s, '}');
	j = json_parse(s.s, s.len, NULL, NULL);
	str_free(&s);
	return j;
}

/* The same for runs without an interval. */
static struct json *
noise(double mean, double median, const struct variance_run *v, size_t n,
    bool timed, double wanted)
{
	struct precision m = {v, n, timed, mean, median, 0, INFINITY};

	return read_precision(&m, wanted);
}

static void
splits(void)
{
	/* Squares between: 10.8, within: 10 (see the unit test of maths). */
	static const struct variance_run v[] = {{101, NAN, 1, 0},
	    {103, NAN, 1, 0}, {105, NAN, 2, 0}, {107, NAN, 2, 0},
	    {103, NAN, 2, 0}};
	static const char *const text =
	    "add a session: the variation between "
	    "sessions (1.7 %) is 70 % of the error; "
	    "16 sessions would give a precision of "
	    "1 %";
	struct json *m = noise(103.8, 103, v, 5, false, .01);
	const struct json *a, *b;

	tap_str(json_get_str(m, "advice"), text,
	    "the advice names the source, its share and how many of it are "
	    "needed");
	a = json_at(json_get(m, "split"), 0);
	b = json_at(json_get(m, "split"), 1);
	tap_ok(json_len(json_get(m, "split")) == 2 &&
		strcmp(json_get_str(a, "source"), "session") == 0 &&
		strcmp(json_get_str(b, "source"), "restart") == 0 &&
		json_get_num(a, "n", 0) == 2 && json_get_num(b, "n", 0) == 5,
	    "known sources are listed with their numbers");
	tap_near(json_get_num(a, "sd_percent", 0),
	    100 * sqrt((10.8 - 10 / 3.) / 2.4) / 103.8, 1e-12,
	    "the standard deviation between sessions is 1.7 % of the mean");
	tap_near(json_get_num(b, "sd_percent", 0), 100 * sqrt(10 / 3.) / 103.8,
	    1e-12, "the standard deviation between runs is 1.8 %");
	tap_ok(
	    !json_get(m, "drift_percent"), "without times there is no drift");
	json_free(m);
	m = noise(103.8, 103, v, 2, false, 0);
	tap_ok(!json_get(m, "split") && !json_get(m, "precision"),
	    "one session has no sources; without --precision there is none");
	json_free(m);
	m = noise(-103.8, 103, v, 5, false, 0);
	tap_str(json_get_str(m, "advice"),
	    "add a session: the variation between sessions (1.7 %) is 70 % of "
	    "the error",
	    "a mean below 0 counts by its absolute value");
	json_free(m);
}

/* The variances of machines, sessions, runs and within runs, in two units. */
static void
sources(void)
{
	static const double units[] = {1, 1e-4, 1e4};
	char *first = NULL, *text;
	struct variance_part p[VARIANCE_SOURCES];
	struct variance_run v[12];

	for (size_t u = 0; u < 3; u++) {
		double mid = 104.5 * units[u];
		struct json *m;

		/* Two machines of two sessions of three runs each. */
		for (size_t i = 0; i < 12; i++)
			v[i] = (struct variance_run){
			    (100 +
				(double)(i / 6 * 5 + i / 3 % 2 * 4 + i % 3)) *
				units[u],
			    .01 * units[u] * units[u], i / 3, i / 6};
		variance_split(v, 12, p);
		m = noise(mid, mid, v, 12, false, .2);
		for (size_t i = 0; i < VARIANCE_SOURCES; i++) {
			const struct json *s = json_at(json_get(m, "split"), i);

			tap_ok(strcmp(json_get_str(s, "source"),
				   variance_source_name(
				       (enum variance_source)i)) == 0 &&
				fabs(json_get_num(s, "sd_percent", 0) -
				    100 * sqrt(p[i].var) / (104.5 * units[u])) <
				    1e-9 &&
				json_get_num(s, "n", 0) == (double)p[i].n &&
				!json_get(s, "below") == !p[i].below,
			    "source %zu has its part of the variance", i);
		}
		text = mem_str(json_get_str(m, "advice"));
		if (u)
			tap_str(text, first,
			    "the advice does not depend on the unit");
		else
			first = mem_str(text);
		free(text);
		json_free(m);
	}
	/* Sessions: SS 2 x 24 / 2, less the variance 1 of runs, over 3: 23 / 3.
	 * Machines: 75 / 1, less 1 and 3 x 23 / 3, over 6: 8.5. No estimate is
	 * below 0. */
	tap_near(p[VARIANCE_RESTART].var + p[VARIANCE_WITHIN].var, 1e8, 1e-9,
	    "the variance of runs is 1");
	tap_near(p[VARIANCE_SESSION].var, 23e8 / 3, 1e-9,
	    "the variance of sessions is 23 / 3");
	tap_near(p[VARIANCE_MACHINE].var, 8.5e8, 1e-9,
	    "the variance of machines is 8.5");
	tap_ok(strncmp(first, "add a machine: ", 15) == 0,
	    "most of the error is between the two machines");
	free(first);
}

/* Sessions of six runs whose values rise by slope[i], and a last session of
 * five runs. */
static struct json *
drift_of(const double *slope, size_t sessions)
{
	struct variance_run v[30];
	size_t n = 0;

	for (size_t i = 0; i <= sessions; i++)
		for (int k = 0; k < (i < sessions ? 6 : 5); k++)
			v[n++] = (struct variance_run){
			    i < sessions ? 100 + slope[i] * k : 900 - 99 * k,
			    NAN, i, 0};
	return noise(100, 100, v, n, true, 0);
}

static void
drifts(void)
{
	static const struct {
		double slope[3];
		size_t sessions;
		double percent;
		bool drifting;
	} cases[] = {{{1}, 1, 500 / 102.5, true}, {{-1}, 1, -500 / 97.5, true},
	    {{.41}, 1, 205 / 101.025, true}, {{.40}, 1, 200 / 101., false},
	    {{1, 0}, 2, 250 / 102.5, false}, {{1, 0, 1}, 3, 500 / 102.5, true},
	    {{-1, 0, -1}, 3, -500 / 97.5, true}, {{1, 0, -1}, 3, 0, false}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct json *m = drift_of(cases[i].slope, cases[i].sessions);

		tap_ok(fabs(json_get_num(m, "drift_percent", NAN) -
			   cases[i].percent) < 1e-9 &&
			!json_get(m, "drifting") == !cases[i].drifting,
		    "%zu sessions of six runs drift by %.3g %%: %s",
		    cases[i].sessions, cases[i].percent,
		    cases[i].drifting ? "drifting is true"
				      : "drifting is absent");
		json_free(m);
	}
}

static void
precisions(void)
{
	const struct precision values = {
	    .mean = 100, .median = -100, .lo = 98, .hi = 104};
	struct json *m = read_precision(&values, .01);
	const struct json *p = json_get(m, "precision");

	tap_near(json_get_num(p, "now", NAN), .03, 1e-12,
	    "98 to 104 around 100 is a precision of 3 %");
	tap_ok(json_get_num(p, "wanted", 0) == .01 &&
		json_get_num(p, "runs", 0) == 3,
	    "without runs three are needed for an interval");
	json_free(m);
	m = noise(100, 100, NULL, 0, false, .01);
	tap_ok(isnan(json_get_num(json_get(m, "precision"), "now", NAN)),
	    "without an interval the precision is unknown");
	json_free(m);
}

int
main(void)
{
	table();
	splits();
	sources();
	drifts();
	precisions();
	return tap_done();
}
