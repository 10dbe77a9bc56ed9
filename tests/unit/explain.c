/* The way from the runs to a verdict, in words: the whole texts of rows. */
#include "rows.h"

#include "err.h"

enum { MANY = 14 };

/* Lines that several rows have. */
#define CHANGE                                                             \
	"  change     -5.00%, 95% interval -6.00 to -3.90%, 90% -5.75 to " \
	"-4.25%"
#define ERROR "; standard error 1.235%, 14.3 degrees of freedom\n"
#define APART                                            \
	"  pairs      none: the sides are two samples\n" \
	"  noise      2.00% and 3.00%\n"
#define UNCLEAR                                                          \
	"  margin     2% (table)\n"                                      \
	"  reason     p is not below 0.05, and the 90% interval is not " \
	"within the margin\n"                                            \
	"  verdict    inconclusive\n"
#define PRIMARY                                                            \
	"  p          0.0123 by moderated-t; 0.21 after correction for 3 " \
	"tests of primary results (Benjamini-Hochberg) and scaling from "  \
	"their level 0.03 to 0.05\n" UNCLEAR

/* A row of a case, with the values of both sides. */
static struct row
explained(struct pairing *p, double *x, size_t m, double *y, size_t n)
{
	struct row r = row("rps", .95);

	r.pair = p;
	r.used[0] = (struct sample){.v = x, .n = m};
	r.used[1] = (struct sample){.v = y, .n = n};
	r.primary = true;
	r.margin_from = "table";
	r.p = .21;
	r.facts.method = "moderated-t";
	r.facts.median[0] = 1000;
	r.facts.median[1] = 950;
	r.facts.lo95 = .94;
	r.facts.hi95 = .961;
	r.facts.lo90 = .9425;
	r.facts.hi90 = .9575;
	r.facts.p = .0123;
	r.facts.noise[0] = (struct moderate){.0004, 7};
	r.facts.noise[1] = (struct moderate){.0009, 8};
	r.facts.se = .0123456;
	r.facts.df = 14.321;
	return r;
}

static void
explain(
    struct comparison *c, const char *name, const char *want, const char *what)
{
	static const struct rules rules;
	const struct report report = {
	    .c = c, .n = 1, .explain = name, .rules = &rules};
	struct str s = {0};

	explain_case(&s, &report, 0);
	check(&s, want, what);
	str_free(&s);
}

