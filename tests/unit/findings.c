/* vkb-detect: what is read of records, its order, and what is found in it, with
 * numbers that are made by hand. */
#include "readbranch.h"
#include "tap.h"

#include "json.h"
#include "policy.h"
#include "vkb-detect/finding.h"

#include <stdlib.h>
#include <unistd.h>

#define SET "{\"command\":\"SET\"}"
#define GET "{\"command\":\"GET\"}"

/* A run of a session, each another one; metrics as "\"rps\":1". */
static void
add_run(
    struct str *s, const char *subject, const char *config, const char *metrics)
{
	static int index;

	str_printf(s,
	    "{\"type\":\"run\",\"v\":1,\"subject\":{%s},\"config\":%s,\"run\":"
	    "{\"session\":\"s\",\"index\":%d},\"metrics\":{%s},\"status\":"
	    "\"ok\"}\n",
	    subject, config, ++index, metrics);
}

/* Appends a failed run without a session. */
static void
add_failure(
    struct str *s, const char *subject, const char *config, const char *error)
{
	str_printf(s,
	    "{\"type\":\"run\",\"v\":1,\"subject\":{%s},\"config\":%s,\"run\":"
	    "{},\"status\":\"failed\",\"error\":\"%s\"}\n",
	    subject, config, error);
}

static void
add_commit(struct str *s, const char *id, const char *parent, const char *time)
{
	str_printf(s,
	    "{\"type\":\"commit\",\"v\":1,\"commit\":\"%s\",\"parents\":[%s%s%"
	    "s]"
	    ",\"time\":\"%s\"}\n",
	    id, *parent ? "\"" : "", parent, *parent ? "\"" : "", time);
}

static void
check_names(const struct branch *b, const char *want, const char *what)
{
	struct str s = {0};

	str_add(&s, "");
	for (size_t i = 0; i < b->npoints + b->nlost; i++)
		str_printf(&s, "%s%s", i ? " " : "", b->points[i].name);
	tap_str(s.s, want, what);
	str_free(&s);
}

/* The values of a metric of the case at a point, as "1 2 3". */
static void
check_values(const struct branch *b, const char *command, const char *metric,
    size_t point, const char *want, const char *what)
{
	struct branch_values v;
	struct str s = {0};

	str_add(&s, "");
	for (size_t i = 0; i < b->nseries; i++) {
		const struct branch_series *one = &b->series[i];

		if (strcmp(one->metric, metric) != 0 ||
		    strcmp(json_get_str(one->config, "command"), command) != 0)
			continue;
		branch_read_values(b, one, &v);
		for (size_t k = v.first[point]; k < v.first[point + 1]; k++)
			str_printf(&s, "%s%g", s.len ? " " : "", v.all[k]);
		branch_free_values(&v);
	}
	tap_str(s.s, want, what);
	str_free(&s);
}

/* ---- the order of the points */

#define C(d) #d "000000000000000000000000000000000000000"
#define COMMIT(d) "\"commit\":\"" C(d) "\""

/*
 * Commits 0 to 5 are a line, a day each. 1 and 4 were measured, and a work tree
 * of 1, a commit that leaves the line at 1, and two that are known by their
 * time alone, between 2 and 3.
 */
