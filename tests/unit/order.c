#include "vkb-load/session/schedule.h"
#include "tap.h"

#include "json.h"
#include "vkb-load/plan/builds.h"

#include <stdlib.h>

enum { CASES = 3, BUILDS = 4, RUNS = 5, ALL = CASES * BUILDS * RUNS };

static bool
each_once(const struct turn *s)
{
	int seen[CASES][BUILDS][RUNS + 1] = {0};

	for (size_t i = 0; i < ALL; i++)
		if (s[i].index < 1 || s[i].index > RUNS ||
		    seen[s[i].scene][s[i].build][s[i].index]++)
			return false;
	return true;
}

/* Returns whether each block has one case with all builds one by one. */
static bool
blocks(const struct turn *s)
{
	for (size_t i = 0; i < ALL; i++) {
		const struct turn *first = &s[i - i % BUILDS];

		if (s[i].block != s[i].index || s[i].block != first->block ||
		    s[i].scene != first->scene)
			return false;
	}
	return true;
}

static bool
same(const struct turn *a, const struct turn *b)
{
	for (size_t i = 0; i < ALL; i++)
		if (a[i].scene != b[i].scene || a[i].build != b[i].build ||
		    a[i].index != b[i].index)
			return false;
	return true;
}

static struct turn *
make(enum order_how how, size_t nscenes, size_t nbuilds, size_t runs,
    uint64_t seed)
{
	struct builds b = {.n = nbuilds};
	struct schedule a = {
	    .order = how, .scenes = {.n = nscenes}, .builds = &b, .seed = seed};
	size_t n;
	struct turn *s = schedule_make_order(&a, 1, runs, &n);

	if (n != nscenes * nbuilds * runs)
		abort();
	return s;
}

/* Prints the order of runs 3..5 of two cases and two builds. */
static void
later(enum order_how how)
{
	struct builds two = {.n = 2};
	struct schedule a = {
	    .order = how, .scenes = {.n = 2}, .builds = &two, .seed = 1};
	int seen[6] = {0};
	bool good = true;
	size_t n;
	struct turn *s = schedule_make_order(&a, 3, 5, &n);

	for (size_t i = 0; i < n; i++) {
		good &= s[i].index >= 3 && s[i].index <= 5;
		seen[good ? s[i].index : 0]++;
	}
	tap_ok(good && n == 12 && seen[3] == 4 && seen[4] == 4 && seen[5] == 4,
	    "order %d: repetitions 3 to 5", how);
	free(s);
}

/* In sequence: build by build, case by case, run by run, without random
 * choices. */
static void
in_turn(void)
{
	struct turn *s = make(ORDER_SEQUENTIAL, CASES, BUILDS, RUNS, 1);
	bool good = true;

	for (size_t i = 0; i < ALL; i++)
		good &= s[i].build == i / (CASES * RUNS) &&
		    s[i].scene == i / RUNS % CASES &&
		    s[i].index == i % RUNS + 1 && s[i].block == 0;
	tap_ok(good, "in sequence each build does all its runs at once");
	free(s);
}

/* Interleaved: each round has every case once, in the order of the plan. */
static void
in_rounds(void)
{
	struct turn *s = make(ORDER_INTERLEAVED, CASES, BUILDS, RUNS, 1);
	bool good = true;

	for (size_t i = 0; i < ALL; i++)
		good &= s[i].index == i / (CASES * BUILDS) + 1 &&
		    s[i].scene == i / BUILDS % CASES;
	tap_ok(good, "interleaved, a round has each case over all builds");
	free(s);
}

/* In as many rounds as there are builds, each build has each place once. */
static void
balanced(void)
{
	struct turn *s = make(ORDER_INTERLEAVED, CASES, BUILDS, 2 * BUILDS, 3);
	int seen[2][CASES][BUILDS][BUILDS] = {0};
	bool good = true;
	size_t firsts = 0;

	for (size_t i = 0; i < CASES * BUILDS * 2 * BUILDS; i++)
		good &= !seen[(s[i].index - 1) / BUILDS][s[i].scene][s[i].build]
			     [i % BUILDS]++;
	for (size_t c = 1; c < CASES; c++)
		firsts += s[c * BUILDS].build != s[0].build;
	tap_ok(good, "each build has each place of a square once");
	tap_ok(firsts > 0, "the cases do not begin with the same build");
	free(s);
}