static void
rows_in_words(void)
{
	double v[MANY] = {1001, 2002, 3003, 4004, 5005, 6006, 7007, 8008, 9009,
	    10010, 11011, 12012, 13013, 14014};
	struct pairing set = {
	    .name = {(char *)(size_t) "SET", (char *)(size_t) "SET"}};
	struct pairing get = {
	    .name = {(char *)(size_t) "GET", (char *)(size_t) "GET"}};
	struct row rows[] = {explained(&set, v, 12, v, MANY - 1),
	    explained(&set, v, 1, v, 2), explained(&get, v, 2, v, 2)};
	struct comparison c = {.rows = rows,
	    .nrows = 3,
	    .tests = {3, 7, 1, 9},
	    .alpha = {.03, .02, .02, .05}};

	rows[1].name = (char *)(size_t) "requests";
	rows[1].gate = false;
	explain(&c, "SET",
	    "SET rps\n"
	    "  baseline   12 runs: 1001 2002 3003 4004 5005 6006 7007 "
	    "8008 9009 10010 11011 12012; median 1000\n"
	    "  contender  13 runs: 1001 2002 3003 4004 5005 6006 7007 "
	    "8008 9009 10010 11011 12012 ...; median 950\n" APART CHANGE ERROR
		PRIMARY,
	    "the judged row of the case; a row that is only shown is left out");
	rows[0].primary = false;
	rows[0].facts.prior = (struct moderate){.0001, 4.25};
	rows[0].facts.serial = .125;
	rows[0].sessions[0] = 2;
	rows[0].sessions[1] = 3;
	rows[0].facts.method = "t-sessions";
	rows[0].facts.assumed_se = true;
	rows[0].session.var = .03 * .03;
	rows[0].session_from = "default";
	rows[0].has_rest = true;
	rows[0].rest = rows[0].facts;
	rows[0].rest.ratio = 1.02;
	rows[0].rest.lo95 = NAN;
	rows[0].used[0].n = 1;
	rows[0].used[1].n = 0;
	rows[0].margin = .0312;
	rows[0].margin_from = "history";
	explain(&c, "S?T",
	    "SET rps\n"
	    "  baseline   1 run: 1001; median 1000\n"
	    "  contender  0 runs:; median 950\n"
	    "  pairs      none: the sides are two samples\n"
	    "  noise      2.00% and 3.00%, shrunk to the 1.00% of all rows of "
	    "this metric, which count as 4.25 more degrees of freedom; "
	    "autocorrelated runs "
	    "(lag-1 0.12)\n"
	    "  sessions   2 and 3, none shared, allowing 3% between sessions ("
	    "virtual machine): 2.74% of the error\n" CHANGE ERROR
	    "  rest       the change relative to all cases: +2.00%" ERROR
	    "  p          0.0123 of the rest by t-sessions; 0.21 after "
	    "correction for 7 tests of other judged results "
	    "(Benjamini-Hochberg) and scaling from their level 0.02 to 0.05\n"
	    "  margin     3.12% (history)\n"
	    "  reason     p is not below 0.05, and the 90% interval is not "
	    "within the margin\n"
	    "  verdict    inconclusive\n",
	    "noise of all rows, autocorrelation, sessions and the rest");
	rows[0] = explained(&set, v, 2, v, 2);
	set.busy[0] = 1.99;
	set.busy[1] = 17.4;
	explain(&c, "SET",
	    "SET rps\n"
	    "  baseline   2 runs: 1001 2002; median 1000\n"
	    "  contender  2 runs: 1001 2002; median 950\n"
	    "  pairs      none: the sides are two samples\n"
	    "  noise      2.00% and 3.00%\n"
	    "  others     other processes used 2% of the CPU during the "
	    "baseline and 17% during the contender; part of the "
	    "error\n" CHANGE ERROR PRIMARY,
	    "other processes used the CPU on one side");
	set.busy[0] = NAN;
	rows[0].facts.paired = true;
	explain(&c, "SET",
	    "SET rps\n"
	    "  baseline   2 runs: 1001 2002; median 1000\n"
	    "  contender  2 runs: 1001 2002; median 950\n"
	    "  pairs      runs of one session and block are compared one by "
	    "one\n"
	    "  noise      of a ratio 2.00%\n"
	    "  others     other processes used an unknown share of the CPU "
	    "during the baseline and 17% during the contender\n" CHANGE ERROR
		PRIMARY,
	    "other processes used the CPU while both sides were interleaved");
	set.busy[1] = 1.9;
	rows[0].facts.paired = true;
	c.tests[1] = 1;
	rows[0].primary = false;
	explain(&c, "SET",
	    "SET rps\n"
	    "  baseline   2 runs: 1001 2002; median 1000\n"
	    "  contender  2 runs: 1001 2002; median 950\n"
	    "  pairs      runs of one session and block are compared one by "
	    "one\n"
	    "  noise      of a ratio 2.00%\n" CHANGE ERROR
	    "  p          0.0123 by moderated-t; 0.21 after correction for 1 "
	    "test of other judged results (Benjamini-Hochberg) and scaling "
	    "from their level 0.02 to 0.05\n" UNCLEAR,
	    "pairs; one test");
	rows[0].common = rows[0].primary = true;
	c.sessions[0] = 7;
	c.sessions[1] = 2;
	rows[0].facts.method = "t-sessions";
	c.tests[2] = 2;
	explain(&c, "SET",
	    "SET rps\n"
	    "  cases      9 have this change in common\n"
	    "  sessions   7 and 2, none shared, whose differences are "
	    "measured\n" CHANGE ERROR
	    "  p          0.0123 by t-sessions; 0.21 after correction for 2 "
	    "tests of common results (Benjamini-Hochberg) and scaling from "
	    "their level 0.02 to 0.05\n" UNCLEAR,
	    "the common change of all cases; differences of sessions that are "
	    "measured");
	rows[0].sessions[0] = 7; /* a method that does not use the sessions */
	rows[0].facts.method = "moderated-t";
	rows[0].gate = false;
	rows[0].common = rows[0].primary = false;
	rows[0].facts.paired = false;
	explain(&c, "SET",
	    "SET rps (shown, not judged)\n"
	    "  baseline   2 runs: 1001 2002; median 1000\n"
	    "  contender  2 runs: 1001 2002; median 950\n" APART CHANGE ERROR
	    "  p          0.0123 by moderated-t; 0.21 after correction for 9 "
	    "tests of shown results (Benjamini-Hochberg)\n" UNCLEAR,
	    "of a case without judged rows the first row");
	rows[0] = rows[1];
	rows[0].gate = true;
	rows[0].facts.p = NAN;
	rows[0].facts.se = 0;
	rows[0].verdict = VERDICT_EQUIVALENT;
	explain(&c, "*",
	    "SET requests\n"
	    "  baseline   1 run: 1001; median 1000\n"
	    "  contender  2 runs: 1001 2002; median 950\n"
	    "  pairs      none: the sides are two samples\n" CHANGE "\n"
	    "  p          none: there is no noise to test against\n"
	    "  margin     2% (table)\n"
	    "  reason     the change is within the margin\n"
	    "  verdict    equivalent\n"
	    "\n"
	    "GET rps\n"
	    "  baseline   2 runs: 1001 2002; median 1000\n"
	    "  contender  2 runs: 1001 2002; median 950\n" APART CHANGE ERROR
		PRIMARY,
	    "all judged rows of all cases; one row has no test");
}