static void
orders(void)
{
	static const char *const ids[] = {C(0), C(1), C(2), C(3), C(4), C(5)};
	struct branch b;
	struct str s = {0};
	char time[40];

	add_run(
	    &s, COMMIT(4) ",\"label\":\"rc\",\"ref\":\"br\"", SET, "\"rps\":4");
	add_run(&s, COMMIT(a), SET, "\"rps\":1");
	add_run(&s, COMMIT(8) ",\"time\":\"2026-01-03T20:00:00Z\"", SET,
	    "\"rps\":3");
	add_run(&s, COMMIT(1) ",\"dirty\":true", SET, "\"rps\":2");
	add_run(&s, COMMIT(7) ",\"time\":\"2026-01-03T10:00:00Z\"", SET,
	    "\"rps\":2.5");
	add_run(&s, COMMIT(1), SET, "\"rps\":1");
	for (int i = 0; i < 6; i++) {
		snprintf(time, sizeof time, "2026-01-%02dT08:00:00Z", i + 1);
		add_commit(&s, ids[i], i ? ids[i - 1] : "", time);
	}
	add_commit(&s, C(a), C(1), "2026-01-03T08:00:00Z");
	tap_ok(read_branch(&b, &s) == 0 && b.npoints == 5 && b.nlost == 1,
	    "a commit of another branch is left out");
	check_names(&b,
	    "10000000 10000000+dirty 70000000 80000000 40000000 a0000000",
	    "points are ordered by ancestry, then by time, then by changes of "
	    "the work tree");
	tap_ok(b.by_time == 2, "two points are placed by their time");
	tap_ok(
	    b.length == 4, "from commit 1 to commit 4 there are four commits");
	tap_ok(branch_count_suspects(&b, 4, 4) == 2 &&
		branch_count_suspects(&b, 2, 4) == 3 &&
		branch_count_suspects(&b, 0, 4) == 4,
	    "suspects include commits that were not measured");
	tap_ok(branch_count_suspects(&b, 1, 1) == 1 &&
		branch_count_suspects(&b, 1, 2) == 1 &&
		branch_count_suspects(&b, 2, 3) == 1,
	    "points placed by time have the suspects of the commits around "
	    "them");
	tap_str(branch_first_suspect(&b, 4), C(3),
	    "the first suspect is the child of the point before");
	tap_str(branch_first_suspect(&b, 2), C(2),
	    "for a work tree with changes it is the child, too");
	tap_str(branch_first_suspect(&b, 1), C(1) "+dirty",
	    "for a work tree with changes after its own commit it is the work "
	    "tree");
	tap_str(branch_first_suspect(&b, 0), C(1),
	    "for the first point it is the point itself");
	tap_ok(branch_find_since(&b, "2026-01-02") == 0 &&
		branch_find_since(&b, "2026-01-03") == 2 &&
		branch_find_since(&b, "2026-01-03T10:00:01Z") == 3 &&
		branch_find_since(&b, "2026-01-04") == 4 &&
		branch_find_since(&b, "2026-01-06") == 5,
	    "--since with a day: the first point on that day or later, or "
	    "none");
	tap_ok(branch_find_since(&b, C(3)) == 4 &&
		branch_find_since(&b, C(4)) == 4 &&
		branch_find_since(&b, C(5)) == 5 &&
		branch_find_since(&b, C(0)) == 0,
	    "--since with a commit that was not measured: the next measured "
	    "one");
	tap_ok(branch_find_since(&b, "rc") == 4 &&
		branch_find_since(&b, "br") == 4 &&
		branch_find_since(&b, "1000") == 0 &&
		branch_find_since(&b, "7000") == 2,
	    "--since with a label, a ref or four characters of a commit");
	tap_ok(branch_find_since(&b, "100") == -1 &&
		branch_find_since(&b, "r") == -1 &&
		branch_find_since(&b, "9000") == -1 &&
		branch_find_since(&b, "2026-01-0") == -1 &&
		branch_find_since(&b, "2026/01/03") == -1 &&
		branch_find_since(&b, "2026-01-03x") == -1,
	    "another value is an error");
	branch_free(&b);
	str_clear(&s);

	add_run(&s, COMMIT(1), SET, "\"rps\":1");
	add_run(&s, COMMIT(2), SET, "\"rps\":1");
	tap_ok(read_branch(&b, &s) == 0 && b.length == 0 &&
		branch_count_suspects(&b, 0, 1) == 2 &&
		branch_count_suspects(&b, 1, 1) == 1,
	    "in the order of the input only points are suspects");
	tap_str(branch_first_suspect(&b, 1), C(2),
	    "in that order the first suspect is a point");
	tap_ok(branch_find_since(&b, "2026-01-01") == -1,
	    "--since with a day is an error if no commit has a time");
	branch_free(&b);
	str_clear(&s);

	/* The commit record of the line has an id of seven characters. */
	add_run(&s, COMMIT(1), SET, "\"rps\":1");
	add_commit(&s, "1000000", "", "2026-01-01T08:00:00Z");
	tap_ok(read_branch(&b, &s) == 0 && b.length == 1 &&
		branch_find_since(&b, "2026-01-01") == 0 &&
		branch_find_since(&b, "2026-01-02") == 1,
	    "a commit record with a short id gives place and time");
	branch_free(&b);
	str_free(&s);
}

