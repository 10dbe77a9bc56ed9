/*
 * Sides that share no session: which sessions there are, and the changes,
 * errors and rests of rows, computed again from the formulas.
 */
#include "tap.h"

#include "json.h"
#include "mem.h"
#include "stats.h"
#include "tdist.h"
#include "vkb-compare/apart.h"
#include "vkb-compare/common.h"
#include "vkb-compare/judge.h"
#include "vkb-compare/part.h"
#include "vkb-compare/rules.h"

#include <stdlib.h>

enum { CASES = 6, RUNS = 12 };

/* A comparison of up to CASES cases with one metric, all in one place. */
struct world {
	struct comparison c;
	struct pairing pairs[CASES];
	struct kase kases[CASES][2];
	struct part parts[CASES][2];
	struct round rounds[CASES][2][RUNS];
	double values[CASES][2][RUNS];
	size_t next[CASES + 1];
};

/* The levels of rows of adaptive runs, and those of the common row. */
static const double looked[] = {.03, .07}, whole[] = {.05, .10};

static const struct rules no_rules;

static struct json *
parse(const char *s)
{
	return json_parse(s, strlen(s), NULL, NULL);
}

/* Sets up n cases without runs; 'c' borrows from the world. */
static void
begin(struct world *w, size_t n)
{
	char config[100];

	*w = (struct world){.c = {.pairs = w->pairs, .npairs = n, .nrows = n}};
	w->c.rows = mem_array(n + 1, sizeof *w->c.rows);
	for (size_t i = 0; i < n; i++) {
		snprintf(config, sizeof config,
		    "{\"command\":\"C%zu\",\"clients\":50,\"size\":%d}", i,
		    i < n - 1);
		for (size_t j = 0; j < 2; j++) {
			w->parts[i][j].rest = parse("{\"env\":{}}");
			w->kases[i][j] = (struct kase){.config = parse(config),
			    .parts = &w->parts[i][j],
			    .nparts = 1};
			w->pairs[i].side[j] = &w->kases[i][j];
		}
		w->c.rows[i] = (struct row){.pair = &w->pairs[i],
		    .name = mem_str("rps"),
		    .metric = metric_guess("rps"),
		    .gate = true,
		    .primary = i == 1,
		    .margin = i == 3 ? .05 : .02,
		    .margin_from = i == 3 ? "policy" : "table",
		    .level = looked[0],
		    .level10 = looked[1],
		    .facts = {.m = 6, .n = 6, .noise = {{1, 1}, {1, 1}}}};
		w->next[i] = i + 1;
	}
}

static void
end(struct world *w)
{
	for (size_t i = 0; i < w->c.npairs; i++)
		for (size_t j = 0; j < 2; j++) {
			json_free((struct json *)(size_t)w->kases[i][j].config);
			json_free(w->parts[i][j].rest);
		}
	for (size_t i = 0; i < w->c.nrows; i++)
		free(w->c.rows[i].name);
	free(w->c.rows);
	common_free(&w->c);
}

/* Gives a side of a case one run for each letter, the name of its session; '-'
 * is a run whose session is not known. */
static void
add_runs(struct world *w, size_t i, size_t j, const char *sessions)
{
	static const char *const names[] = {
	    "a", "b", "c", "d", "e", "f", "g", "h"};
	struct sample *s = &w->c.rows[i].used[j];

	s->v = w->values[i][j];
	s->rounds = w->rounds[i][j];
	for (s->n = 0; sessions[s->n]; s->n++)
		s->rounds[s->n].session =
		    sessions[s->n] == '-' ? NULL : names[sessions[s->n] - 'a'];
}