/* The part of the rule that decided, of a row with a verdict. */
static void
reason(struct row r, enum verdict v, const char *want)
{
	static const struct rules rules;
	struct comparison c = {.rows = &r,
	    .nrows = 1,
	    .tests = {3, 7, 1, 9},
	    .alpha = {.03, .02, .02, .05}};
	const struct report report = {
	    .c = &c, .n = 1, .explain = "*", .rules = &rules};
	struct str s = {0};
	char *at, *end;

	r.verdict = v;
	explain_case(&s, &report, 0);
	at = strstr(s.s, "  reason     ") + 13;
	end = strchr(at, '\n');
	*end = '\0';
	tap_str(at, want, verdict_name(v));
	str_free(&s);
}

static void
reasons(void)
{
	double v[] = {1, 2};
	struct pairing set = {
	    .name = {(char *)(size_t) "SET", (char *)(size_t) "SET"}};
	struct row r = explained(&set, v, 2, v, 2);

	reason(r, VERDICT_LIKELY_REGRESSION,
	    "the 95% interval has one sign and the change is beyond the "
	    "margin, but p is not below 0.05");
	r.p = .03;
	reason(r, VERDICT_REGRESSION,
	    "p is below 0.05, and the change is beyond the margin");
	r.certain = true;
	reason(r, VERDICT_REGRESSION,
	    "p is below 0.05, and the change is beyond the margin, as the "
	    "whole 90% interval is");
	r.certain = false;
	reason(r, VERDICT_EQUIVALENT,
	    "the whole 90% interval is within the margin");
	reason(r, VERDICT_INCONCLUSIVE,
	    "p is below 0.05, and the 90% interval is not within the margin; "
	    "but the change is within it");
	r.has_rest = true;
	r.rest = r.facts;
	reason(r, VERDICT_IMPROVEMENT,
	    "p is below 0.05, and the change relative to all cases is beyond "
	    "the "
	    "margin");
	reason(r, VERDICT_INCONCLUSIVE,
	    "p is below 0.05, and the 90% interval is not within the margin; "
	    "but others changed, not this case");
	r.rest.lo95 = .9;
	r.rest.hi95 = 1.1;
	r.p = .5;
	reason(r, VERDICT_LIKELY_REGRESSION,
	    "the whole 95% interval is beyond the margin, but relative to all "
	    "cases "
	    "nothing is shown");
	r.has_rest = false;
	r.facts.p = NAN;
	reason(r, VERDICT_REGRESSION, "the change is beyond the margin");
	reason(r, VERDICT_EQUIVALENT, "the change is within the margin");
	r.facts.m = 3;
	reason(r, VERDICT_INSUFFICIENT, "a side has fewer than 4 runs");
}

static void
checked_names(void)
{
	struct kase k = {0};
	struct pairing pairs[] = {
	    {.side = {&k, &k},
		.name = {(char *)(size_t) "SET", (char *)(size_t) "SET x=1"}},
	    {.side = {NULL, &k}, .name = {NULL, (char *)(size_t) "GET"}}};
	struct row r = row("rps", 1);
	struct comparison c[2] = {
	    {.pairs = pairs, .npairs = 2}, {.rows = &r, .nrows = 1}};

	r.pair = &pairs[0];
	tap_ok(explain_check(c, 2, NULL) == 0,
	    "without rows there is nothing to explain");
	tap_ok(explain_check(c, 2, "SET") == 0, "a case of the second");
	tap_ok(explain_check(c, 2, "S*") == 0, "a pattern");
	tap_ok(
	    explain_check(c, 2, "GET") == -1, "a case that was not compared");
	tap_str(err_last(),
	    "option '--explain': no compared case matches 'GET'; the cases "
	    "are: 'SET', 'GET'",
	    "the cases are listed");
	tap_ok(explain_check(&c[1], 1, "GET") == -1, "a case without pairs");
	tap_str(err_last(),
	    "option '--explain': no compared case matches 'GET'; the cases "
	    "are: none",
	    "none are listed");
}

int
main(void)
{
	rows_in_words();
	reasons();
	checked_names();
	return tap_done();
}
