#include "clock.h"
#include "json.h"
#include "metric.h"
#include "policy.h"
#include "tap.h"

#include <stdlib.h>

static const char rules[] =
    "{\"rules\":["
    "{\"margin\":\"3%\"},"
    "{\"metric\":\"p99*\",\"margin\":\"8%\",\"class\":\"info\"},"
    "{\"metric\":\"rps\",\"case\":\"SET*\",\"margin\":\"auto\","
    "\"waiver\":{\"reason\":\"one\",\"expires\":\"2026-11-21\"}},"
    "{\"metric\":\"rps\",\"case\":{\"command\":\"SET\",\"pipeline\":10},"
    "\"waiver\":{\"reason\":\"two\",\"expires\":\"2028-02-29\","
    "\"limit\":\"10%\"}},"
    "{\"metric\":\"time_s\",\"margin\":\"+25%\"},"
    "{\"metric\":\"size_bytes\",\"assume\":\"exact\",\"class\":\"gate\","
    "\"session\":{\"sd\":\"1.5%\",\"df\":4}},"
    "{\"metric\":\"nowhere\",\"better\":\"neither\"}]}";

static struct json *
parse(const char *s)
{
	return json_parse(s, strlen(s), NULL, NULL);
}

static void
answers(void)
{
	struct policy *p = policy_new(parse(rules), "f");
	struct json *c = parse("{\"command\":\"SET\",\"pipeline\":10}");
	struct json *d = parse("{\"command\":\"SET\",\"pipeline\":1}");
	const char *day = "2026-11-21";
	struct policy_answer a;

	tap_str(policy_unused_rule(p, 1), "f: rules[1]", "unused at first");
	policy_find_answer(p, c, "GET", "p50_latency_ms", day, &a);
	tap_near(a.margin, .03, 1e-12,
	    "a rule without patterns applies to all cases");
	tap_ok(a.better == -1 && a.gate == -1 && a.exact == -1 &&
		!a.waiver.reason && !a.margin_auto,
	    "it sets nothing else");
	policy_find_answer(p, c, "GET", "p99_latency_ms", day, &a);
	tap_near(a.margin, .08, 1e-12, "a later rule wins");
	tap_ok(a.gate == 0, "info");
	policy_find_answer(p, d, "SET pipeline=1", "rps", day, &a);
	tap_ok(a.margin_auto && isnan(a.margin), "auto");
	tap_str(a.waiver.reason, "one", "a waiver");
	tap_str(a.waiver.rule, "f: rules[2]", "of this rule");
	tap_ok(!a.waiver.expired && isinf(a.waiver.limit),
	    "it covers changes of any size, and its last day");
	policy_find_answer(p, d, "SET pipeline=1", "rps", "2026-11-22", &a);
	tap_ok(a.waiver.expired, "on the next day it has expired");
	policy_find_answer(p, c, "SET pipeline=10", "rps", "2026-11-22", &a);
	tap_str(a.waiver.reason, "two", "keys of the config");
	tap_ok(a.margin_auto, "other settings are those of earlier rules");
	tap_near(a.waiver.limit, .1, 1e-12, "its limit");
	policy_find_answer(p, c, "x", "time_s", day, &a);
	tap_near(a.margin, .2, 1e-12, "+25% is 1 - 1/1.25");
	tap_ok(a.better == METRIC_LOWER, "and more is worse");
	policy_find_answer(p, c, "x", "size_bytes", day, &a);
	tap_ok(a.exact == 1 && a.gate == 1 && !a.primary, "exact gates");
	tap_near(a.session_sd, .015, 1e-12, "sessions differ by 1.5 %");
	tap_near(a.session_df, 4, 0, "with four degrees of freedom");
	tap_str(
	    policy_unused_rule(p, 0), "f: rules[6]", "the one that is unused");
	tap_ok(!policy_unused_rule(p, 1), "no other rule is unused");
	policy_free(p);
	json_free(c);
	json_free(d);
}

/* "+10%" means that more is worse, until a later rule sets something else. */
static void
signs(void)
{
	static const struct {
		const char *later, sign;
		int better;
		const char *what;
	} of[] = {{"\"class\":\"gate\"", '+', METRIC_LOWER,
		      "a later rule on the class keeps the sign"},
	    {"\"better\":\"lower\"", '+', METRIC_LOWER,
		"a later 'better' that agrees keeps the sign"},
	    {"\"better\":\"higher\"", '\0', METRIC_HIGHER,
		"a later 'better' that differs drops the sign"},
	    {"\"margin\":\"3%\"", '\0', METRIC_LOWER,
		"a later margin replaces the sign"},
	    {"\"margin\":\"-3%\"", '-', METRIC_HIGHER,
		"a later sign replaces the sign"}};
	struct policy_answer a;

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		char text[256];
		struct policy *p;

		snprintf(text, sizeof text,
		    "{\"rules\":[{\"metric\":\"x\",\"margin\":\"+10%%\"},"
		    "{\"metric\":\"x\",%s}]}",
		    of[i].later);
		p = policy_new(parse(text), "f");
		policy_find_answer(p, NULL, "c", "x", "2026-01-01", &a);
		tap_ok(a.sign == of[i].sign && a.better == of[i].better, "%s",
		    of[i].what);
		policy_free(p);
	}
	policy_find_answer(NULL, NULL, "c", "x", "2026-01-01", &a);
	tap_ok(isnan(a.margin) && a.better < 0 && a.gate < 0 && a.exact < 0 &&
		!a.waiver.reason && !a.sign,
	    "without a policy nothing is set");
}