static void
sessions(void)
{
	static const struct {
		const char *what, *runs[2][2]; /* of two cases, by side */
		bool virtual[2];               /* side of the second case */
		bool apart;
		size_t n[2], of[2][2]; /* at most, and of each case */
		double sd;
	} cases[] = {{"one session a side", {{"aa", "bb"}, {"a", "b"}},
			 {false, false}, true, {1, 1}, {{1, 1}, {1, 1}}, .01},
	    {"several, some in one case only", {{"ab", "e"}, {"bcd", "fg"}},
		{false, false}, true, {3, 2}, {{2, 1}, {3, 2}}, .01},
	    {"each case in sessions of its own", {{"a", "c"}, {"b", "d"}},
		{false, false}, true, {1, 1}, {{1, 1}, {1, 1}}, .01},
	    {"four of a virtual baseline", {{"abcd", "e"}, {"ab", "ef"}},
		{true, false}, true, {4, 2}, {{4, 1}, {2, 2}}, .03},
	    {"a virtual contender", {{"a", "e"}, {"a", "ef"}}, {false, true},
		true, {1, 2}, {{1, 1}, {1, 2}}, .03},
	    {"five of the baseline", {{"abcde", "f"}, {"cde", "f"}},
		{true, true}, true, {5, 1}, {{5, 1}, {3, 1}}, 0},
	    {"the same session in one case", {{"ab", "b"}, {"a", "c"}},
		{false, false}, true, {1, 1}, {{0, 0}, {1, 1}}, .01},
	    {"the same session in all cases", {{"ab", "b"}, {"a", "ca"}},
		{false, false}, false, {0, 0}, {{0, 0}, {0, 0}}, 0},
	    {"the session of another case", {{"a", "c"}, {"b", "a"}},
		{false, false}, true, {1, 1}, {{1, 1}, {1, 1}}, .01},
	    {"a run of no known session", {{"aa", "bb"}, {"a-", "bb"}},
		{false, false}, false, {0, 0}, {{0, 0}, {0, 0}}, 0},
	    {"a run of the contender, too", {{"aa", "bb"}, {"aa", "b-"}},
		{false, false}, false, {0, 0}, {{0, 0}, {0, 0}}, 0},
	    {"a contender without runs", {{"aa", ""}, {"aa", ""}},
		{false, false}, false, {0, 0}, {{0, 0}, {0, 0}}, 0},
	    {"a baseline without runs", {{"", "b"}, {"", "b"}}, {false, false},
		false, {0, 0}, {{0, 0}, {0, 0}}, 0}};
	struct world w;

	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		begin(&w, 2);
		for (size_t i = 0; i < 2; i++)
			for (size_t j = 0; j < 2; j++)
				add_runs(&w, i, j, cases[k].runs[i][j]);
		for (size_t j = 0; j < 2; j++)
			json_set_bool((struct json *)(size_t)json_get(
					  w.parts[1][j].rest, "env"),
			    "virtual", cases[k].virtual[j]);
		tap_ok(apart_find(&w.c) == cases[k].apart, "%s: %s",
		    cases[k].what,
		    cases[k].apart ? "no session is shared"
				   : "the sides share a session");
		tap_ok(w.c.sessions[0] == cases[k].n[0] &&
			w.c.sessions[1] == cases[k].n[1],
		    "%s: %zu and %zu sessions", cases[k].what, w.c.sessions[0],
		    w.c.sessions[1]);
		for (size_t i = 0; i < 2; i++)
			tap_ok(memcmp(w.c.rows[i].sessions, cases[k].of[i],
				   sizeof cases[k].of[i]) == 0,
			    "%s: %zu and %zu of case %zu", cases[k].what,
			    w.c.rows[i].sessions[0], w.c.rows[i].sessions[1],
			    i);
		tap_ok(w.c.unnamed_sessions ==
			(strchr(cases[k].runs[1][0], '-') ||
			    strchr(cases[k].runs[1][1], '-')),
		    "%s: are all sessions known?", cases[k].what);
		for (size_t i = 0; i < 2 && cases[k].apart; i++) {
			w.c.rows[i].facts.se = .01;
			w.c.rows[i].facts.df = 8;
		}
		if (cases[k].apart && cases[k].sd > 0)
			apart_widen(&w.c, &no_rules, 0, w.next);
		tap_near(w.c.session_sd, cases[k].sd, 1e-12,
		    "the standard deviation between sessions that is assumed");
		end(&w);
	}
}

/* Counted runs of other sessions do not matter for the other runs. */
static void
counted_rows(void)
{
	struct world w;

	begin(&w, 2);
	add_runs(&w, 0, 0, "a");
	add_runs(&w, 0, 1, "b");
	add_runs(&w, 1, 0, "-cde");
	add_runs(&w, 1, 1, "cf");
	w.c.rows[1].exact = true;
	tap_ok(apart_find(&w.c) && !w.c.unnamed_sessions,
	    "a row without noise is not asked for its sessions");
	tap_ok(w.c.sessions[0] == 1 && w.c.sessions[1] == 1 &&
		w.c.rows[1].sessions[0] == 0,
	    "its sessions are not counted");
	end(&w);
}