/* ---- what is read */

static void
subjects(void)
{
	struct branch b;
	struct str s = {0};

	add_run(&s, COMMIT(1) ",\"label\":\"b\",\"time\":\"2026-01-02\"", SET,
	    "\"rps\":1");
	add_run(&s, COMMIT(1) ",\"label\":\"a\",\"time\":\"2026-01-03\"", SET,
	    "\"rps\":2");
	add_run(&s, COMMIT(1) ",\"label\":\"c\",\"time\":\"2026-01-01\"", SET,
	    "\"rps\":3");
	add_run(
	    &s, COMMIT(1) ",\"dirty\":true,\"tree\":\"t1\"", SET, "\"rps\":4");
	add_run(
	    &s, COMMIT(1) ",\"dirty\":true,\"tree\":\"t2\"", SET, "\"rps\":5");
	add_run(&s, COMMIT(1) ",\"tree\":\"t3\"", SET, "\"rps\":6");
	add_run(&s,
	    COMMIT(1) ",\"module_commit\":\"" C(
		2) "\",\"time\":\"2026-01-01\","
		   "\"module_time\":\"2026-02-01\"",
	    SET, "\"rps\":7");
	add_run(&s,
	    COMMIT(1) ",\"module_commit\":\"" C(2) "\",\"module_dirty\":"
						   "true",
	    SET, "\"rps\":8");
	add_run(&s, "\"label\":\"x\"", SET, "\"rps\":9");
	add_run(&s, "\"label\":\"y\"", SET, "\"rps\":10");
	add_run(&s, "\"label\":\"x\"", SET, "\"rps\":11");
	add_run(&s,
	    COMMIT(3) ",\"module_commit\":\"" C(2) "\",\"module_fixed\":"
						   "true",
	    SET, "\"rps\":12");
	tap_ok(read_branch(&b, &s) == 0, "runs of one commit are read");
	check_names(&b,
	    "10000000 10000000+dirty 10000000+dirty 20000000 20000000+dirty x "
	    "y 30000000",
	    "each work tree with changes, module and label is a point");
	check_values(&b, "SET", "rps", 0, "1 2 3 6",
	    "runs with other labels, times and trees of one commit are one "
	    "point");
	check_values(
	    &b, "SET", "rps", 5, "9 11", "runs of one label are one point");
	tap_str(json_get_str(b.points[0].subject, "label"), "a",
	    "of several subjects the point has the first in the order of their "
	    "texts");
	tap_str(
	    b.points[0].time, "2026-01-01", "the point has the earliest time");
	tap_str(b.points[3].time, "2026-02-01",
	    "with a module the point has the time of the module");
	tap_str(b.points[3].commit, C(2),
	    "with a module the point has the commit of the module");
	branch_free(&b);
	str_free(&s);
}

