#include "report.h"
#include "casename.h"
#include "json.h"
#include "num.h"
#include "str.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>

#define LONG 100 /* rows; of more, the equivalent ones are left out */

static const char *
colour_of(const struct row *r)
{
	switch (r->verdict) {
	case VERDICT_REGRESSION:
		return r->gate ? "31" : NULL;
	case VERDICT_IMPROVEMENT:
		return r->gate ? "32" : NULL;
	case VERDICT_INCONCLUSIVE:
	case VERDICT_INSUFFICIENT:
		return "33";
	default:
		return NULL;
	}
}

static void
number(struct table *t, double v)
{
	char buf[NUM_BUF];

	table_cell(t, num_human(buf, v));
}

static void
row(struct table *t, const struct row *r, const struct casename *names)
{
	char *name = casename_of(names, r->pair->side[0]->config);
	struct str s = {0};

	table_cell(t, name);
	free(name);
	table_cell(t, r->name);
	str_printf(&s, "%zu+%zu", r->facts.m, r->facts.n);
	table_cell(t, s.s);
	number(t, r->facts.median[0]);
	number(t, r->facts.median[1]);
	str_clear(&s);
	report_change(&s, r);
	table_cell(t, s.s);
	table_style(t, colour_of(r));
	str_clear(&s);
	report_verdict(&s, r);
	if (!r->gate)
		str_add(&s, " (info)");
	table_cell(t, s.s);
	table_style(t, colour_of(r));
	str_clear(&s);
	str_add(&s, "");
	report_notes(&s, r);
	table_cell(t, s.s);
	str_free(&s);
}

static void
warning(void *arg, const char *text)
{
	struct str *s = arg;

	str_add(s, "warning: ");
	str_visible(s, text);
	str_addc(s, '\n');
}

static void
one(struct str *s, const struct comparison *c, const struct rules *r,
    bool colour)
{
	struct casename *names = report_names(c);
	const struct row **rows = report_order(c);
	struct table *t = table_new();
	size_t left_out = 0;
	char *common = casename_common(names);

	str_visible(s, c->name[1]);
	str_add(s, " against ");
	str_visible(s, c->name[0]);
	str_add(s, ": ");
	report_counts(s, c);
	str_addc(s, '\n');
	table_column(t, "case", TABLE_LEFT);
	table_column(t, "metric", TABLE_LEFT);
	table_column(t, "runs", TABLE_RIGHT);
	table_column(t, "baseline", TABLE_RIGHT);
	table_column(t, "contender", TABLE_RIGHT);
	table_column(t, "change [95%]", TABLE_LEFT);
	table_column(t, "verdict", TABLE_LEFT);
	table_column(t, "", TABLE_LEFT);
	for (size_t i = 0; i < c->nrows; i++)
		if (c->nrows > LONG && rows[i]->verdict == VERDICT_EQUIVALENT)
			left_out++;
		else
			row(t, rows[i], names);
	table_print(t, s, colour);
	if (left_out)
		str_printf(
		    s, "(%zu equivalent rows: --format jsonl)\n", left_out);
	for (size_t i = 0; i < c->noverall; i++) {
		const struct overall *o = &c->overall[i];

		if (o->cases < 2)
			continue;
		str_add(s, "overall ");
		str_visible(s, o->name);
		str_printf(s, ": %.3fx", o->ratio);
		if (o->cases >= 3) /* two say next to nothing */
			str_printf(s, " [%.3f, %.3f]", o->lo, o->hi);
		str_printf(s, ", geometric mean of %zu cases\n", o->cases);
	}
	if (*common) {
		str_add(s, "all cases: ");
		str_visible(s, common);
		str_addc(s, '\n');
	}
	report_method(s, c, r);
	str_addc(s, '\n');
	report_warnings(c, names, warning, s);
	free(common);
	free(rows);
	table_free(t);
	casename_free(names);
}

void
report_text(struct str *s, const struct comparison *c, size_t n,
    const struct rules *r, bool colour)
{
	for (size_t i = 0; i < n; i++) {
		if (i)
			str_addc(s, '\n');
		one(s, &c[i], r, colour);
	}
}