/* ---- the formulas */

static struct moderate
add(struct moderate a, struct moderate b)
{
	double sum = a.var + b.var;

	return (struct moderate){
	    sum, sum * sum / (a.var * a.var / a.df + b.var * b.var / b.df)};
}

/* The variance of a normal value that lies between -z and z, by Simpson. */
static double
cut_variance(double q)
{
	double z = tdist_normal_quantile(.5 + q / 2), sum = 0;
	const int steps = 2000;

	for (int i = 0; i <= steps; i++) {
		double x = z * i / steps;
		int weight = i == 0 || i == steps ? 1 : i % 2 ? 4 : 2;

		sum += weight * x * x * exp(-x * x / 2) / sqrt(2 * M_PI);
	}
	return 2 * sum * z / steps / 3 / q;
}

/* Are these the estimate, test and intervals of Student's t? */
static void
check_t(const struct verdict_facts *f, double change, struct moderate noise,
    const double level[2], const char *what)
{
	double se = sqrt(noise.var);
	double wide = se * tdist_quantile(1 - level[0] / 2, noise.df);
	double wide10 = se * tdist_quantile(1 - level[1] / 2, noise.df);

	tap_near(f->change, change, 1e-6, what);
	tap_near(f->se, se, 1e-6, "the standard error");
	tap_near(f->df, noise.df, 1e-6, "the degrees of freedom");
	tap_near(f->ratio, exp(change), 1e-6, "the ratio");
	tap_near(f->lo95, exp(change - wide), 1e-6, "the lower end");
	tap_near(f->hi95, exp(change + wide), 1e-6, "the upper end");
	tap_near(f->lo90, exp(change - wide10), 1e-6, "of the 90 %, too");
	tap_near(f->hi90, exp(change + wide10), 1e-6, "its upper end");
}

static double
p_of(double change, struct moderate noise)
{
	return 2 * tdist_sf(fabs(change) / sqrt(noise.var), noise.df);
}

/* The row of what all cases have in common, the only one. */
static void
check_common(
    struct world *w, double change, struct moderate noise, size_t cases)
{
	struct row *row;
	char *config;

	if (!tap_ok(w->c.ncommons == 1, "one row stands for all cases"))
		return;
	row = &w->c.commons[0];
	tap_str(row->facts.method, "t-sessions", "the method");
	tap_near(row->level, .05, 1e-12, "without looks the level is .05");
	tap_near(
	    row->level10, .1, 1e-12, "the level of the 90 % interval is .10");
	check_t(&row->facts, change, noise, whole, "the common change");
	tap_near(
	    row->facts.p, p_of(change, noise), 1e-6, "p of the common change");
	tap_ok(row->facts.m == cases && row->facts.n == cases,
	    "its values are the cases");
	tap_ok(row->facts.median[0] == 1,
	    "its values are relative to the baseline");
	tap_near(row->facts.median[1], exp(change), 1e-6, "the contender");
	tap_ok(row->gate && row->common && row->primary, "it is judged");
	tap_near(row->margin, .05, 0, "its margin is the widest of a case");
	tap_str(row->margin_from, "policy", "the source of its margin");
	tap_ok(!row->waiver.reason, "it is not waived");
	tap_str(row->name, "rps", "it has the name of the metric");
	tap_ok(isnan(row->p) && isnan(row->visible) && isnan(row->minutes) &&
		isnan(row->facts.cliff),
	    "p, the visible change, the minutes and delta are not known yet");
	tap_str(
	    row->pair->name[0], "all cases", "the name of the baseline's case");
	tap_str(row->pair->name[1], "all cases",
	    "the name of the contender's case");
	tap_ok(row->pair->rows == 1, "there is one row");
	tap_near(cases_sum(row->pair->side[1], "n"), 1, 0,
	    "it has one run, which did not fail");
	config = json_print(row->pair->side[0]->config);
	tap_str(config, "{\"clients\":50,\"command\":\"all cases\"}",
	    "its configuration has what all cases share");
	free(config);
	common_append(&w->c);
	tap_ok(w->c.nrows == w->c.npairs + 1 && w->c.ncommons == 0 &&
		!w->c.commons && w->c.rows[w->c.nrows - 1].common,
	    "it comes behind the other rows");
}

