/* The texts of vkb-detect about what it found. */
#include "tap.h"

#include "casename.h"
#include "json.h"
#include "str.h"
#include "ancestry.h"
#include "vkb-detect/phrase.h"
#include "reading.h"

#include <stdlib.h>

static void
check(struct str *s, const char *want, const char *what)
{
	tap_str(s->s ? s->s : "", want, what);
	str_clear(s);
}

static void
collect(void *arg, const char *text)
{
	struct str *s = arg;

	str_printf(s, "%s%s", s->len ? "|" : "", text);
}

static void
headlines(void)
{
	struct finding_group groups[] = {
	    {.kind = FINDING_REGRESSION, .counts = true},
	    {.kind = FINDING_SPIKE}, {.kind = FINDING_IMPROVEMENT},
	    {.kind = FINDING_REGRESSION, .counts = true},
	    {.kind = FINDING_SPIKE}};
	struct findings all = {
	    .groups = groups, .ngroups = 1, .series = 1, .cases = 1};
	struct finding_rules rules = {0};
	struct str s = {0};

	phrase_headline(&s, &all, &rules);
	check(&s,
	    "1 regression that counts; 1 change and 0 spikes in all (1 series "
	    "of 1 case)",
	    "the headline of one regression");
	all.ngroups = 5;
	all.series = 7;
	all.cases = 3;
	phrase_headline(&s, &all, &rules);
	check(&s,
	    "2 regressions that count; 3 changes and 2 spikes in all (7 series "
	    "of 3 cases)",
	    "the headline counts changes without spikes");
	rules.latest = 1;
	phrase_headline(&s, &all, &rules);
	check(&s,
	    "nothing was judged; the newest commit is compared with the one "
	    "before it (7 series of 3 cases)",
	    "nothing of the newest commit was judged");
	rules.latest = 2;
	all.verdicts[VERDICT_REGRESSION] = 2;
	all.verdicts[VERDICT_INSUFFICIENT] = 1;
	phrase_headline(&s, &all, &rules);
	check(&s,
	    "2 regressions, 1 insufficient; the newest commit is compared with "
	    "up to 2 before it (7 series of 3 cases)",
	    "the headline of the newest commit has its verdicts");
	all.verdicts[VERDICT_REGRESSION] = 0;
	all.verdicts[VERDICT_LIKELY_REGRESSION] = 3;
	all.verdicts[VERDICT_LIKELY_DIFFERENT] = 2;
	phrase_headline(&s, &all, &rules);
	check(&s,
	    "3 likely regressions, 2 likely different, 1 insufficient; the "
	    "newest commit is compared with up to 2 before it (7 series "
	    "of 3 cases)",
	    "likely regressions have a plural, too");
	str_free(&s);
}

static void
orderings(void)
{
	struct branch_point points[] = {{.name = (char *)"a"},
	    {.name = (char *)"b"}, {.name = (char *)"c"}};
	struct branch b = {.points = points, .npoints = 1};
	struct str s = {0};

	phrase_ordering(&s, &b);
	check(&s, "1 commit in the order of the input",
	    "the order of one commit");
	b.npoints = 2;
	phrase_ordering(&s, &b);
	check(&s, "2 commits in the order of the input, a to b",
	    "the first and the last commit are named");
	b.timed = true;
	phrase_ordering(&s, &b);
	check(&s, "2 commits in the order of their time, a to b",
	    "commits are in the order of their time");
	b.length = 2;
	b.by_time = 1;
	phrase_ordering(&s, &b);
	check(&s,
	    "2 commits in the order of their ancestry, a to b; 1 placed by "
	    "time",
	    "all commits of the order were measured");
	b.npoints = 3;
	b.length = 8;
	b.by_time = 0;
	phrase_ordering(&s, &b);
	check(&s,
	    "3 commits in the order of their ancestry, a to c; 5 between them "
	    "not measured",
	    "commits that were not measured are counted");
	str_free(&s);
}

