/*
 * Canaries: which rows are canaries, how many tests their p is corrected for,
 * and what is reported of a canary that changed.
 */
#include "rows.h"

#include "err.h"
#include "json.h"
#include "opt.h"
#include "vkb-compare/canary.h"
#include "vkb-compare/history.h"
#include "vkb-compare/part.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define FEW VERDICT_INSUFFICIENT
#define LIKELY VERDICT_LIKELY_REGRESSION
#define WORSE VERDICT_REGRESSION

enum { ROWS = 3 };

static char *const names[ROWS] = {
    (char *)(size_t) "PING", (char *)(size_t) "PONG", (char *)(size_t) "ECHO"};

/* One row for each case, with the facts that a table gives. */
struct world {
	struct comparison c;
	struct pairing pairs[ROWS];
	struct row rows[ROWS];
	struct kase k;
};

static void
begin(struct world *w)
{
	*w = (struct world){.c = {.pairs = w->pairs,
				.npairs = ROWS,
				.rows = w->rows,
				.nrows = ROWS}};
	for (size_t i = 0; i < ROWS; i++) {
		w->pairs[i] = (struct pairing){
		    .side = {&w->k, &w->k}, .name = {names[i], names[i]}};
		w->rows[i] = row("rps", 1);
		w->rows[i].pair = &w->pairs[i];
		w->rows[i].level = JUDGE_ALPHA;
		w->rows[i].facts.lo90 = .99;
		w->rows[i].facts.hi90 = 1.01;
	}
}

/* Sets a change of 20 % whose interval excludes 0. */
static void
change(struct row *r, double p, double p_min)
{
	r->facts.ratio = .8;
	r->facts.lo95 = r->facts.lo90 = .7;
	r->facts.hi95 = r->facts.hi90 = .9;
	r->facts.p = p;
	r->facts.p_min = p_min;
}

static int
check_canaries(struct world *w, const char *pattern, const struct rules *r)
{
	const char *patterns[] = {pattern};
	struct opt_list list = {patterns, 1};

	free(w->c.canaries);
	w->c.canaries = NULL;
	w->c.ncanaries = 0;
	return canary_check(&w->c, &list, r);
}

static void
which(void)
{
	const char *patterns[] = {"P?NG", "NONE", "[x]", "PING"};
	struct opt_list list = {patterns, 4};
	const struct rules rules = {0};
	struct world w;
	struct canary *k;

	begin(&w);
	w.pairs[2].name[0] = w.pairs[2].name[1] = (char *)(size_t) "[x]";
	w.rows[1].gate = false;
	tap_ok(canary_check(&w.c, &list, &rules) == -1,
	    "two of four canaries have no row");
	k = w.c.canaries;
	if (tap_ok(w.c.ncanaries == 4, "each case is one canary at most")) {
		tap_str(k[0].name, "PING",
		    "a case that two patterns match is one canary");
		tap_str(k[0].metric, "rps", "it has a metric");
		tap_ok(
		    k[0].ok && k[0].verdict == VERDICT_EQUIVALENT, "it passes");
		tap_str(k[1].name, "PONG",
		    "a case without a judged row is a canary");
		tap_ok(!k[1].metric && !k[1].ok, "it has no metric");
		tap_str(k[2].name, "[x]", "a name with characters of patterns");
		tap_str(k[2].metric, "rps", "is found as a name");
		tap_str(k[3].name, "NONE", "a pattern that matches no case");
		tap_ok(!k[3].metric && !k[3].ok &&
			k[3].verdict == VERDICT_INSUFFICIENT,
		    "is a canary that was not measured");
	}
	tap_str(err_last(),
	    "canary 'NONE': no judged metric of it is on both sides: the "
	    "comparison is refused",
	    "the message names it");
	w.pairs[0].side[0] = NULL;
	w.pairs[0].name[0] = NULL;
	w.c.nrows = 0;
	tap_ok(check_canaries(&w, "PING", &rules) == -1 && w.c.ncanaries == 1 &&
		!w.c.canaries[0].metric,
	    "a case that the baseline lacks is found by its name in the "
	    "contender");
	w.c.npairs = w.c.ncanaries = 0;
	list.n = 0;
	tap_ok(canary_check(&w.c, &list, &rules) == 0, "no canaries, no error");
	free(w.c.canaries);
}