/* ---- few sessions: the effect of one is assumed */

static const double changes[CASES] = {.02, -.01, .06, .01, -.17, .045};

/* Sets the facts of the rows as the runs alone say. */
static void
set_noise(struct world *w, double se)
{
	for (size_t i = 0; i < w->c.nrows; i++) {
		w->c.rows[i].facts.change = changes[i];
		w->c.rows[i].facts.se = se * (1 + (double)i);
		w->c.rows[i].facts.df = 8 + (double)i;
	}
}

/* Gives each row so many sessions, which differ by 2 %. */
static void
set_sessions(struct world *w, size_t base, size_t contender)
{
	for (size_t i = 0; i < w->c.nrows; i++) {
		w->c.rows[i].sessions[0] = base;
		w->c.rows[i].sessions[1] = contender;
		w->c.rows[i].session = (struct moderate){.0004, 3};
	}
}

static int
compare_squares(const void *a, const void *b)
{
	double x = fabs(*(const double *)a), y = fabs(*(const double *)b);

	return (x > y) - (x < y);
}

static void
few_sessions(double se, bool noisy)
{
	struct moderate assumed = {.0004 / 2 + .0004 / 3, 3}, rests, all;
	/* The median, .015, lies between the third and the fourth. */
	double rest[CASES], sorted[CASES], own = 0, left, median = .015;
	struct world w;

	begin(&w, CASES);
	set_sessions(&w, 2, 3);
	set_noise(&w, se);
	apart_widen(&w.c, &no_rules, 0, w.next);
	for (size_t i = 0; i < CASES; i++) {
		rest[i] = sorted[i] = changes[i] - median;
		own += pow(se * (1 + (double)i), 2) / CASES;
	}
	/* 20 % of six, rounded up, may be changes. */
	qsort(sorted, CASES, sizeof *sorted, compare_squares);
	rests = (struct moderate){0, 3};
	for (size_t i = 0; i < 4; i++)
		rests.var += sorted[i] * sorted[i] / 3;
	rests.var /= cut_variance(4. / 6);
	all = (struct moderate){
	    assumed.var + rests.var * M_PI / 2 / CASES, assumed.df};
	left = rests.var - own;
	tap_ok(noisy == (left <= 0), "do the runs alone explain the rests?");
	for (size_t i = 0; i < CASES; i++) {
		const struct row *row = &w.c.rows[i];
		struct moderate runs = {
		    pow(se * (1 + (double)i), 2), 8 + (double)i};
		struct moderate beside = runs;

		if (!noisy)
			beside = add(runs,
			    (struct moderate){
				left, 3 * pow(left / rests.var, 2)});
		tap_ok(row->has_rest, "case %zu has a rest", i);
		check_t(&row->facts, changes[i], add(beside, assumed), looked,
		    "the change that was measured");
		check_t(&row->rest, rest[i], beside, looked,
		    "the change relative to the other cases");
		tap_near(row->facts.p, p_of(rest[i], beside), 1e-6,
		    "p is that of the rest");
		tap_str(row->facts.method, "t-sessions", "the method");
	}
	check_common(&w, median, all, CASES);

	end(&w);
}