static void
numbers(void)
{
	static const char head[] =
	    "{\"type\":\"run\",\"v\":1,\"subject\":{" COMMIT(
		1) "},\"config\":" SET ",\"run\":{";
	struct branch b;
	struct str s = {0};

	for (int i = 0; i < 2; i++)
		str_add(&s,
		    "{\"type\":\"summary\",\"v\":1,\"subject\":{" COMMIT(
			1) "},\"config\":" SET
			   ",\"n\":3,\"failed\":0,\"sessions\":[{"
			   "\"id\":\"s\"}],\"metrics\":{\"rps\":{\"n\":3,"
			   "\"median\":2,"
			   "\"values\":[3,1,2]},\"p50_latency_ms\":{\"n\":3,"
			   "\"median\":"
			   "7},\"p99_latency_ms\":{\"n\":1,\"median\":5,"
			   "\"values\":[5]}"
			   "}}\n");
	add_run(&s, COMMIT(2), SET, "\"rps\":9");
	tap_ok(read_branch(&b, &s) == 0 && b.npoints == 2, "a summary is read");
	check_values(&b, "SET", "rps", 0, "3 1 2",
	    "the point has the values of the summary once");
	check_values(&b, "SET", "p50_latency_ms", 0, "7",
	    "it has the median if the summary has no values");
	check_values(&b, "SET", "p99_latency_ms", 0, "5",
	    "it has the median if values are missing");
	check_values(&b, "SET", "rps", 1, "9", "a run is a point of its own");
	check_values(&b, "SET", "p50_latency_ms", 1, "",
	    "the run has only the metrics that it measured");
	branch_free(&b);
	str_clear(&s);

	for (const char *env = "aba-"; *env; env++) {
		str_printf(&s, "%s\"session\":\"t\",\"index\":1}", head);
		if (*env != '-')
			str_printf(&s, ",\"env\":{\"host\":\"%c\"}", *env);
		str_add(&s, ",\"metrics\":{\"rps\":1},\"status\":\"ok\"}\n");
	}
	str_printf(&s,
	    "%s\"session\":\"\\u0074\",\"index\":1},\"env\":{\"host\":\"b\"},"
	    "\"metrics\":{\"rps\":1},\"status\":\"ok\"}\n",
	    head);
	tap_ok(read_branch(&b, &s) == 0, "runs with and without env");
	check_values(&b, "SET", "rps", 0, "1 1 1",
	    "runs with different env are different runs, however it is "
	    "written");
	branch_free(&b);
	str_clear(&s);

	for (int i = 0; i < 2; i++)
		str_printf(&s,
		    "%s\"index\":1},\"metrics\":{\"rps\":4},\"status\":\"ok\"}"
		    "\n",
		    head);
	tap_ok(read_branch(&b, &s) == 0,
	    "two equal runs without a session are read");
	check_values(&b, "SET", "rps", 0, "4 4", "they are different runs");
	branch_free(&b);
	str_free(&s);
}

/* Failed runs of two cases: those of a case together, the most first. */
static void
losses(void)
{
	static const struct {
		const char *command, *error;
		size_t failed, commits;
	} want[] = {{"A9", "y", 6, 3}, {"A10", "z", 1, 1}, {"A11", "e", 4, 1}};
	struct branch b;
	struct str s = {0};

	add_failure(&s, COMMIT(1), "{\"command\":\"A10\"}", "z");
	for (int i = 0; i < 3; i++) {
		if (i < 2)
			add_failure(&s, COMMIT(1), "{\"command\":\"A9\"}", "x");
		add_failure(&s, COMMIT(2), "{\"command\":\"A9\"}", "y");
	}
	add_failure(&s, COMMIT(3), "{\"command\":\"A9\"}", "w");
	str_add(&s,
	    "{\"type\":\"summary\",\"v\":1,\"subject\":{" COMMIT(
		2) "},\"config\":{\"command\":\"A11\"},\"n\":0,\"failed\":4,"
		   "\"errors\":[\"e\",\"f\"],\"metrics\":{}}\n");
	tap_ok(read_branch(&b, &s) == 0 && b.nlosses == 3 && b.nseries == 0,
	    "failed runs are read, also from a summary without metrics");
	for (size_t i = 0; i < b.nlosses && i < 3; i++) {
		tap_ok(b.losses[i].failed == want[i].failed &&
			b.losses[i].commits == want[i].commits,
		    "%s: %zu at %zu commits", want[i].command, want[i].failed,
		    want[i].commits);
		tap_str(json_get_str(b.losses[i].config, "command"),
		    want[i].command,
		    "they are sorted by the number in the name of the case");
		tap_str(b.losses[i].error, want[i].error,
		    "they have the error of the commit with most of them");
	}
	branch_free(&b);
	str_free(&s);
}

/* ---- what is found */

static struct policy *
policy(const char *text)
{
	return policy_new(json_parse(text, strlen(text), NULL, NULL), "policy");
}