/* Sets the verdicts of two canaries; the third row is not a canary. */
static void
tests(void)
{
	static const struct {
		const char *what;
		double p[2], p_min, level;
		size_t m, n; /* of the second */
		bool strict;
		enum verdict want[2];
	} cases[] = {{"both are corrected by Benjamini-Hochberg", {.04, .04},
			 .001, .05, 8, 9, false, {WORSE, WORSE}},
	    {"Holm corrects each for two tests", {.04, .04}, .001, .05, 8, 9,
		true, {LIKELY, LIKELY}},
	    {"Holm corrects the larger p for one test", {.02, .04}, .001, .05,
		8, 9, true, {WORSE, WORSE}},
	    {"sequential looks leave half of the level", {.03, .03}, .001, .025,
		8, 9, false, {LIKELY, LIKELY}},
	    {"the smaller p passes, the larger does not", {.06, .02}, .001, .05,
		8, 9, false, {LIKELY, WORSE}},
	    {"3 runs of the baseline are too few", {.04, .04}, .03, .05, 3, 9,
		false, {WORSE, FEW}},
	    {"3 runs of the contender are too few", {.04, .04}, .03, .05, 9, 3,
		false, {WORSE, FEW}},
	    {"4 runs a side are too few for two tests", {.03, .03}, .03, .05, 4,
		4, true, {FEW, FEW}},
	    {"too few runs to reach the level", {.06, .06}, .026, .05, 8, 9,
		false, {FEW, FEW}},
	    {"enough runs to reach the level", {.06, .06}, .024, .05, 8, 9,
		false, {LIKELY, LIKELY}},
	    {"sequential looks leave too few runs", {.06, .06}, .024, .045, 8,
		9, false, {FEW, FEW}}};
	struct world w;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct rules rules = {.strict = cases[i].strict};
		bool ok[2];

		begin(&w);
		for (size_t k = 0; k < 2; k++) {
			change(&w.rows[k], cases[i].p[k], cases[i].p_min);
			w.rows[k].level = cases[i].level;
			ok[k] = verdict_is_likely(cases[i].want[k]);
		}
		w.rows[1].facts.m = cases[i].m;
		w.rows[1].facts.n = cases[i].n;
		change(&w.rows[2], .0001, .0001);
		tap_ok(check_canaries(&w, "P*", &rules) ==
			(ok[0] && ok[1] ? 0 : -1),
		    "%s: %s", cases[i].what,
		    ok[0] && ok[1] ? "no change: the canaries pass"
				   : "refused");
		for (size_t k = 0; k < 2 && w.c.ncanaries == 2; k++)
			tap_ok(w.c.canaries[k].verdict == cases[i].want[k] &&
				w.c.canaries[k].ok == ok[k],
			    "%s: canary %zu is '%s'", cases[i].what, k,
			    verdict_name(w.c.canaries[k].verdict));
		free(w.c.canaries);
	}
	begin(&w);
	change(&w.rows[0], .06, .04);
	w.rows[0].facts.ratio = .99;
	tap_ok(check_canaries(&w, "P*", &(struct rules){0}) == 0 &&
		w.c.canaries[0].verdict == VERDICT_INCONCLUSIVE,
	    "a change within the margin is inconclusive, not too few runs");
	change(&w.rows[0], .06, .04);
	w.rows[0].margin = .25;
	tap_ok(check_canaries(&w, "P*", &(struct rules){0}) == 0 &&
		w.c.canaries[0].verdict == VERDICT_INCONCLUSIVE,
	    "the margin is that of the row");
	w.rows[0].margin = .02;
	w.rows[0].metric.better = METRIC_NEITHER;
	w.rows[0].facts.p = .01;
	tap_ok(check_canaries(&w, "P*", &(struct rules){0}) == -1 &&
		w.c.canaries[0].verdict == VERDICT_DIFFERENT,
	    "a change of a metric without a direction is reported");
	w.rows[0].unchanged = true;
	tap_ok(check_canaries(&w, "P*", &(struct rules){0}) == 0,
	    "the same server on both sides is not a change");
	w.rows[0].facts.m = 3;
	tap_ok(check_canaries(&w, "P*", &(struct rules){0}) == -1,
	    "3 runs of the same server are too few");
	free(w.c.canaries);
}