/* Random: each of 4 runs is first equally often. */
static void
at_random(void)
{
	int first[4] = {0}, last[4] = {0};
	struct turn *s;

	for (size_t i = 0; i < 400; i++) {
		s = make(ORDER_RANDOM, 2, 2, 1, i);
		first[2 * s[0].scene + s[0].build]++;
		last[2 * s[3].scene + s[3].build]++;
		free(s);
	}
	for (size_t i = 0; i < 4; i++)
		tap_ok(first[i] > 60 && first[i] < 140 && last[i] > 60 &&
			last[i] < 140,
		    "run %zu is first %d times of 400 and last %d times", i,
		    first[i], last[i]);
}

/* A later pass uses other random numbers: its rounds do not repeat earlier
 * ones. */
static void
goes_on(void)
{
	struct builds builds = {.n = 20};
	struct schedule s = {.order = ORDER_INTERLEAVED,
	    .scenes = {.n = 1},
	    .builds = &builds,
	    .seed = 7};
	size_t n;
	struct turn *a = schedule_make_order(&s, 1, 1, &n), *b;
	bool equal = true;

	b = schedule_make_order(&s, 2, 2, &n);
	for (size_t i = 0; i < n; i++)
		equal &= a[i].build == b[i].build;
	tap_ok(
	    n == 20 && !equal, "later rounds with one seed have another order");
	free(a);
	free(b);
}

static void
names(void)
{
	tap_ok(schedule_parse_order(NULL) == ORDER_SLICES,
	    "the default order is slices");
	tap_ok(schedule_parse_order("interleaved") == ORDER_INTERLEAVED &&
		schedule_parse_order("slices") == ORDER_SLICES &&
		schedule_parse_order("random") == ORDER_RANDOM &&
		schedule_parse_order("sequential") == ORDER_SEQUENTIAL,
	    "each order has its name");
}

static double
estimate(const struct schedule *a, size_t first, size_t cas, bool all)
{
	bool known;
	double s = schedule_estimate(a, first, cas, &known);

	tap_ok(known == all, "the time of %s run is known from turn %zu on",
	    all ? "every" : "not every", first);
	return s;
}

static void
is_text(char *got, const char *want)
{
	tap_str(got, want, want);
	free(got);
}