static void
places(void)
{
	struct branch_point points[] = {{.name = (char *)"a"},
	    {.name = (char *)"b", .time = (char *)"2026-11-21T08:00:00Z"},
	    {.name = (char *)"c"}, {.name = (char *)"d"}};
	struct reading reading = {.ancestry = ancestry_new()};
	struct branch b = {.points = points, .npoints = 4, .reading = &reading};
	struct finding_group g = {
	    .kind = FINDING_REGRESSION, .at = 1, .lo = 1, .hi = 1};
	struct str s = {0};

	phrase_place(&s, &b, &g);
	check(&s, "regression at b (2026-11-21), 2 of 4",
	    "a change at one point has its day and its place");
	g.kind = FINDING_IMPROVEMENT;
	g.at = g.hi = 2;
	phrase_place(&s, &b, &g);
	check(&s, "improvement at c, 3 of 4; at any of 2, b to c",
	    "a change at one of two points");
	points[1].commit = (char *)"0123456789abcdef0123456789abcdef01234567";
	g.hi = 3;
	phrase_place(&s, &b, &g);
	check(&s,
	    "improvement at c, 3 of 4; at any of 3 commits, 01234567 to d",
	    "a commit id is abbreviated");
	g = (struct finding_group){.kind = FINDING_TREND,
	    .way = FINDING_DIFFERENT,
	    .at = 1,
	    .lo = 1,
	    .hi = 3};
	phrase_place(&s, &b, &g);
	check(&s, "slow change from b (2026-11-21), 2 of 4 to d, 4 of 4",
	    "a trend has its first and last point");
	g.way = FINDING_REGRESSION;
	phrase_place(&s, &b, &g);
	check(&s, "slow regression from b (2026-11-21), 2 of 4 to d, 4 of 4",
	    "a trend for the worse");
	ancestry_free(reading.ancestry);
	str_free(&s);
}

static void
findings(void)
{
	struct branch_point points[10] = {[7] = {.name = (char *)"beef"}};
	struct branch b = {.points = points, .npoints = 10};
	struct finding f = {.kind = FINDING_REGRESSION,
	    .gate = true,
	    .stands = true,
	    .fresh = true,
	    .at = 4,
	    .n = {4, 6},
	    .metric = metric_guess("rps"),
	    .facts = {.median = {100000, 93000},
		.ratio = .93,
		.lo95 = .92,
		.hi95 = .945}};
	struct str s = {0};

	phrase_change(&s, &f);
	check(
	    &s, "-7.0% [-8.0, -5.5]", "the lower end of the interval is first");
	phrase_numbers(&s, &f, " -> ");
	check(&s, "100K -> 93.0K req/s", "the old level is first");
	phrase_standing(&s, &b, &f);
	check(&s, "NEW", "a regression of new commits");
	f.kind = FINDING_TREND;
	f.pace = -.0012;
	phrase_change(&s, &f);
	check(&s, "-7.0% [-8.0, -5.5], -1.2% per 10 commits",
	    "a trend has its change per 10 commits");
	phrase_standing(&s, &b, &f);
	check(&s, "NEW", "a trend for the worse is new");
	f.way = FINDING_IMPROVEMENT;
	phrase_standing(&s, &b, &f);
	check(&s, "", "a trend for the better has no note");
	f.kind = FINDING_REGRESSION;
	f.gate = false;
	phrase_standing(&s, &b, &f);
	check(&s, "NEW, info", "a metric that is not judged");
	f.gate = true;
	f.fresh = false;
	phrase_standing(&s, &b, &f);
	check(
	    &s, "known before", "a change of an older commit was known before");
	f.stands = false;
	f.reverted = 7;
	f.waiver.expired = true;
	f.waiver.expires = "2026-11-01";
	phrase_standing(&s, &b, &f);
	check(&s, "reverted by beef, waiver expired 2026-11-01",
	    "a change that was reverted names the commit that did it");
	f.stands = true;
	f.waived = true;
	f.waiver.expired = false;
	f.waiver.reason = "known";
	phrase_standing(&s, &b, &f);
	check(&s, "waived until 2026-11-01: known",
	    "a waived change has the day and the reason");
	f.kind = FINDING_IMPROVEMENT;
	f.waiver.expired = true;
	phrase_standing(&s, &b, &f);
	check(&s, "", "an improvement has no note");
	f.gate = false;
	phrase_standing(&s, &b, &f);
	check(&s, "info", "a change of a metric that is not judged is info");
	f.gate = true;
	f.kind = FINDING_SPIKE;
	phrase_standing(&s, &b, &f);
	check(&s, "at the end: a spike or a new level",
	    "a spike at the last point");
	f.n[1] = 5;
	phrase_standing(&s, &b, &f);
	check(&s, "went away", "a spike before the last point");
	phrase_change(&s, &f);
	check(&s, "-7.0%", "a spike has no interval");
	f.kind = FINDING_REGRESSION;
	f.facts.lo95 = NAN;
	f.facts.ratio = 1.125;
	phrase_change(&s, &f);
	check(&s, "+12.5%", "a change measured once has no interval");
	f.facts.ratio = NAN;
	phrase_change(&s, &f);
	check(&s, "no ratio", "a change from zero has no ratio");
	f.metric = metric_guess("max_backlog");
	phrase_numbers(&s, &f, " -> ");
	check(&s, "100K -> 93.0K", "a count has no unit");
	str_free(&s);
}