/* Returns whether a policy can be read whose only waiver ends on this day. */
static bool
day_is_taken(const char *day)
{
	char text[256];
	struct policy *p;
	bool taken;

	snprintf(text, sizeof text,
	    "{\"rules\":[{\"metric\":\"rps\",\"waiver\":{\"reason\":\"x\","
	    "\"expires\":\"%s\"}}]}",
	    day);
	p = policy_new(parse(text), "f");
	taken = p != NULL;
	policy_free(p);
	return taken;
}

static void
waivers(void)
{
	static const char *const last[] = {"2026-01-31", "2026-02-28",
	    "2026-03-31", "2026-04-30", "2026-05-31", "2026-06-30",
	    "2026-07-31", "2026-08-31", "2026-09-30", "2026-10-31",
	    "2026-11-30", "2026-12-31", "2024-02-29", "2000-02-29"};
	static const char *const wrong[] = {"2026-13-01", "2026-00-01",
	    "2026-01-00", "2023-02-29", "1900-02-29", "2024-02-30", "2026-1-01",
	    "2026-01-011", "2026/01-01", "2026-01/01", "x026-01-01",
	    "2026-0x-01", "2026-01-x1"};
	struct policy_waiver w = {.reason = "x", .limit = .1};
	char next[32];

	for (size_t i = 0; i < sizeof last / sizeof *last; i++) {
		tap_ok(day_is_taken(last[i]), "%s is a valid day", last[i]);
		snprintf(next, sizeof next, "%.8s%02d", last[i],
		    atoi(last[i] + 8) + 1);
		tap_ok(!day_is_taken(next), "%s is not a valid day", next);
	}
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		tap_ok(
		    !day_is_taken(wrong[i]), "%s is not a valid day", wrong[i]);
	tap_ok(policy_waives(&w, .9) && policy_waives(&w, 1.1),
	    "a change of 10%% in either direction is within a limit of 10%%");
	tap_ok(!policy_waives(&w, .899) && !policy_waives(&w, 1.101),
	    "a change of 10.1%% is beyond this limit");
	w.limit = INFINITY;
	tap_ok(policy_waives(&w, NAN) && policy_waives(&w, 100),
	    "without a limit a change of any size is covered");
	w.expired = true;
	tap_ok(!policy_waives(&w, 1), "a waiver that expired covers nothing");
	w.expired = false;
	w.reason = NULL;
	tap_ok(!policy_waives(&w, 1), "nor does none");
}

static void
margins(void)
{
	static const char *const bad[] = {"", "%", "5", "+", "-", "+%", "100%",
	    "-100%", "--5%", "+-5%", "5%%", " 5%", "5 %", "nan%", "inf%",
	    "+auto", "Auto", "0x5%", "1e300%"};
	struct policy_answer a = {.better = -1};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		tap_ok(policy_parse_margin(bad[i], &a) < 0,
		    "'%s' is not a valid margin", bad[i]);
	tap_ok(
	    policy_parse_margin("0%", &a) == 0 && a.margin == 0, "0%% is one");
	tap_ok(a.better == -1, "it has no direction");
	tap_ok(policy_parse_margin("-10%", &a) == 0 &&
		a.better == METRIC_HIGHER && fabs(a.margin - .1) < 1e-12,
	    "-10%%: less is worse");
	tap_ok(policy_parse_margin("+100%", &a) == 0 &&
		a.better == METRIC_LOWER && fabs(a.margin - .5) < 1e-12,
	    "+100%%: twice as much");
}

static void
days(void)
{
	char buf[CLOCK_ISO];

	tap_ok(clock_today(buf, "0") == 0, "0 is a day");
	tap_str(buf, "1970-01-01", "the first day");
	tap_ok(clock_today(buf, "1709251199") == 0, "seconds of a later day");
	tap_str(buf, "2024-02-29", "a leap day");
	tap_ok(clock_today(buf, NULL) == 0 && clock_today(buf, "") == 0,
	    "without a number the day is today");
	tap_ok(clock_today(buf, "x") < 0 && clock_today(buf, "-1") < 0 &&
		clock_today(buf, "999999999999") < 0,
	    "a word, a negative number and the year 33658 are refused");
}

int
main(void)
{
	answers();
	signs();
	waivers();
	margins();
	days();
	return tap_done();
}