/* Two scenes of three cases on two builds, with a budget. */
static void
plans(void)
{
	struct json *one = json_parse(
			"{\"subject\":{\"label\":\"a\"}}", 25, NULL, NULL),
		    *two = json_parse(
			"{\"subject\":{\"label\":\"b\"}}", 25, NULL, NULL);
	struct json *records[2] = {one, two};
	struct builds b = {.v = records, .n = 2};
	char x[] = "x", y[] = "y", z[] = "z", *names[CASES] = {x, y, z};
	struct bench_case cases[CASES] = {
	    {.load.work = {.duration_s = 1, .warmup_s = .5}},
	    {.load.work.duration_s = 1}, {.load.work.requests = 5}};
	size_t numbers[CASES] = {0, 1, 2};
	struct scene scenes[2] = {{numbers, 2}, {numbers + 2, 1}};
	enum schedule_end ends[CASES] = {SCHEDULE_OPEN};
	bool dropped[2 * CASES] = {false};
	bool done[2 * CASES * 3] = {false};
	double took[CASES] = {0, 3, 0};
	struct schedule a = {.runs = 2,
	    .has_budget = true,
	    .order = ORDER_SEQUENTIAL,
	    .cases = cases,
	    .names = names,
	    .ncases = CASES,
	    .scenes = {.v = scenes, .n = 2},
	    .builds = &b,
	    .ends = ends,
	    .dropped = dropped,
	    .done = done,
	    .last = 3,
	    .progress = {.took = took}};
	struct turn t = {.scene = 0, .build = 1, .index = 2};

	schedule_make_turns(&a, 1, 2);
	tap_ok(a.nturns == 8 && a.turns[7].index == 2 &&
		a.turns[7].build == 1 && a.turns[7].scene == 1,
	    "each scene has its turns on each build");
	/* x takes 2 s and half a second for its server, y took 3 s; the time of
	 * z is unknown. */
	tap_near(estimate(&a, 7, SIZE_MAX, false), 0, 0,
	    "a run of unknown time counts as none");
	tap_near(estimate(&a, 5, SIZE_MAX, false), 5, 1e-12,
	    "before the last turn there are also the runs of that turn");
	tap_near(estimate(&a, 5, 0, false), 5, 1e-12,
	    "in a turn the runs from the first case on");
	tap_near(estimate(&a, 5, 1, false), 3, 1e-12,
	    "in a turn the runs from the second case on");
	tap_near(estimate(&a, 0, 1, false), 4 * 5 - 2, 1e-12,
	    "a run of the first turn that is finished takes no time");
	took[2] = 10;
	tap_near(estimate(&a, 0, SIZE_MAX, true), 20 + 40, 1e-12,
	    "later runs take as long as the last one took");
	took[2] = 0;
	ends[2] = SCHEDULE_DECIDED;
	tap_near(estimate(&a, 0, SIZE_MAX, true), 20, 1e-12,
	    "a case that is decided takes no time");
	tap_ok(!schedule_is_wanted(&a, &t, 2) && schedule_is_wanted(&a, &t, 1),
	    "a case that is decided is not run again");
	done[(1 * 2 + 1) * 3 + 1] = true; /* y on b, the second run */
	tap_ok(!schedule_is_wanted(&a, &t, 1) &&
		schedule_is_wanted(&a, &t, 0) &&
		schedule_count_wanted(&a, &t) == 1,
	    "a run that is finished is not made again");
	t.index = 3;
	tap_ok(schedule_is_wanted(&a, &t, 1), "the next run is made");
	t.index = 4;
	tap_ok(schedule_count_wanted(&a, &t) == 2,
	    "runs after all finished ones are made");
	t = (struct turn){.build = 0, .index = 2};
	tap_ok(schedule_is_wanted(&a, &t, 1), "a run on another build is made");
	dropped[1] = true; /* x on b */
	t.build = 1;
	tap_ok(!schedule_is_wanted(&a, &t, 0) &&
		schedule_count_wanted(&a, &t) == 0,
	    "a build that a case leaves out has no runs of the case");
	schedule_make_turns(&a, 3, 4);
	tap_ok(a.nturns == 4 && a.turns[0].index == 3 &&
		a.turns[3].index == 4 && a.turns[3].scene == 0,
	    "later turns are those of cases that are not decided");
	t.index = 3;
	is_text(schedule_format_run(&a, &t, 0), "x b run 3");
	t.build = SIZE_MAX;
	is_text(schedule_format_run(&a, &t, 0), "x in slices run 3");
	t.build = 2;
	is_text(schedule_format_run(&a, &t, 0), "x reference run 3");
	a.has_budget = false;
	b.n = 1;
	t.build = 0;
	is_text(schedule_format_run(&a, &t, 0), "x run 3/2");
	free(a.turns);
	json_free(one);
	json_free(two);
}

int
main(void)
{
	static const enum order_how hows[] = {
	    ORDER_INTERLEAVED, ORDER_SLICES, ORDER_RANDOM, ORDER_SEQUENTIAL};
	struct turn *a, *b, *c;
	int first[BUILDS] = {0};

	for (size_t i = 0; i < 4; i++) {
		a = make(hows[i], CASES, BUILDS, RUNS, 1);
		b = make(hows[i], CASES, BUILDS, RUNS, 1);
		c = make(hows[i], CASES, BUILDS, RUNS, 2);
		tap_ok(each_once(a), "order %zu: each run once", i);
		tap_ok(same(a, b), "order %zu: a seed repeats it", i);
		tap_ok(same(a, c) == (hows[i] == ORDER_SEQUENTIAL),
		    "order %zu: another seed changes it, unless it is "
		    "sequential",
		    i);
		tap_ok(blocks(a) == (i < 2),
		    "order %zu: only rounds have blocks", i);
		free(a);
		free(b);
		free(c);
		later(hows[i]);
	}
	a = make(ORDER_INTERLEAVED, 2, 1, 3, 1);
	tap_ok(a[0].block == 1 && a[0].scene == 0 && a[1].block == 1 &&
		a[1].scene == 1 && a[2].index == 2 && a[2].block == 2,
	    "with one build rounds are blocks, too");
	free(a);
	for (size_t i = 0; i < 400; i++) {
		a = make(ORDER_INTERLEAVED, 1, BUILDS, 1, i);
		first[a[0].build]++;
		free(a);
	}
	for (size_t i = 0; i < BUILDS; i++)
		tap_ok(first[i] > 60 && first[i] < 140,
		    "build %zu begins as many blocks as the others: %d of 400",
		    i, first[i]);
	in_turn();
	in_rounds();
	balanced();
	at_random();
	goes_on();
	names();
	plans();
	return tap_done();
}
