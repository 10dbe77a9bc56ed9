#include "report.h"
#include "json.h"
#include "markup.h"
#include "record.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>

/*
 * JUnit XML, valid against both schemas in use (Ant's by Windy Road, and
 * Jenkins'). These require a host and a time of each suite, in a fixed order,
 * though those of the runs are not known here.
 */

enum kind { PASSED, FAILED, ERROR, SKIPPED };

struct suite {
	struct str cases;
	size_t n, count[SKIPPED + 1];
	double seconds;
};

/* Returns the seconds of the contender's runs of a case; 0: not known. */
static double
sum_seconds(const struct pairing *p)
{
	double one = p->side[1] ? cases_seconds(p->side[1]) : NAN;

	return isnan(one) ? 0 : one * cases_sum(p->side[1], "n");
}

static void
write_attribute(struct str *s, const char *name, const char *value)
{
	str_printf(s, " %s=\"", name);
	markup_xml(s, value);
	str_addc(s, '"');
}

/* 'type' and 'message' are not used with PASSED. */
static void
write_testcase(struct suite *t, const char *name, const char *what, double took,
    enum kind kind, const char *type, const char *message)
{
	static const char *const tags[] = {NULL, "failure", "error", "skipped"};
	struct str *s = &t->cases, full = {0};

	str_printf(&full, "%s %s", name, what);
	str_add(s, "    <testcase");
	write_attribute(s, "classname", name);
	write_attribute(s, "name", full.s);
	str_printf(s, " time=\"%.3f\"", took);
	t->n++;
	t->count[kind]++;
	t->seconds += took;
	if (kind == PASSED) {
		str_add(s, "/>\n");
	} else {
		str_printf(s, ">\n      <%s", tags[kind]);
		if (kind != SKIPPED)
			write_attribute(s, "type", type);
		write_attribute(s, "message", message);
		str_add(s, "/>\n    </testcase>\n");
	}
	str_free(&full);
}

static void
write_row_testcase(
    struct suite *t, const struct report *report, const struct row *r)
{
	const char *name = r->pair->name[0];
	bool open = r->verdict == VERDICT_INCONCLUSIVE ||
	    r->verdict == VERDICT_INSUFFICIENT || verdict_is_likely(r->verdict);
	struct str s = {0};
	enum kind kind = PASSED;

	if (report_row_fails(report, r))
		kind = FAILED;
	else if (open || r->waived)
		kind = SKIPPED;
	report_sentence(&s, r);
	write_testcase(t, name, r->name,
	    sum_seconds(r->pair) / (double)r->pair->rows, kind,
	    verdict_name(r->verdict), s.s);
	str_free(&s);
}

/* Writes the sides of a case that failed or have no partner. */
static void
write_lost_testcases(
    struct suite *t, const struct report *report, const struct pairing *p)
{
	for (size_t j = 0; j < 2; j++) {
		const struct kase *k = p->side[j];
		struct str s = {0};
		bool failed = k && cases_sum(k, "failed") > 0;
		enum kind kind = SKIPPED;

		if (!k || (!failed && p->side[!j]))
			continue;
		if (failed && j == 1)
			kind = ERROR;
		else if (!failed && j == 0 && report->fails_missing)
			kind = FAILED;
		report_lost_case(&s, p, j);
		write_testcase(t, p->name[j], j ? "(contender)" : "(baseline)",
		    p->rows ? 0 : sum_seconds(p), kind,
		    failed ? "failed" : "missing", s.s);
		str_free(&s);
	}
}

/* Writes the judged metrics that one side lacks. */
static void
write_one_sided_testcases(
    struct suite *t, const struct report *report, const struct comparison *c)
{
	for (size_t i = 0; i < c->one_sided_count; i++) {
		const struct one_sided_gate *l = &c->one_sided[i];
		bool fails =
		    l->side == 0 && !l->optional && report->fails_missing;
		struct str s = {0};

		report_one_sided(&s, l);
		write_testcase(t, "metrics", l->name, 0,
		    fails ? FAILED : SKIPPED, "missing", s.s);
		str_free(&s);
	}
}

/* A canary that changed is an error: the comparison is not valid. */
static void
write_canary_testcases(struct suite *t, const struct comparison *c)
{
	for (size_t i = 0; i < c->ncanaries; i++) {
		const struct canary *k = &c->canaries[i];
		struct str s = {0};

		str_add(&s, "canary");
		if (k->metric)
			str_printf(&s, " %s", k->metric);
		write_testcase(t, k->name, s.s, 0, k->ok ? PASSED : ERROR,
		    "canary",
		    k->metric ? verdict_name(k->verdict) : "it is missing");
		str_free(&s);
	}
}

static void
write_xml_line(struct str *s, const char *text)
{
	markup_xml(s, text);
	str_addc(s, '\n');
}

/* Returns the time of the contender, "2026-02-27T10:12:41", or that of the
 * epoch, as the schemas require one. */
static const char *
format_timestamp(const struct comparison *c, char buf[20])
{
	static const char like[] = "0000-00-00T00:00:00";
	const char *t = record_subject_time(c->subject[1]);
	size_t n = 0;

	for (; t && like[n]; n++)
		if (like[n] == '0' ? t[n] < '0' || t[n] > '9' : t[n] != like[n])
			break;
	for (size_t i = 0; i <= n; i++)
		buf[i] = i < n && t ? t[i] : '\0';
	return t && !like[n] ? buf : "1970-01-01T00:00:00";
}

static void
write_testsuite(struct str *s, const struct report *report, size_t i)
{
	const struct comparison *c = &report->c[i];
	const struct warnings *w = &c->warnings;
	struct suite t = {0};
	struct str title = {0};
	char buf[20];

	str_add(&t.cases, "");
	write_canary_testcases(&t, c);
	for (size_t k = 0; k < c->nrows; k++)
		if (c->rows[k].gate)
			write_row_testcase(&t, report, &c->rows[k]);
	for (size_t k = 0; k < c->npairs; k++)
		write_lost_testcases(&t, report, &c->pairs[k]);
	write_one_sided_testcases(&t, report, c);
	str_printf(&title, "%s against %s", c->name[1], c->name[0]);
	str_add(s, "  <testsuite");
	write_attribute(s, "name", title.s);
	str_printf(s,
	    " package=\"vkb-compare\" id=\"%zu\" hostname=\"localhost\" "
	    "timestamp=\"%s\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
	    "skipped=\"%zu\" time=\"%.3f\">\n    <properties>\n      <property",
	    i, format_timestamp(c, buf), t.n, t.count[FAILED], t.count[ERROR],
	    t.count[SKIPPED], t.seconds);
	str_add(s, " name=\"baseline\"");
	write_attribute(s, "value", c->name[0]);
	str_add(s, "/>\n      <property name=\"contender\"");
	write_attribute(s, "value", c->name[1]);
	str_add(s, "/>\n    </properties>\n");
	str_add(s, t.cases.s);
	str_add(s, "    <system-out>");
	str_clear(&title);
	report_headline(&title, c);
	write_xml_line(s, title.s);
	str_clear(&title);
	report_method(&title, c, report->rules);
	write_xml_line(s, title.s);
	for (size_t k = 0; k < w->n; k++)
		write_xml_line(s, w->v[k].text);
	str_add(s, "</system-out>\n    <system-err/>\n  </testsuite>\n");
	str_free(&title);
	str_free(&t.cases);
}

void
report_junit(struct str *s, const struct report *r)
{
	str_add(
	    s, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
	for (size_t i = 0; i < r->n; i++)
		write_testsuite(s, r, i);
	str_add(s, "</testsuites>\n");
}