static void
messages(void)
{
	const struct rules rules = {0};
	struct world w;

	begin(&w);
	change(&w.rows[0], .01, .001);
	check_canaries(&w, "PING", &rules);
	tap_str(err_last(),
	    "canary 'PING': rps changed by -20.0% against its baseline: the "
	    "comparison is refused",
	    "a change in percent");
	w.rows[0].facts.ratio = NAN;
	w.rows[0].facts.median[0] = 0;
	w.rows[0].facts.median[1] = 1.5;
	check_canaries(&w, "PING", &rules);
	tap_str(err_last(),
	    "canary 'PING': rps changed from 0 to 1.5 against its baseline: "
	    "the comparison is refused",
	    "a change without a ratio");
	w.rows[0].facts.m = 3;
	check_canaries(&w, "PING", &rules);
	tap_str(err_last(),
	    "canary 'PING': too few runs of rps, or of its baseline: the "
	    "comparison is refused",
	    "too few runs");
	free(w.c.canaries);
}

/* An old build of 10 requests, 20 of 98 to 102, and 20 without the case. */
static struct history *
make_history(void)
{
	static const char *const line =
	    "{\"type\":\"run\",\"v\":1,\"subject\":{\"label\":\"h%d\"},"
	    "\"config\":{\"command\":\"%s\"},\"run\":{},\"metrics\":"
	    "{\"rps\":%d},\"status\":\"ok\"}\n";
	int fd = memfd_create("history", 0);
	const char *files[1];
	char name[40];
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	struct history *h;

	if (!f)
		return NULL;
	for (int i = 0; i < 41; i++)
		for (int k = 0; k < 2; k++)
			fprintf(f, line, i, i <= 20 ? "PING" : "GET",
			    i ? 98 + i % 4 + k : 10);
	fflush(f);
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	files[0] = name;
	h = history_read(files, 1);
	fclose(f);
	return h;
}

static void
histories(void)
{
	double v[] = {95, 96, 100.5, 97};
	struct part_metric metric = {
	    .name = (char *)(size_t) "rps", .values = {v, 4}};
	struct part part = {.metrics = &metric, .nmetrics = 1};
	struct rules rules = {.history = make_history()};
	const struct verdict_facts *f;
	struct world w;

	if (!tap_ok(rules.history != NULL, "a history is read"))
		return;
	begin(&w);
	part.rest = json_object();
	w.k = (struct kase){.key = (char *)(size_t) "{\"command\":\"PING\"}",
	    .parts = &part,
	    .nparts = 1};
	w.rows[0].level =
	    .01; /* the level of adaptive runs does not apply to the history */
	tap_ok(check_canaries(&w, "PING", &rules) == -1,
	    "a canary that is worse than its history");
	f = &w.c.canaries[0].facts;
	tap_ok(f->m == 40 && f->n == 4,
	    "all runs of the last 20 builds that have some are compared");
	tap_near(f->median[0], 100, 1e-12, "the median of the history");
	tap_near(f->median[1], 96.5, 1e-12, "the median of the contender");
	tap_ok(!f->paired && f->p > .01 && f->p < .05,
	    "by a rank test, at the level of one look");
	tap_str(err_last(),
	    "canary 'PING': rps changed by -3.0% against its history: the "
	    "comparison is refused",
	    "the message says so");
	metric.values.n = 0;
	tap_ok(check_canaries(&w, "PING", &rules) == -1 &&
		w.c.canaries[0].verdict == VERDICT_INSUFFICIENT &&
		isnan(w.c.canaries[0].facts.ratio),
	    "a canary without runs is refused");
	metric.values.n = 4;
	w.k.key = (char *)(size_t) "{}";
	tap_ok(check_canaries(&w, "PING", &rules) == -1,
	    "a canary without a history is refused");
	tap_str(err_last(),
	    "canary 'PING': too few runs of rps, or of its history: the "
	    "comparison is refused",
	    "the message says that runs or history are missing");
	free(w.c.canaries);
	json_free(part.rest);
	history_free(rules.history);
}

int
main(void)
{
	which();
	tests();
	messages();
	histories();
	return tap_done();
}
