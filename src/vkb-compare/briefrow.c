#include "briefrow.h"
#include "changetext.h"
#include "markup.h"
#include "metric.h"
#include "num.h"
#include "report.h"
#include "str.h"
#include "table.h"
#include "together.h"

#include <math.h>
#include <string.h>

static const struct row *
find_row(const struct brief_case *b, const char *name)
{
	for (size_t i = 0; i < b->n; i++)
		if (strcmp(b->rows[i].name, name) == 0 && b->rows[i].gate)
			return &b->rows[i];
	return NULL;
}

const struct row *
brief_choose_row(const struct brief_case *b, enum column column)
{
	static const char *const names[OPTIONAL] = {[P50] = "p50_latency_ms",
	    [P99] = "p99_latency_ms",
	    [WORK] = "instructions_per_req"};
	const struct row *r;

	if (!names[column])
		return b->first;
	r = find_row(b, names[column]);
	return r == b->first ? NULL : r;
}

static void
write_change(struct str *s, const struct row *r)
{
	struct changetext t = report_changetext(r);

	changetext_percent(s, &t);
}

static void
write_words(struct str *s, const struct row *r)
{
	struct changetext t = report_changetext(r);

	changetext_words(s, &t);
}

/* Is the row claimed by its change relative to the other cases? */
static bool
is_claimed_by_rest(const struct row *r)
{
	return r->verdict < VERDICT_LIKELY_REGRESSION && report_is_by_rest(r);
}

/* Writes what a column says of a row; 'words': with words. What is claimed
 * relative to the other cases is shown so, as a line below the row says. */
static void
write_cell(struct str *s, struct layout *l, const struct row *r, bool words)
{
	struct changetext t = report_changetext(r);

	if (!words && is_claimed_by_rest(r)) {
		t.ratio = r->rest.ratio;
		changetext_percent(s, &t);
		return;
	}
	l->legend |= changetext_cell(s, &t, r->verdict, r->noise, words);
}

/* Writes "17.7K -> 21.9K". */
static void
write_pair(struct str *s, const struct row *r)
{
	char a[NUM_BUF], b[NUM_BUF];
	double v[2];

	report_values(r, v);
	str_printf(s, "%s -> %s", num_human(a, v[0]), num_human(b, v[1]));
}

static void
write_values(struct str *s, const struct layout *l, const struct row *r)
{
	if (r->common) /* relative to the baseline */
		return;
	write_pair(s, r);
	if (!l->title && *r->metric.unit)
		str_printf(s, " %s", r->metric.unit);
}

/* Does a column of the table show the row? */
static bool
is_in_column(
    const struct layout *l, const struct brief_case *b, const struct row *r)
{
	if (r == b->first)
		return true;
	for (enum column i = P50; i < OPTIONAL; i++)
		if (l->has[i] && brief_choose_row(b, i) == r)
			return true;
	return false;
}

static const char *
describe_verdict(const struct row *r)
{
	struct brief_case one = {.worst = r};

	return brief_answer(&one);
}

void
brief_add_rest(
    struct str *s, const struct layout *l, const struct brief_case *b)
{
	const struct row *work = find_row(b, "instructions_per_req");

	for (size_t i = 0; i < b->n; i++) {
		const struct row *r = &b->rows[i];

		if (r->gate && is_claimed_by_rest(r)) {
			str_add(s, s->len ? "; " : "also ");
			brief_write_change(s, r);
			continue;
		}
		if (!r->gate || is_in_column(l, b, r) ||
		    (!r->waived && r != b->worst &&
			r->verdict >= VERDICT_EQUIVALENT))
			continue;
		/* A name at the start could be a command to a CI system. */
		str_add(s, s->len ? "; " : "also ");
		metric_write_label(s, r->name);
		str_addc(s, ' ');
		if (r->metric.exact) {
			write_pair(s, r);
			str_add(s, ", ");
		}
		(r->verdict < VERDICT_EQUIVALENT ? write_change
						 : report_change)(s, r);
		str_printf(s, " %s", describe_verdict(r));
		if (together_explain(r) && !together_is_work(r))
			str_printf(s, ", %s", together_explain(r));
	}
	if (l->narrow >= NO_FUNCTIONS && work && b->pair->functions)
		str_printf(s, "%sinstructions: %s", s->len ? "; " : "",
		    b->pair->functions);
	if (b->worst && b->worst->waived)
		str_printf(s, "%swaived until %s: %s", s->len ? "; " : "",
		    b->worst->waiver.expires, b->worst->waiver.reason);
}

static void
add_work_cell(struct str *s, struct layout *l, const struct brief_case *b)
{
	const struct row *r = brief_choose_row(b, WORK);
	const char *functions = b->pair->functions;

	if (r)
		write_cell(s, l, r, false);
	if (l->narrow >= NO_FUNCTIONS || !functions ||
	    !find_row(b, "instructions_per_req"))
		return;
	str_add(s, s->len ? ", " : "");
	str_addn(s, functions, strcspn(functions, ","));
}

/* Adds the first cells: the sign, or the answer with its mark, and the name. */
static void
add_head_cells(
    struct table *t, const struct layout *l, const struct brief_case *b)
{
	struct str s = {0};

	if (l->marks) {
		str_printf(&s, "%s ", b->worst ? report_mark(b->worst) : "");
		brief_write_answer(&s, b);
		table_take(t, str_take(&s));
	} else {
		table_cell(t, b->worst ? report_sign(b->worst) : " ");
		table_style(t, b->worst ? report_colour(b->worst) : NULL);
	}
	str_add(&s, "");
	markup_cut(&s, b->pair->name[0], l->name);
	table_take(t, str_take(&s));
}

void
brief_add_row(struct table *t, struct layout *l, const struct brief_case *b)
{
	struct str s = {0};

	add_head_cells(t, l, b);
	for (enum column i = 0; i < OPTIONAL; i++) {
		const struct row *r = brief_choose_row(b, i);

		if (!l->has[i])
			continue;
		if (i == VALUES)
			write_values(&s, l, r);
		else if (i == WORK)
			add_work_cell(&s, l, b);
		else if (r)
			write_cell(
			    &s, l, r, i == CHANGE && l->narrow < NO_WORDS);
		table_take(t, str_take(&s));
		if (r && (r == b->worst || brief_is_change(b)))
			table_style(t, report_colour(r));
	}
	if (l->rest) {
		str_add(&s, "");
		brief_add_rest(&s, l, b);
		table_cell(t, s.s + (str_starts(s.s, "also ") ? 5 : 0));
		str_free(&s);
	}
	if (l->marks)
		return;
	brief_write_answer(&s, b);
	table_take(t, str_take(&s));
	table_style(t, b->worst ? report_colour(b->worst) : NULL);
}

void
brief_write_change(struct str *s, const struct row *r)
{
	struct row rest = *r;

	if (report_is_by_rest(r))
		rest.facts = r->rest;
	if (report_is_exact(r) && r->facts.ratio > 0) {
		together_write_exact(s, r);
		if (together_explain(r) && !together_is_work(r))
			str_printf(s, ": %s", together_explain(r));
		return;
	}
	if (strcmp(metric_base(r->name), "rps") != 0) {
		metric_write_label(s, r->name);
		str_addc(s, ' ');
	}
	write_words(s, &rest);
	str_add(s, report_is_by_rest(r) ? " relative to the other cases" : "");
}