/* One run of SET at each commit that has a value, and one of GET at each. */
static void
history(struct branch *b, const double *v, int n)
{
	struct str s = {0};
	char commit[60], rps[40];

	for (int i = 0; i < n; i++) {
		snprintf(
		    commit, sizeof commit, "\"commit\":\"%08x%032x\"", i, 0);
		snprintf(rps, sizeof rps, "\"rps\":%g", v[i]);
		if (!isnan(v[i]))
			add_run(&s, commit, SET, rps);
		add_run(&s, commit, GET, "\"rps\":500");
	}
	read_branch(b, &s);
	str_free(&s);
}

/* Each: kind, at lo..hi, n, medians, and the sentence about it. */
static void
check_found(const struct findings *all, const char *want, const char *what)
{
	struct str s = {0};

	str_add(&s, "");
	for (size_t i = 0; i < all->n; i++) {
		const struct finding *f = &all->v[i];

		str_printf(&s, "%s%s %zu %zu-%zu %zu+%zu %g>%g%s%s%s%s",
		    i ? ", " : "", finding_name_kind(f->kind), f->at, f->lo,
		    f->hi, f->n[0], f->n[1], f->facts.median[0],
		    f->facts.median[1], f->fresh ? " fresh" : "",
		    f->stands ? " stands" : "", f->waived ? " waived" : "",
		    finding_is_counted(f) ? " counts" : "");
	}
	tap_str(s.s, want, what);
	str_free(&s);
}

/* Checks what is found in a history of six commits. */
static void
check_history(const double *v, const struct finding_rules *rules,
    const char *want, const char *what)
{
	struct findings all = {0};
	struct branch b;

	history(&b, v, 6);
	finding_find_all(&all, &b, rules);
	check_found(&all, want, what);
	finding_free(&all);
	branch_free(&b);
}

static void
exact(void)
{
	static const double jumps[] = {
	    100, 96, 96, 90, 90, NAN, 120, 120, 114, 114};
	static const double back[] = {100, 100, 80, 80, 97, 97};
	static const double edge[] = {100, 100, 80, 80, 95, 95};
	static const double partly[] = {100, 100, 80, 80, 94, 94};
	static const double beyond[] = {100, 100, 80, 80, 110, 110};
	static const char text[] =
	    "{\"rules\":[{\"metric\":\"rps\",\"assume\":\"exact\",\"margin\":"
	    "\"5%\"}]}";
	struct finding_rules rules = {.metrics = "rps",
	    .policy = policy(text),
	    .today = "2026-11-21",
	    .since = 3};
	struct findings all;
	struct branch b;

	history(&b, jumps, 10);
	finding_find_all(&all, &b, &rules);
	tap_ok(all.series == 2 && all.cases == 2 && all.tooshort == 0,
	    "two cases have enough points without noise");
	check_found(&all,
	    "regression 3 3-3 3+2 96>90 fresh, improvement 6 5-6 2+4 90>117 "
	    "fresh stands",
	    "steps of more than 5 % are found, and not those of 4 % or 5 %");
	tap_ok(all.n == 2 && isnan(all.v[0].probability) &&
		strcmp(all.v[0].method, "exact") == 0,
	    "without noise there is no test");
	tap_ok(all.ngroups == 2 && all.groups[0].at == 6 &&
		all.groups[1].at == 3 && all.groups[1].n == 1 &&
		!all.groups[1].counts,
	    "each change is a group, the newest first");
	finding_free(&all);
	rules.since = 4;
	finding_find_all(&all, &b, &rules);
	check_found(&all,
	    "regression 3 3-3 3+2 96>90, improvement 6 5-6 2+4 90>117 fresh "
	    "stands",
	    "a change before --since is not fresh");
	finding_free(&all);
	branch_free(&b);

	rules.since = 0;
	check_history(back, &rules,
	    "regression 2 2-2 2+2 100>80 fresh, improvement 4 4-4 2+2 80>97 "
	    "fresh stands",
	    "a change is gone if the level is back within the margin");
	check_history(edge, &rules,
	    "regression 2 2-2 2+2 100>80 fresh, improvement 4 4-4 2+2 80>95 "
	    "fresh stands",
	    "a level at the margin is within it");
	check_history(partly, &rules,
	    "regression 2 2-2 2+2 100>80 fresh stands counts, improvement 4 "
	    "4-4 2+2 80>94 fresh stands",
	    "a change stands if the level is back in part, but not within the "
	    "margin");
	check_history(beyond, &rules,
	    "regression 2 2-2 2+2 100>80 fresh, improvement 4 4-4 2+2 80>110 "
	    "fresh stands",
	    "a level beyond the margin on the other side resolves the change");
	policy_free(rules.policy);
}

