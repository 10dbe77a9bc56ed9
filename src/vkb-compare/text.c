#include "report.h"
#include "brief.h"
#include "mem.h"
#include "num.h"
#include "str.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOGETHER 20 /* sentences about count and time of a case */

/* The columns that are left out on a narrow terminal, in this order. */
enum omitted { ALL, NO_NOTES, NO_RUNS, NO_REASON, NO_MEDIANS, NO_INTERVAL };

static const struct {
	const char *sign, *colour;
} verdict_looks[VERDICTS] = {
    [VERDICT_REGRESSION] = {"-", "31"},
    [VERDICT_IMPROVEMENT] = {"+", "32"},
    [VERDICT_DIFFERENT] = {"~", NULL},
    [VERDICT_LIKELY_REGRESSION] = {"?", "31"},
    [VERDICT_LIKELY_IMPROVEMENT] = {"?", "32"},
    [VERDICT_LIKELY_DIFFERENT] = {"?", NULL},
    [VERDICT_EQUIVALENT] = {"=", NULL},
    [VERDICT_INCONCLUSIVE] = {"?", "33"},
    [VERDICT_INSUFFICIENT] = {"?", "33"},
};

const char *
report_sign(const struct row *r)
{
	return verdict_looks[r->verdict].sign;
}

const char *
report_colour(const struct row *r)
{
	return report_is_judged(r) ? verdict_looks[r->verdict].colour : NULL;
}

static void
add_number_cell(struct table *t, double v)
{
	char buf[NUM_BUF];

	table_cell(t, num_human(buf, v));
}

static void
add_verdict_cell(struct table *t, const struct row *r, enum omitted narrow)
{
	struct str s = {0};

	if (narrow < NO_REASON)
		report_verdict(&s, r);
	else
		str_printf(&s, "%s%s", verdict_name(r->verdict),
		    r->waived ? ", waived" : "");
	if (!r->gate)
		str_add(&s, " (info)");
	table_take(t, str_take(&s));
	table_style(t, report_colour(r));
}

static void
add_text_row(
    struct table *t, const struct row *r, enum omitted narrow, bool spread)
{
	struct str s = {0};
	double v[2];

	report_values(r, v);
	table_cell(t, report_sign(r));
	table_style(t, report_colour(r));
	table_cell(t, r->pair->name[0]);
	table_cell(t, r->name);
	if (narrow < NO_RUNS)
		table_take(t, mem_printf("%zu+%zu", r->facts.m, r->facts.n));
	if (narrow < NO_MEDIANS) {
		add_number_cell(t, v[0]);
		add_number_cell(t, v[1]);
	}
	for (size_t side = 0; spread && side < 2; side++) {
		report_spread(&s, r, side);
		table_take(t, str_take(&s));
	}
	report_change(&s, r);
	if (narrow >= NO_INTERVAL && strchr(s.s, '['))
		strchr(s.s, '[')[-1] = '\0';
	table_take(t, str_take(&s));
	table_style(t, report_colour(r));
	add_verdict_cell(t, r, narrow);
	if (narrow < NO_NOTES) {
		report_notes(&s, r);
		table_take(t, str_take(&s));
	}
}

static struct table *
make_table(const struct comparison *c, const struct row **rows,
    enum omitted narrow, bool spread)
{
	struct table *t = table_new();

	table_titles(t, "|case|metric");
	if (narrow < NO_RUNS)
		table_titles(t, ">runs");
	if (narrow < NO_MEDIANS)
		table_titles(t, ">baseline|>contender");
	if (spread)
		table_titles(t, "baseline mean|contender mean");
	table_titles(t,
	    narrow < NO_INTERVAL ? "change [95%]|verdict" : "change|verdict");
	if (narrow < NO_NOTES)
		table_titles(t, "");
	for (size_t i = 0; i < c->nrows; i++)
		add_text_row(t, rows[i], narrow, spread);
	return t;
}

/* Leaves out columns until the table fits the terminal. */
static void
write_text_rows(
    struct str *s, const struct comparison *c, const struct report *r)
{
	const struct row **order = report_order(c);
	enum omitted narrow = ALL;
	struct table *t = make_table(c, order, narrow, r->spread);

	while (
	    r->width && table_columns(t) > r->width && narrow < NO_INTERVAL) {
		table_free(t);
		t = make_table(c, order, ++narrow, r->spread);
	}
	table_print(t, s, r->colour);
	table_free(t);
	if (narrow)
		str_printf(s, "(some columns left out: the terminal has %zu)\n",
		    r->width);
	free(order);
}