static void
warnings(void)
{
	enum { LOST = 11, LOSSES = 12 };
	static const char set[] = "{\"command\":\"SET\"}";
	struct json *config = json_parse(set, strlen(set), NULL, NULL);
	struct branch_point points[LOST + 1];
	struct branch_loss losses[LOSSES];
	struct branch_series shortest = {.config = config, .metric = "rps"};
	struct branch b = {.points = points,
	    .npoints = 1,
	    .nlost = 1,
	    .losses = losses,
	    .nlosses = 2,
	    .names = casename_new((const struct json *const *)&config, 1)};
	struct findings all = {.series = 5};
	struct finding_rules rules = {0};
	struct str s = {0};
	static char names[LOST + 1][2];
	int lines = 0;

	for (int i = 0; i <= LOST; i++) {
		names[i][0] = (char)('a' + i);
		points[i] = (struct branch_point){.name = names[i]};
	}
	for (size_t i = 0; i < LOSSES; i++)
		losses[i] = (struct branch_loss){.config = config,
		    .failed = i ? 1 : 3,
		    .commits = i ? 1 : 2,
		    .error = i ? NULL : "it fell"};
	phrase_warnings(&b, &all, &rules, collect, &s);
	check(&s,
	    "1 commit left out, not on this line of commits: b|SET: 3 failed "
	    "runs at 2 commits: it fell|SET: 1 failed run",
	    "failed runs are listed by case");
	b.nlost = LOST;
	b.nlosses = 0;
	all.tooshort = 2;
	all.shortest = &shortest;
	all.shortest_points = 3;
	all.absent = 4;
	phrase_warnings(&b, &all, &rules, collect, &s);
	check(&s,
	    "11 commits left out, not on this line of commits: b, c, d, e, f, "
	    "g, h, i, j, k, ...|2 of 5 series are too short to be "
	    "examined: at least 10 commits are needed (SET rps has 3)|4 series "
	    "not measured at the "
	    "newest commit",
	    "ten commits are listed");
	b.nlost = 10;
	rules.latest = 1;
	all.absent = 0;
	phrase_warnings(&b, &all, &rules, collect, &s);
	check(&s,
	    "10 commits left out, not on this line of commits: b, c, d, e, f, "
	    "g, h, i, j, k",
	    "the comparison of the newest commit needs no long series");
	b.nlost = 0;
	b.nlosses = LOSSES;
	phrase_warnings(&b, &all, &rules, collect, &s);
	tap_ok(s.s &&
		strstr(s.s,
		    "SET: 1 failed run|2 more cases with failed runs") != NULL,
	    "ten of twelve cases are listed, the others are counted");
	for (const char *c = s.s; c && (c = strchr(c, '|')); c++)
		lines++;
	tap_ok(lines == 10, "ten cases and the count are %d more lines", lines);
	b.nlosses = LOSSES - 2;
	str_clear(&s);
	phrase_warnings(&b, &all, &rules, collect, &s);
	tap_ok(s.s && !strstr(s.s, "more"), "ten of ten cases are listed");
	casename_free(b.names);
	json_free(config);
	str_free(&s);
}

int
main(void)
{
	headlines();
	orderings();
	places();
	findings();
	warnings();
	return tap_done();
}