/* Two cases become slower and two faster at one commit. */
static void
both_ways(void)
{
	static const char *const cases[] = {"A", "B", "C", "D"};
	struct finding_rules rules = {.metrics = "rps",
	    .policy = policy("{\"rules\":[{\"metric\":\"rps\",\"assume\":"
			     "\"exact\",\"margin\":\"5%\"}]}"),
	    .today = "2026-11-21"};
	struct findings all;
	struct branch b;
	struct str s = {0};
	char commit[60], config[60], rps[40];

	for (int i = 0; i < 6; i++) {
		snprintf(
		    commit, sizeof commit, "\"commit\":\"%08x%032x\"", i, 0);
		for (int k = 0; k < 4; k++) {
			snprintf(config, sizeof config, "{\"command\":\"%s\"}",
			    cases[k]);
			snprintf(rps, sizeof rps, "\"rps\":%d",
			    i < 3            ? 100
				: k % 2 == 0 ? 80
					     : 120);
			add_run(&s, commit, config, rps);
		}
	}
	read_branch(&b, &s);
	finding_find_all(&all, &b, &rules);
	tap_ok(all.n == 4 && all.ngroups == 2 && all.groups[0].n == 2 &&
		all.groups[1].n == 2 &&
		all.groups[0].kind != all.groups[1].kind,
	    "slower and faster cases are a group each, at one commit too");
	finding_free(&all);
	branch_free(&b);
	policy_free(rules.policy);
	str_free(&s);
}

/* Nine points are too few to look for a step; the shortest series is named. */
static void
too_short(void)
{
	double v[10] = {1, 1, 1, 1, NAN, 1, 1, 1, 1, NAN};
	struct finding_rules rules = {.metrics = "rps"};
	struct findings all;
	struct branch b;

	history(&b, v, 9);
	finding_find_all(&all, &b, &rules);
	tap_ok(all.tooshort == 2 && all.shortest_points == 8 && all.shortest &&
		strcmp(json_get_str(all.shortest->config, "command"), "SET") ==
		    0,
	    "series of nine and eight points are too short; the shortest has "
	    "eight");
	finding_free(&all);
	branch_free(&b);
	history(&b, v, 10);
	finding_find_all(&all, &b, &rules);
	tap_ok(all.tooshort == 1, "a series of ten points is long enough");
	finding_free(&all);
	branch_free(&b);
}

/* Appends n runs of the command at commit c, with values in steps. */
static void
add_runs(
    struct str *s, int c, const char *command, int n, double level, double step)
{
	char commit[60], config[60], rps[60];

	snprintf(commit, sizeof commit, "\"commit\":\"%08x%032x\"", c, 0);
	snprintf(config, sizeof config, "{\"command\":\"%s\"}", command);
	for (int i = 0; i < n; i++) {
		snprintf(
		    rps, sizeof rps, "\"rps\":%.3f", level + i * 3 % n * step);
		add_run(s, commit, config, rps);
	}
}

/*
 * The newest of four commits against the two before that have the series.
 * SLOW: ten runs and then five, all of them less.
 * SAME has no change, FEW has 3 runs and is not tested, GONE was not measured.
 */