static void
few_cases(void)
{
	struct moderate assumed = {.0004 / 1 + .0004 / 4, 3}, runs;
	struct world w;

	begin(&w, 5);
	set_sessions(&w, 1, 4);
	set_noise(&w, .01);
	w.c.rows[2].facts.se = NAN; /* no noise and no ratio: not widened */
	w.c.rows[2].facts.ratio = NAN;
	w.c.rows[2].facts.method = "exact";
	apart_widen(&w.c, &no_rules, 0, w.next);
	for (size_t i = 0; i < 5; i++) {
		if (i == 2)
			continue;
		runs = (struct moderate){
		    pow(.01 * (1 + (double)i), 2), 8 + (double)i};
		check_t(&w.c.rows[i].facts, changes[i], add(runs, assumed),
		    looked, "four cases: the change");
		tap_ok(!w.c.rows[i].has_rest,
		    "with four cases there is no change relative to the "
		    "others");
		tap_near(w.c.rows[i].facts.p,
		    p_of(changes[i], add(runs, assumed)), 1e-6,
		    "p is that of the change");
	}
	tap_str(w.c.rows[2].facts.method, "exact",
	    "a row without noise and ratio is not changed");
	tap_ok(w.c.ncommons == 0, "there is no common change");
	w.c.rows[2].facts.ratio = .93;
	apart_widen(&w.c, &no_rules, 3, w.next);
	tap_str(w.c.rows[2].facts.method, "exact",
	    "rows before 'first' are not changed");
	w.c.rows[2].facts.change = NAN;
	w.next[2] = w.c.nrows;
	apart_widen(&w.c, &no_rules, 2, w.next);
	check_t(&w.c.rows[2].facts, log(.93), (struct moderate){.0005, 3},
	    looked, "equal values in all runs of a side: the sessions differ");
	w.next[2] = 3;
	set_noise(&w, .01);
	set_sessions(&w, 0, 0);
	w.c.rows[3].facts.method = "moderated-t";
	apart_widen(&w.c, &no_rules, 0, w.next);
	tap_str(w.c.rows[3].facts.method, "moderated-t",
	    "a row whose sides share a session is not changed");
	set_sessions(&w, 1, 4);
	w.c.rows[1].primary = false;
	apart_widen(&w.c, &no_rules, 0, w.next);
	tap_ok(w.c.rows[2].has_rest,
	    "with five cases there is a change relative to the others");
	tap_ok(w.c.ncommons == 1 && !w.c.commons[0].primary,
	    "the common row of a metric that is not primary is not primary");
	tap_ok(judge_family(&w.c.commons[0]) == FAMILY_OTHER,
	    "it belongs to the other family");
	common_append(&w.c);
	w.c.nrows--;
	free(w.c.rows[w.c.nrows].name);
	for (size_t i = 0; i < w.c.nrows; i++)
		w.c.rows[i].waiver.reason = "known";
	apart_widen(&w.c, &no_rules, 0, w.next);
	tap_ok(w.c.ncommons == 1 && w.c.commons[0].waiver.reason,
	    "if all cases are waived, so is the common change");
	common_append(&w.c);
	w.c.nrows--;
	free(w.c.rows[w.c.nrows].name);
	w.c.rows[4].waiver.reason = NULL;
	apart_widen(&w.c, &no_rules, 0, w.next);
	tap_ok(!w.c.commons[0].waiver.reason,
	    "if only three of four are, it is not");
	common_append(&w.c);
	w.c.nrows--;
	free(w.c.rows[w.c.nrows].name);
	for (size_t i = 0; i < w.c.nrows; i++)
		w.c.rows[i].gate = false;
	apart_widen(&w.c, &no_rules, 0, w.next);
	tap_ok(w.c.ncommons == 0,
	    "a metric that is not judged has no common change");
	end(&w);
}

/* ---- five sessions of the baseline: what they differ by is measured */

static const double effects[] = {.01, -.02, .03, 0, .015, -.01, .02, -.005};

/* The logarithm of run k: the effects of its session, its case, both together,
 * and the run. */
static double
value(size_t i, size_t j, size_t session, size_t k)
{
	double both = .004 * (double)((3 * i + 5 * session) % 7) - .012;

	return 11 + .1 * (double)i + effects[session] + both +
	    .001 * (double)(k * k) + (j ? changes[i] : 0);
}

static double
median_of(const struct sample *s, const char *session)
{
	double v[RUNS], median;
	size_t n = 0;

	for (size_t k = 0; k < s->n; k++)
		if (strcmp(s->rounds[k].session, session) == 0)
			v[n++] = log(s->v[k]);
	stats_sort(v, n);
	median = stats_median(v, n);
	return median;
}

/* Returns the variance of one more value beside n that lie around 0. */
static struct moderate
predict(const double *v, size_t n, double more)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i] * v[i];
	return (struct moderate){
	    sum / ((double)n - 1) * (1 / (double)n + 1 / more), (double)n - 1};
}