static void
write_text_shift(struct str *s, const struct shift *p)
{
	struct table *t = table_new();
	struct str cell = {0};
	double by;
	const char *unit = shift_unit(p, &by);

	table_titles(t, ">percentile|>baseline|>contender|change [95%]");
	for (size_t i = 0; i < p->n; i++) {
		const struct shift_line *l = &p->v[i];

		table_take(t, mem_printf("%g", l->percentile));
		add_number_cell(t, l->value[0] / by);
		add_number_cell(t, l->value[1] / by);
		report_ratio(&cell, l);
		table_take(t, str_take(&cell));
	}
	str_add(s, "\nshift of ");
	str_visible(s, p->pair->name[0]);
	str_add(s, ", ");
	str_visible(s, p->hist);
	str_printf(s, "%s%s:\n", *unit ? " in " : "", unit);
	table_print(t, s, false);
	report_distance(s, p);
	str_addc(s, '\n');
	table_free(t);
}

/* Starts each line with a fixed word: a name at the start could be a command to
 * a CI system that reads the log. */
static void
write_text_head(struct str *s, const struct comparison *c, bool colour)
{
	enum verdict v = report_outcome(c);
	struct str t = {0};

	if (colour && v < VERDICTS && verdict_looks[v].colour)
		str_printf(s, "\033[1;%sm", verdict_looks[v].colour);
	report_headline(&t, c);
	str_visible(s, t.s);
	if (colour)
		str_add(s, "\033[0m");
	str_add(s, "\nof ");
	str_visible(s, c->name[1]);
	str_add(s, " against ");
	str_visible(s, c->name[0]);
	str_add(s, ": ");
	report_counts(s, c);
	str_addc(s, '\n');
	report_judged(s, c);
	if (c->noverall)
		str_addc(s, '\n');
	str_free(&t);
}

/* Writes for each case the sentence about its count and its time, unless the
 * headline has the only one. */
static void
write_together(struct str *s, const struct comparison *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->npairs; i++)
		n += c->pairs[i].together != NULL;
	if (n < 2)
		return;
	str_add(s, "work and time:\n");
	n = 0;
	for (size_t i = 0; i < c->npairs; i++) {
		if (!c->pairs[i].together || n++ >= TOGETHER)
			continue;
		str_add(s, "- ");
		str_visible(s, c->pairs[i].together);
		str_addc(s, '\n');
	}
	if (n > TOGETHER)
		str_printf(s, "- (%zu more: --format jsonl)\n", n - TOGETHER);
}

static void
write_text_comparison(struct str *s, const struct report *r, size_t which)
{
	const struct comparison *c = &r->c[which];
	const struct warnings *w = &r->warnings[which];
	struct str method = {0};

	write_text_head(s, c, r->colour);
	write_together(s, c);
	write_text_rows(s, c, r);
	for (size_t i = 0; i < c->noverall; i++)
		if (report_overall(
			s, &c->overall[i], "overall", "\n  over their runs:"))
			str_addc(s, '\n');
	if (*c->common) {
		str_add(s, "all cases: ");
		str_visible(s, c->common);
		str_addc(s, '\n');
	}
	report_method(&method, c, r->rules);
	str_visible(s, method.s);
	str_addc(s, '\n');
	for (size_t i = 0; i < w->n; i++) {
		str_add(s, "warning: ");
		str_visible(s, w->v[i].text);
		str_addc(s, '\n');
	}
	str_free(&method);
}

/* Writes the report of a comparison: short, or with a row for each metric. */
static void
write_either(struct str *s, const struct report *r, size_t which)
{
	(r->verbose || r->spread ? write_text_comparison : brief_write)(
	    s, r, which);
	for (size_t i = 0; r->shift && i < r->shifts[which].n; i++)
		write_text_shift(s, &r->shifts[which].v[i]);
}

/* Writes a line for each of several contenders. */
static void
write_text_overview(struct str *s, const struct report *r)
{
	struct table *t = table_new();

	table_titles(t, "|contender|baseline|rows");
	for (size_t i = 0; i < r->n; i++) {
		const struct comparison *c = &r->c[i];
		enum verdict v = report_outcome(c);
		struct str counts = {0};

		table_cell(t, v < VERDICTS ? verdict_looks[v].sign : " ");
		table_style(t, v < VERDICTS ? verdict_looks[v].colour : NULL);
		table_cell(t, c->name[1]);
		table_cell(t, c->name[0]);
		report_counts(&counts, c);
		table_take(t, str_take(&counts));
	}
	table_print(t, s, r->colour);
	str_addc(s, '\n');
	table_free(t);
}

void
report_text(struct str *s, const struct report *r)
{
	if (r->n > 1 && !r->explain)
		write_text_overview(s, r);
	for (size_t i = 0; i < r->n; i++) {
		if (i)
			str_addc(s, '\n');
		(r->explain ? explain_case : write_either)(s, r, i);
	}
}
