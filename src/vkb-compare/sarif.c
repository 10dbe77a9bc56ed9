#include "report.h"
#include "json.h"
#include "markup.h"
#include "opt.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>

/*
 * SARIF 2.1.0 (OASIS). A result that is not a failure has the level "none"
 * (3.27.10); one that needs more data has the kind "open".
 */
static const struct {
	const char *kind, *text;
} sarif_rules[VERDICTS] = {
    [VERDICT_REGRESSION] = {"fail", "A judged metric became worse."},
    [VERDICT_IMPROVEMENT] = {"informational", "A metric became better."},
    [VERDICT_DIFFERENT] = {"review",
	"A metric changed of which neither more nor less is better."},
    [VERDICT_LIKELY_REGRESSION] = {"review",
	"A judged metric became worse by its own test, not among all."},
    [VERDICT_LIKELY_IMPROVEMENT] = {"informational",
	"A metric became better by its own test, not among all."},
    [VERDICT_LIKELY_DIFFERENT] = {"review",
	"A metric changed by its own test, not among all."},
    [VERDICT_EQUIVALENT] = {"pass",
	"No change: the 90 % interval lies within the margin."},
    [VERDICT_INCONCLUSIVE] = {"open", "The runs do not decide it."},
    [VERDICT_INSUFFICIENT] = {"open", "There are too few runs."},
};

static void
set_visible(struct json *j, const char *key, const char *text)
{
	struct str s = {0};

	str_add(&s, "");
	str_visible(&s, text);
	json_set_str(j, key, s.s);
	str_free(&s);
}

static struct json *
make_message(const char *text)
{
	struct json *j = json_object();

	json_set_str(j, "text", text);
	return j;
}

static struct json *
make_escaped_message(const char *text)
{
	struct str plain = {0};
	struct json *j;

	markup_sarif(&plain, text);
	j = make_message(plain.s);
	str_free(&plain);
	return j;
}

/* Returns an array of one value, which it takes. */
static struct json *
make_list(struct json *one)
{
	struct json *list = json_array();

	json_push(list, one);
	return list;
}

static struct json *
make_driver(void)
{
	struct json *d = json_object(), *list = json_array();

	json_set_str(d, "name", "vkb-compare");
	json_set_str(d, "version", opt_version());
	for (size_t i = 0; i < VERDICTS; i++) {
		struct json *j = json_object(), *level = json_object();
		const char *kind = sarif_rules[i].kind;

		json_set_str(j, "id", verdict_name((enum verdict)i));
		json_set(
		    j, "shortDescription", make_message(sarif_rules[i].text));
		json_set_str(
		    level, "level", i == VERDICT_REGRESSION ? "error" : "none");
		json_set(j, "defaultConfiguration", level);
		json_set(j, "properties", json_object());
		json_set_str(json_get(j, "properties"), "kind", kind);
		json_push(list, j);
	}
	json_set(d, "rules", list);
	return d;
}

/* A case has a logical location, its name, and none in a file. */
static struct json *
make_locations(const char *name, const char *metric)
{
	struct json *place = json_object(), *j = json_object();
	struct str full = {0};

	str_printf(&full, "%s/%s", name, metric);
	set_visible(j, "name", metric);
	set_visible(j, "fullyQualifiedName", full.s);
	json_set_str(j, "kind", "member");
	json_set(place, "logicalLocations", make_list(j));
	str_free(&full);
	return make_list(place);
}

static struct json *
make_suppressions(const struct row *r)
{
	struct json *j = json_object();

	json_set_str(j, "kind", "external");
	set_visible(j, "justification", r->waiver.reason);
	return make_list(j);
}

static struct json *
make_properties(const struct comparison *c, const struct row *r)
{
	const struct verdict_facts *f = &r->facts;
	struct json *j = json_object();

	set_visible(j, "baseline", c->name[0]);
	set_visible(j, "contender", c->name[1]);
	set_visible(j, "metric", r->name);
	json_set_str(j, "class", r->gate ? "gate" : "info");
	json_set_num(j, "baseline_median", f->median[0]);
	json_set_num(j, "contender_median", f->median[1]);
	json_set_num(j, "ratio", f->ratio);
	json_set_num(j, "ci95_low", f->lo95);
	json_set_num(j, "ci95_high", f->hi95);
	json_set_num(j, "probability", r->facts.p);
	json_set_num(j, "margin", r->margin);
	return j;
}

static struct json *
make_result(const struct report *report, const struct comparison *c,
    const struct row *r)
{
	const char *name = r->pair->name[0];
	const char *kind = sarif_rules[r->verdict].kind;
	struct json *j = json_object(), *print = json_object();
	struct str text = {0};
	bool bad = report_row_fails(report, r);
	bool worse = r->verdict == VERDICT_REGRESSION;

	str_printf(&text, "%s: %s: ", name, r->name);
	report_sentence(&text, r);
	json_set_str(j, "ruleId", verdict_name(r->verdict));
	json_set_num(j, "ruleIndex", (double)r->verdict);
	json_set_str(j, "kind", bad ? "fail" : kind);
	json_set_str(j, "level", bad ? "error" : worse ? "note" : "none");
	json_set(j, "message", make_escaped_message(text.s));
	json_set(j, "locations", make_locations(name, r->name));
	if (r->waived)
		json_set(j, "suppressions", make_suppressions(r));
	str_clear(&text);
	str_printf(&text, "%s/%s", name, r->name);
	set_visible(print, "caseMetric/v1", text.s);
	json_set(j, "partialFingerprints", print);
	json_set(j, "properties", make_properties(c, r));
	str_free(&text);
	return j;
}

/* The warnings: cases that were not compared, and notes on the data. */
static struct json *
make_invocations(const struct report *report, size_t which)
{
	static const char *const levels[] = {
	    [REPORT_FAILED] = "error",
	    [REPORT_UNMATCHED] = "warning",
	    [REPORT_ENV] = "warning",
	    [REPORT_NOTE] = "note",
	};
	const struct warnings *w = &report->warnings[which];
	struct json *j = json_object(), *list = json_array();
	bool fine =
	    !(report->fails_missing && report_count_missing(&report->c[which]));

	for (size_t i = 0; i < w->n; i++) {
		struct json *one = json_object();

		json_set_str(one, "level", levels[w->v[i].kind]);
		json_set(one, "message", make_escaped_message(w->v[i].text));
		json_push(list, one);
		fine = fine && w->v[i].kind != REPORT_FAILED;
	}
	json_set_bool(j, "executionSuccessful", fine);
	json_set(j, "toolExecutionNotifications", list);
	return make_list(j);
}

void
report_sarif(struct str *s, const struct report *r)
{
	struct json *log = json_object(), *runs = json_array();

	json_set_str(
	    log, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
	json_set_str(log, "version", "2.1.0");
	for (size_t i = 0; i < r->n; i++) {
		const struct comparison *c = &r->c[i];
		struct json *run = json_object(), *tool = json_object();
		struct json *results = json_array(), *which = json_object();

		set_visible(which, "id", c->name[1]);
		json_set(run, "automationDetails", which);
		json_set(tool, "driver", make_driver());
		json_set(run, "tool", tool);
		json_set(run, "invocations", make_invocations(r, i));
		for (size_t k = 0; k < c->nrows; k++)
			json_push(results, make_result(r, c, &c->rows[k]));
		json_set(run, "results", results);
		json_push(runs, run);
	}
	json_set(log, "runs", runs);
	json_append(s, log);
	str_addc(s, '\n');
	json_free(log);
}