static void
newest(void)
{
	struct finding_rules rules = {
	    .metrics = "rps", .today = "2026-11-21", .latest = 2};
	struct findings all;
	struct branch b;
	struct str s = {0};

	for (int c = 0; c < 4; c++) {
		if (c != 2)
			add_runs(
			    &s, c, "SLOW", 5, c == 3 ? 900 : 1000 + .5 * c, 1);
		add_runs(&s, c, "SAME", 5, c == 3 ? 1000.2 : 1000 + .1 * c, 1);
		add_runs(&s, c, "FEW", c == 3 ? 3 : 5, c == 3 ? 900 : 1000, 1);
		if (c < 3)
			add_runs(&s, c, "GONE", 5, 1000, 1);
	}
	read_branch(&b, &s);
	finding_find_all(&all, &b, &rules);
	tap_ok(
	    all.absent == 1, "one series is not measured at the newest commit");
	check_found(&all,
	    "regression 3 2-3 10+5 1002.25>902 fresh stands counts",
	    "the newest against the runs of the two commits before");
	tap_ok(all.verdicts[VERDICT_REGRESSION] == 1 &&
		all.verdicts[VERDICT_EQUIVALENT] == 1 &&
		all.verdicts[VERDICT_INSUFFICIENT] == 1 && all.series == 4 &&
		all.cases == 4,
	    "each series that was measured at it has a verdict");
	if (all.n == 1) {
		tap_ok(all.v[0].probability > .99, "it is probable");
		tap_str(all.v[0].method, "runs",
		    "it is judged by the runs of both sides");
		tap_ok(all.ngroups == 1 && all.groups[0].n == 1 &&
			all.groups[0].counts,
		    "a group counts if its change counts");
		tap_ok(
		    all.v[0].facts.lo95 < .8995 && all.v[0].facts.ratio > .8995,
		    "the interval contains the ratio");
	}
	finding_free(&all);
	rules.policy = policy(
	    "{\"rules\":[{\"metric\":\"rps\",\"waiver\":{\"reason\":\"known\","
	    "\"expires\":\"2026-12-31\",\"limit\":\"10.05%\"}}]}");
	finding_find_all(&all, &b, &rules);
	check_found(&all,
	    "regression 3 2-3 10+5 1002.25>902 fresh stands waived",
	    "a waiver up to the size of the change covers it");
	finding_free(&all);
	policy_free(rules.policy);
	rules.policy = policy("{\"rules\":[{\"metric\":\"rps\",\"better\":"
			      "\"neither\"}]}");
	finding_find_all(&all, &b, &rules);
	check_found(&all, "different 3 2-3 10+5 1002.25>902 fresh stands",
	    "a change of a metric without a direction is shown");
	finding_free(&all);
	policy_free(rules.policy);
	rules.policy = NULL;
	rules.latest = 1;
	finding_find_all(&all, &b, &rules);
	check_found(&all, "regression 3 2-3 5+5 1002.5>902 fresh stands counts",
	    "with one earlier commit the newest is compared with that");
	finding_free(&all);
	rules.policy = policy("{\"rules\":[{\"assume\":\"exact\"},{\"case\":"
			      "\"SLOW*\",\"class\":\"info\"}]}");
	rules.metrics = "all";
	finding_find_all(&all, &b, &rules);
	check_found(&all,
	    "regression 3 3-3 5+3 1002>900 fresh stands counts, regression 3 "
	    "2-3 5+5 1002.5>902 fresh stands",
	    "without noise three runs are enough; a metric that is not judged "
	    "does not count");
	tap_ok(all.verdicts[VERDICT_REGRESSION] == 1 &&
		all.verdicts[VERDICT_INSUFFICIENT] == 0,
	    "a series without enough runs has no verdict");
	finding_free(&all);
	policy_free(rules.policy);
	branch_free(&b);
	str_free(&s);
}

/* Three series become slower; the noise makes it look as if one of them did at
 * 21, and the others at 22. */
static void
common_place(void)
{
	struct finding_rules rules = {.metrics = "rps", .today = "2026-11-21"};
	struct findings all;
	struct branch b;
	struct str s = {0};

	for (int c = 0; c < 40; c++) {
		int sq = c * c;

		add_runs(&s, c, "A", 1,
		    100 - (c < 21 ? 0 : 15) + sq * 29 % 41 % 20, 0);
		add_runs(&s, c, "B", 1,
		    100 - (c < 20 ? 0 : 15) + sq * 25 % 41 % 20, 0);
		add_runs(&s, c, "C", 1,
		    100 - (c < 21 ? 0 : 15) + sq * 27 % 41 % 20, 0);
	}
	read_branch(&b, &s);
	finding_find_all(&all, &b, &rules);
	tap_ok(all.n == 3 && all.v[0].at == 22 && all.v[1].at == 22 &&
		all.v[2].at == 21,
	    "one of three changes is at another point");
	tap_ok(all.ngroups == 1 && all.groups[0].lo == 21 &&
		all.groups[0].hi == 22,
	    "changes whose ranges overlap are one group");
	tap_ok(all.ngroups == 1 && all.groups[0].at == 22,
	    "a group is at the point where most of its changes are");
	finding_free(&all);
	branch_free(&b);
	str_free(&s);
}