static void
many_sessions(void)
{
	/* Case 2 has no run of session c; the contender is in g and h. */
	static const char *const base[] = {"aabbccddeeff", "abcdefabcdee",
	    "abdefabdeaab", "abcdef", "ffeeddccbbaa"};
	static const char *const sessions[] = {"a", "b", "c", "d", "e", "f"};
	enum { N = 5, S = 6 };
	double m[N][S], mean[N], change[N], common = 0, shared[S];
	double sorted[N], off[N];
	struct moderate alone[N], rests[N], all, prior;
	struct world w;

	begin(&w, N);
	for (size_t i = 0; i < N; i++) {
		struct sample *s = w.c.rows[i].used;

		add_runs(&w, i, 0, base[i]);
		add_runs(&w, i, 1, i == 3 ? "gg" : "hhgg");
		for (size_t j = 0; j < 2; j++)
			for (size_t k = 0; k < s[j].n; k++)
				s[j].v[k] = exp(value(i, j,
				    (size_t)(*s[j].rounds[k].session - 'a'),
				    k));
	}
	tap_ok(apart_find(&w.c), "the sides share no session");
	set_noise(&w, .01);
	apart_widen(&w.c, &no_rules, 0, w.next);
	for (size_t i = 0; i < N; i++) {
		const struct sample *s = w.c.rows[i].used;
		size_t n = 0;
		double had[S], new = median_of(&s[1], "g");

		if (i != 3)
			new = (new + median_of(&s[1], "h")) / 2;
		mean[i] = 0;
		for (size_t k = 0; k < S; k++) {
			m[i][k] = median_of(&s[0], sessions[k]);
			if (!isnan(m[i][k]))
				had[n++] = m[i][k];
		}
		for (size_t k = 0; k < n; k++)
			mean[i] += had[k] / (double)n;
		for (size_t k = 0; k < n; k++)
			had[k] -= mean[i];
		change[i] = sorted[i] = new - mean[i];
		alone[i] = predict(had, n, i == 3 ? 1 : 2);
	}
	/* Of the five cases, the one farthest from the median counts as
	 * changed. */
	stats_sort(sorted, N);
	for (size_t i = 0; i < N; i++)
		off[i] = fabs(change[i] - sorted[N / 2]);
	stats_sort(off, N);
	for (size_t i = 0; i < N; i++)
		if (fabs(change[i] - sorted[N / 2]) < off[N - 1])
			common += change[i] / (N - 1);
	for (size_t k = 0; k < S; k++) {
		size_t n = 0;

		shared[k] = 0;
		for (size_t i = 0; i < N; i++)
			if (!isnan(m[i][k])) {
				shared[k] += m[i][k] - mean[i];
				n++;
			}
		shared[k] /= (double)n;
	}
	for (size_t i = 0; i < N; i++) {
		double had[S];
		size_t n = 0;

		for (size_t k = 0; k < S; k++)
			if (!isnan(m[i][k]))
				had[n++] = m[i][k] - mean[i] - shared[k];
		rests[i] = predict(had, n, 2);
		/* It is compared with the other four: 1 + 1/4, not 1 - 1/5. */
		rests[i].var *= 1.5;
	}
	all = predict(shared, S, 2);
	prior = moderate_prior(rests, N);
	for (size_t i = 0; i < N; i++) {
		const struct row *row = &w.c.rows[i];
		struct moderate beside = moderate_shrink(rests[i], &prior);

		check_t(&row->facts, change[i], alone[i], looked,
		    "the predicted change");
		check_t(&row->rest, change[i] - common, beside, looked,
		    "the change relative to the other cases");
		tap_near(row->facts.p, p_of(change[i] - common, beside), 1e-6,
		    "p is that of the rest");
	}
	tap_ok(!w.c.session_from && !w.c.commons[0].facts.assumed_se,
	    "the differences between sessions are measured, not assumed");
	check_common(&w, common, all, N);
	w.c.rows[4].sessions[0] = 4;
	set_noise(&w, .01);
	w.next[4] = w.c.nrows;
	apart_widen(&w.c, &no_rules, 0, w.next);
	tap_ok(w.c.session_from && w.c.commons[0].facts.assumed_se,
	    "four sessions of one case are too few to measure it");
	common_append(&w.c);
	end(&w);
}

int
main(void)
{
	sessions();
	counted_rows();
	few_sessions(.002, false);
	few_sessions(.03, true);
	few_cases();
	many_sessions();
	return tap_done();
}