/* The key of a change depends on its kind, its number and a mark. */
static void
keys(void)
{
	static const double steps[] = {100, 80, 80, 60, 60};
	struct finding_rules rules = {.metrics = "rps",
	    .policy = policy("{\"rules\":[{\"metric\":\"rps\",\"assume\":"
			     "\"exact\",\"margin\":\"5%\"}]}"),
	    .today = "2026-11-21"};
	struct findings all;
	struct branch b;
	char key[17];

	history(&b, steps, 5);
	finding_find_all(&all, &b, &rules);
	snprintf(key, sizeof key, "%016llx",
	    str_hash(STR_HASH, "regression\n0\n0", 14));
	tap_str(all.ngroups == 2 ? all.groups[1].key : NULL, key,
	    "the key of a first change has the number 0");
	snprintf(key, sizeof key, "%016llx",
	    str_hash(STR_HASH, "regression\n1\n0", 14));
	tap_str(all.ngroups == 2 ? all.groups[0].key : NULL, key,
	    "the key of a second change has the number 1");
	finding_free(&all);
	policy_free(rules.policy);
	branch_free(&b);
}

/* A metric that is not a gate is not examined unless it is named.
 */
static void
not_gated(void)
{
	struct finding_rules rules = {.latest = 1};
	struct findings all;
	struct branch b;
	struct str s = {0};
	char commit[60], metrics[60];

	for (int i = 0; i < 10; i++) {
		snprintf(commit, sizeof commit, "\"commit\":\"%08x%032x\"",
		    i / 5, 0);
		snprintf(metrics, sizeof metrics, "\"rps\":%d,\"odd\":%d",
		    1000 + i % 5, (i < 5 ? 10 : 90) + i * 3 % 5);
		add_run(&s, commit, SET, metrics);
	}
	read_branch(&b, &s);
	finding_find_all(&all, &b, &rules);
	tap_ok(all.n == 0 && all.series == 1,
	    "a metric that is not a gate is not examined by default");
	finding_free(&all);
	rules.metrics = "all";
	finding_find_all(&all, &b, &rules);
	tap_ok(all.n == 1 && all.series == 2 && !finding_is_counted(&all.v[0]),
	    "with all metrics it is examined, and its changes do not count");
	finding_free(&all);
	branch_free(&b);
	str_free(&s);
}

/* Two cases change at the same commit, one for the better. */
static void
groups(void)
{
	struct finding_rules rules = {.metrics = "all",
	    .latest = 1,
	    .policy = policy("{\"rules\":[{\"class\":\"info\"}]}")};
	struct findings all;
	struct branch b;
	struct str s = {0};

	for (int c = 0; c < 2; c++) {
		add_runs(&s, c, "FAST", 5, c ? 1100 : 1000, 1);
		add_runs(&s, c, "SLOW", 5, c ? 900 : 1000, 1);
	}
	read_branch(&b, &s);
	finding_find_all(&all, &b, &rules);
	tap_ok(all.n == 2 && all.ngroups == 2, "two changes are two groups");
	tap_ok(all.groups[0].kind == FINDING_REGRESSION &&
		all.groups[1].kind == FINDING_IMPROVEMENT,
	    "of the same commit the regression comes first");
	for (size_t i = 0; i < all.n; i++)
		tap_ok(all.groups[all.v[i].group].kind == all.v[i].kind,
		    "a change is in a group of its kind");
	finding_free(&all);
	policy_free(rules.policy);
	branch_free(&b);
	str_free(&s);
}

int
main(void)
{
	groups();
	not_gated();
	orders();
	subjects();
	numbers();
	losses();
	exact();
	both_ways();
	common_place();
	keys();
	too_short();
	newest();
	return tap_done();
}
